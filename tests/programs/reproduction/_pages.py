"""`write_pages`: the Markdown pages of all published numbers and claims, ``numbers.csv`` and the figures."""

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from programs.reproduction import _numbers
from programs.reproduction._drawings import draw_numbers, draw_outcomes
from programs.reproduction._keep import origin_text, provenance_text, read_provenance
from programs.reproduction._numbers import SOURCES, Number, Source, published_numbers, read_yaml
from programs.shared import markdown_table, read_csv

from confml.published import known_tables

VERDICTS = ("holds", "holds in part", "does not hold", "cannot be checked", "answered")
_MOST_REASONS = 4


def write_pages(folder: Path) -> None:
    """Write the pages, ``numbers.csv`` and ``figures/`` into ``results/reference``.

    ``README.md`` is the summary, ``counts.md`` has its counts, and ``<source>.md`` is the page of a source.
    """
    numbers = {source.key: list(published_numbers(source, folder)) for source in SOURCES}
    rows = [_number_row(number) for of_source in numbers.values() for number in of_source]
    table = pd.DataFrame(rows, dtype=object).rename(columns={"ours": "confml"})
    table.to_csv(folder / "numbers.csv", index=False)
    for source in SOURCES:
        for name in source.tables:
            of_table = [number for number in numbers[source.key] if number.table == name]
            draw_numbers(known_tables()[name], of_table, folder / "figures")
    shown = {source.title: results(numbers[source.key]) for source in SOURCES if source.tables}
    draw_outcomes(shown, folder / "figures" / "outcomes.svg")
    for name, text in pages(folder, numbers).items():
        (folder / name).write_text(text, encoding="utf-8")


def results(numbers: Sequence[Number]) -> list[Number]:
    """Return the numbers that the authors of a source computed, each once."""
    return [number for number in numbers if number.role == "result"]


def pages(folder: Path, numbers: Mapping[str, Sequence[Number]]) -> dict[str, str]:
    """Return the texts of the pages by their names.

    folder: ``results/reference`` with the stored tables and figures. numbers: those of each source by its
    key.
    """
    claims = {source.key: read_yaml(f"claims/{source.key}.yaml") for source in SOURCES}
    texts = _summary(numbers, claims, folder)
    for source in SOURCES:
        of_source = numbers[source.key]
        parts = [f"# {source.title}"]
        parts.append(f"{source.citation}. Computed by `{source.target}`.")
        parts.append("[Summary](README.md), [terms](counts.md#terms)")
        for table in source.tables:
            parts += _table(table, [number for number in of_source if number.table == table], folder)
            paths = [f"{part}/tables/{table}.csv" for part in source.folders]
            if links := [_link(path) for path in paths if (folder / path).is_file()]:
                parts.append(f"Stored tables, with all variants of confml: {', '.join(links)}.")
        parts += _reasons(of_source)
        parts += [note for key, note in read_yaml("notes.yaml").items() if key == source.key]
        parts.append(_claims(claims[source.key]))
        parts += [*_figures(source, folder), "## Runs", *_runs(source, folder)]
        texts[f"{source.key}.md"] = _joined(parts)
    return texts


# ---- the page of a source


def _table(name: str, numbers: Sequence[Number], folder: Path) -> Iterator[str]:
    published = known_tables()[name]
    yield f"## {published.title}"
    yield f"`{name}`, {published.unit}."
    keys = [text for key, text in published.keys.items() if key in published.rows()[0]]
    optional = {
        heading: text for heading, text in _OPTIONAL.items() if heading == "splits" or any(map(text, numbers))
    }
    headings = [*keys, "column", "paper", "confml", "± sd", *optional, "as printed", "difference", "outcome"]
    rows = []
    for number in numbers:
        first, *rest = number.keys
        column = published.columns.get(number.column, number.column)
        mean, sd, printed, difference = _compared(number)
        outcome = number.outcome + (f" ({number.role})" if number.role in ("quoted", "again") else "")
        if number.reason not in ("", "chance"):
            outcome += f": [{number.reason}](#{number.reason})"
        names = [_target(number.name) + first, *rest, column, number.paper]
        texts = [text(number) for text in optional.values()]
        rows.append([*names, mean, sd, *texts, printed, difference, outcome])
    yield markdown_table(headings, rows, left=headings.index("paper"))
    if (folder / "figures" / f"{name}.svg").is_file():
        yield f"![{published.title}](figures/{name}.svg)"


