"""Descriptions of data sets and generators, for ``confml data``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from confml.terminal import echo

if TYPE_CHECKING:
    from confml.data.cards import Card
    from confml.data.files import FileState
    from confml.data.generators import Generator

_WORDS = {"found": "here", "missing": "to fetch", "wrong": "wrong"}
_FILE_KEYS = ("part", "bytes", "sha256", "content_sha256", "address", "unpack", "member", "manual")


def listed(card: Card, states: list[FileState]) -> dict[str, Any]:
    return {
        "name": card.name,
        "rows": card.expect.rows,
        "attributes": card.expect.attributes,
        "classes": len(card.expect.classes),
        "train_rows": card.expect.train_rows,
        "test_rows": card.expect.test_rows,
        "files": _files_state(states),
        "base": card.base,
        "title": card.title,
    }


def _files_state(states: list[FileState]) -> str:
    """Return one word for all files of a card."""
    if not states:
        return "bundled"
    if any(state.state == "wrong" for state in states):
        return "wrong"
    if all(state.state == "found" for state in states):
        return "here"
    by_hand = any(state.state == "missing" and state.file.address is None for state in states)
    return "by hand" if by_hand else "to fetch"


def card_info(card: Card, states: list[FileState]) -> dict[str, Any]:
    files = []
    for state in states:
        facts = {key: getattr(state.file, key) for key in _FILE_KEYS}
        facts = {key: value for key, value in facts.items() if value is not None}
        files.append({**facts, **state.as_dict()})
    return {
        **listed(card, states),
        "class_rows": dict(card.expect.classes),
        "columns": card.expect.columns,
        **{key: getattr(card, key) for key in ("about", "provider", "licence", "citation", "page")},
        "paper": None if card.paper is None else card.paper.model_dump(mode="json"),
        "notes": list(card.notes),
        "card": str(card.path),
        "files": files,
    }


def generator_info(name: str, generator: Generator) -> dict[str, Any]:
    from confml.data.generators import COMMON

    common = {"n": generator.default_n, "test_n": 0, "seed": 1}
    return {
        "name": name,
        "title": "synthetic data",
        "about": generator.about,
        "classes": list(generator.classes),
        "bayes_error": round(generator.bayes_error(**generator.defaults), 5),
        "parameters": {
            key.replace("_", "-"): {
                "about": parameter.about,
                "expected": parameter.expected(),
                "default": {**common, **generator.defaults}[key],
            }
            for key, parameter in {**COMMON, **generator.parameters}.items()
        },
    }


def print_info(report: dict[str, Any]) -> None:
    echo(f"{report['name']}: {report['title']}")
    echo(f"\n{report['about'].strip()}\n")
    if "parameters" in report:
        echo(f"classes       {', '.join(map(str, report['classes']))}")
        echo(f"Bayes error   {report['bayes_error']:.2%} with the parameters' defaults")
        for name, parameter in report["parameters"].items():
            text = f"{parameter['about']}; {parameter['expected']} (default {parameter['default']})"
            echo(f"  {name:<12}{text}")
        return
    parts = ""
    if report["train_rows"]:
        parts = f" ({report['train_rows']} to train on, {report['test_rows']} to test)"
    columns, paper = report["columns"], report["paper"] or {"source": None, "changed": ()}
    coded = f" ({columns} columns when coded)" if columns and columns != report["attributes"] else ""
    classes = ", ".join(f"{label}: {rows}" for label, rows in report["class_rows"].items())
    for key, value in (
        ("rows", f"{report['rows']}{parts}"),
        ("features", f"{report['attributes']}{coded}"),
        ("classes", f"{report['classes']} ({classes})"),
        *((key, report[key]) for key in ("provider", "licence", "citation", "page")),
        ("variant of", report["base"]),
        ("card", report["card"]),
        ("as in", paper["source"]),
        *(("", f"- {change}") for change in paper["changed"]),
        *(("note", note) for note in report["notes"]),
    ):
        if value:
            echo(f"{key:<12}{value.strip()}")
    for file in report["files"]:
        state = _WORDS[file["state"]] if "address" in file or file["state"] != "missing" else "by hand"
        echo(f"\n{file['file']}: {state}{', ' + file['path'] if file['path'] else ''}")
        for key in (key for key in _FILE_KEYS if key in file):
            echo(f"  {key.replace('_', '-'):<16}{' '.join(str(file[key]).split())}")


def print_table(heads: list[str], rows: list[list[Any]]) -> None:
    """Print columns of text, numbers aligned to the right."""
    from tabulate import tabulate

    sides = ["right" if isinstance(value, int) else "left" for value in rows[0]]
    echo(tabulate(rows, heads, "plain", disable_numparse=True, colalign=sides))