_OPTIONAL: dict[str, Callable[[Number], str]] = {
    "Monte Carlo error": lambda n: f"{statistics.stdev(n.others):.2f}" if len(n.others) > 1 else "",
    "splits": lambda n: str(n.splits or "") if n.outcome != "time, lower bound" else "",
    "authors' code": lambda n: "" if n.original is None else _mean_sd(*n.original, n.decimals),
    "paths": lambda n: "" if n.path is None else f"{n.path:.{max(n.decimals, 2)}f}",
    "grid": lambda n: "" if n.points is None else f"{n.points} of {n.grid}",
}
"""Columns of a table of numbers that only some tables have, and the number of splits."""


def _mean_sd(mean: float, sd: float, digits: int) -> str:
    return f"{mean:.{digits}f}" + ("" if math.isnan(sd) else f" ± {sd:.{digits}f}")


def _compared(number: Number) -> tuple[str, str, str, str]:
    """Return the mean and sd, the mean with the digits of the paper, and the difference."""
    if number.ours is None or number.outcome == "time, lower bound":
        return "" if number.ours is None else f"> {number.ours:g}", "", "", ""
    digits = 0 if number.decimals == 0 and number.ours.is_integer() else max(number.decimals, 2)
    sd = "" if number.sd is None else f"{number.sd:.{digits}f}"
    difference = f"{number.ours - float(number.paper):+.{digits}f}"
    return f"{number.ours:.{digits}f}", sd, f"{number.ours:.{number.decimals}f}", difference


def _reasons(numbers: Sequence[Number]) -> Iterator[str]:
    used = dict.fromkeys(number.reason for number in numbers if number.reason not in ("", "chance"))
    if used:
        texts = {code: " ".join(_numbers.REASONS["codes"][code]["text"].split()) for code in used}
        yield "## Reasons"
        yield "\n".join(f"- {_target(code)}**{code}**: {text}" for code, text in texts.items())


def _claims(claims: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for claim in claims:
        section, sentence, ours = (
            " ".join(str(claim[name]).split()) for name in ("section", "claim", "ours")
        )
        verdict = claim["verdict"] if claim.get("arithmetic") else f"**{claim['verdict']}**"
        rows.append([section, sentence, verdict, ours, ", ".join(map(_link, shown_by(claim)))])
    table = markdown_table(["section", "claim", "verdict", "confml", "shown by"], rows, left=5)
    return f"## Claims of the text\n\n{table}"


def shown_by(claim: Mapping[str, Any]) -> list[str]:
    """Return the files, tests, configs and commands that show a claim."""
    return claim["shown"] if isinstance(claim["shown"], list) else [claim["shown"]]


def _figures(source: Source, folder: Path) -> Iterator[str]:
    captions = read_yaml("captions.yaml")
    for part in dict.fromkeys((*source.folders, *source.figures)):
        for path in sorted((folder / part / "figures").glob("*.svg")):
            caption = captions[f"{part}/figures/{path.stem}"].strip()
            yield f"![{path.stem}]({part}/figures/{path.name})\n\n*{caption}*"


def _runs(source: Source, folder: Path) -> Iterator[str]:
    for part in source.folders:
        if content := read_provenance(folder / part):
            yield f"Stored in `{part}`: {provenance_text(content)}"


def _number_row(number: Number) -> dict[str, Any]:
    """Return the row of a number in ``numbers.csv``."""
    names = ("ours", "sd", "splits", "outcome", "reason", "folder", "role", "name")
    row = {"table": number.table, "row": ", ".join(number.keys), "column": number.column}
    row |= {"paper": number.paper, **{name: getattr(number, name) for name in names}}
    return {**row, "authors_code": number.original and number.original[0]}


# ---- the summary of all sources, and the counts and terms behind it


def _summary(
    numbers: Mapping[str, Sequence[Number]], claims: Mapping[str, Sequence[Mapping[str, Any]]], folder: Path
) -> dict[str, str]:
    texts = read_yaml("texts.yaml")
    parts = [texts["introduction"]]
    for source in SOURCES:
        parts.append(f"## [{source.title}]({source.key}.md)")
        image = f'<img align="right" width="190" alt="{source.title}" src="{source.figure}">'
        lines = "\n".join(_lines(source, numbers[source.key], claims[source.key], folder))
        parts += [f'<a href="{source.key}.md">{image}</a>', lines]
    parts += ["## Other tables", "\n".join(_others(folder))]
    example = next(number for number in numbers[SOURCES[0].key] if number.table == SOURCES[0].tables[-1])
    row = f"the row {', '.join(example.keys)} of {example.table}"
    parts.append(texts["cite"].format(name=example.name, page=f"{SOURCES[0].key}.md", row=row))
    counts = ["# Counts and terms", "[Summary](README.md)"]
    counts += ["![Results of four papers by outcome](figures/outcomes.svg)", *_counts(numbers, claims)]
    return {"README.md": _joined(parts), "counts.md": _joined([*counts, texts["terms"]])}


def _lines(source: Source, numbers: Sequence[Number], claims: Sequence, folder: Path) -> Iterator[str]:
    """Yield the lines of a source: what is reproduced, what is not, why, claims, and command and commit."""
    of_authors = results(numbers)
    if of_authors:
        counts = Counter(number.outcome for number in of_authors)
        parts = ", ".join(f"{counts[outcome]} {outcome}" for outcome in _numbers.REPRODUCED)
        rest = [number for number in of_authors if number.outcome not in _numbers.REPRODUCED]
        yield f"- **{len(of_authors) - len(rest)} of {len(of_authors)} results reproduced** ({parts})."
        yield f"- Others: {_listed(Counter(number.outcome.removeprefix('differs, ') for number in rest))}."
        reasons = Counter(number.reason for number in rest)
        most = reasons.most_common(_MOST_REASONS)
        named = [f"[{code}]({source.key}.md#{code}) {count}" for code, count in most]
        left = reasons.total() - sum(count for _, count in most)
        named += [f"[others]({source.key}.md#reasons) {left}"] if left else []
        yield f"- Reasons: {', '.join(named)}."
    verdicts = Counter(claim["verdict"] for claim in claims if not claim.get("arithmetic"))
    yield f"- {verdicts.total()} claims: {_listed(verdicts)}."
    recorded = [content for part in source.folders if (content := read_provenance(folder / part))]
    content = next((content for content in recorded if content["command"] == source.target), recorded[0])
    yield f"- `{content['command']}`: {origin_text(content)}."


def _others(folder: Path) -> Iterator[str]:
    """Yield a line for each stored table that belongs to no source."""
    rows = [row for row in read_csv(folder / "leaderboard" / "leaderboard.csv") if row["column"] == "error"]
    first = min(rows, key=lambda row: float(row["mean_rank"]))
    methods, sets = len({row["method"] for row in rows}), max(int(row["datasets"]) for row in rows)
    yield (
        f"- [Leaderboard](leaderboard/leaderboard.csv), last computed at commit 8f58c972: {methods} "
        f"methods on {sets} data sets. {first['method']} has the smallest mean rank by error, "
        f"{float(first['mean_rank']):.1f}. [Views of a posterior](confidences/views.csv)."
    )
    sets = len(read_csv(folder / "arena" / "datasets.csv"))
    yield f"- [Arena](arena/entries.csv), `make arena`: packages beside confml on {sets} data sets."
    verdicts = Counter(row["verdict"] for row in read_csv(folder / "validity" / "validity.csv"))
    yield (
        f"- [Validity](validity/validity.md), `make validity`: {verdicts.total()} simulated rates of "
        f"p-values, probabilities and certificates: {_listed(verdicts)}."
    )


def _counts(numbers: Mapping[str, Sequence[Number]], claims: Mapping[str, Sequence]) -> Iterator[str]:
    judged = [outcome for outcome in _numbers.OUTCOMES if not outcome.startswith("time")]
    rows: list[list] = []
    for role, name in (("result", ""), ("size", ": sizes of data sets"), ("quoted", ": quoted numbers")):
        for source in SOURCES:
            outcomes = [number.outcome for number in numbers[source.key] if number.role == role]
            if outcomes:
                rows.append([f"{source.title}{name}", len(outcomes), *map(outcomes.count, judged)])
    yield markdown_table(["results", "numbers", *judged], rows, left=1)
    times = [number for number in numbers["smartsvm"] if number.role == "time"]
    grids = [outcome for outcome in _numbers.OUTCOMES if outcome not in judged[:-1]]
    counts = [sum(number.outcome == outcome for number in times) for outcome in grids]
    row = ["SmartSVM", len(times), *counts, sum(number.splits == 1 for number in times)]
    yield markdown_table(["times", "numbers", *grids, "of one split"], [row], left=1)
    rows = []
    for source in SOURCES:
        verdicts = Counter(claim["verdict"] for claim in claims[source.key] if not claim.get("arithmetic"))
        arithmetic = len(claims[source.key]) - verdicts.total()
        rows.append([source.title, verdicts.total(), *map(verdicts.__getitem__, VERDICTS), arithmetic])
    yield markdown_table(["claims", "counted", *VERDICTS, "arithmetic"], rows, left=1)


def _joined(parts: Sequence[str]) -> str:
    """Return the parts of a page with an empty line between them."""
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common()) or "none"


def _target(name: str) -> str:
    """Return an anchor that other pages can link to."""
    return f'<a id="{name}"></a>'


def _link(shown: str) -> str:
    """Return a link to a file; a command, a test or a config is text."""
    return shown if shown.startswith(("make ", "tests/", "configs/")) else f"[{shown}]({shown})"
