"""``confml data``: list, describe, fetch, audit and verify data sets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from confml.commands.completion import complete_dataset
from confml.commands.options import InOrder, json_option, named_or_table, say, table_options

if TYPE_CHECKING:
    from confml.data.cards import Card, CardFile
    from confml.data.dataset import DataSet
    from confml.data.files import FileState
    from confml.data.generators import Generator

DATA_MISSING = 3  # the exit code of data that are missing or wrong
_WORDS = {"found": "here", "missing": "to fetch", "wrong": "wrong"}


@click.group(cls=InOrder)
def data() -> None:
    """List, describe, fetch, audit and verify data sets.

    Files are looked for in the folders of CONFML_DATA, laid out as <set>/<file>, then in the cache
    (CONFML_CACHE, or the cache folder of the system), where fetch puts them.

    \b
    confml data list                 all data sets, and which files are present
    confml data fetch usps           get the files of a set
    confml data check loans.csv --label default
    """


@data.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List the data sets and generators.

    Values of FILES: here (present), to fetch (can be downloaded), by hand (no address serves all files, see
    info), wrong (see verify), bundled (with scikit-learn or in the card).

    \b
    confml data list
    confml data list --json
    """
    from confml.data.cards import known_cards, read_card
    from confml.data.files import states
    from confml.data.generators import GENERATORS

    cards = [read_card(name) for name in known_cards()]
    rows = [_listed(card, states(card)) for card in cards]
    made = [{"name": name, "about": generator.about} for name, generator in GENERATORS.items()]
    if as_json:
        click.echo(json.dumps({"datasets": rows, "generators": made}, indent=1))
        return
    heads = {"name": "NAME", "rows": "ROWS", "attributes": "ATTRIBUTES", "classes": "CLASSES"}
    _table(
        [*heads.values(), "FILES", "TITLE"],
        [[*(row[k] for k in heads), row["files"], row["title"]] for row in rows],
    )
    click.echo("\nsynthetic, as {generate: NAME, n: 250}:")
    _table(None, [[entry["name"], entry["about"]] for entry in made])


@data.command()
@click.argument("name", shell_complete=complete_dataset)
@json_option
def info(name: str, as_json: bool) -> None:
    """Describe a data set or generator.

    \b
    confml data info usps
    confml data info five-gaussians --json
    """
    from confml.data.cards import known_cards, read_card
    from confml.data.files import states
    from confml.data.generators import GENERATORS

    if name in GENERATORS and name not in known_cards():
        told = _generator_info(name, GENERATORS[name])
    else:
        card = read_card(name)
        told = _card_info(card, states(card))
    if as_json:
        click.echo(json.dumps(told, indent=1))
    else:
        _print_info(told)


@data.command()
@click.argument("names", nargs=-1, metavar="NAME...", shell_complete=complete_dataset)
@click.option("--all", "everything", is_flag=True, help="The files of every data set.")
def fetch(names: tuple[str, ...], everything: bool) -> None:
    """Fetch the missing files of data sets.

    Every file is checked by its SHA-256; a wrong one is not kept. Each file that cannot be fetched is
    reported on one line, and the exit code is then 3.

    \b
    confml data fetch usps satimage
    confml data fetch --all
    """
    from confml.data.cards import known_cards
    from confml.data.download import fetch_files

    if bool(names) == everything:
        raise click.UsageError("name the data sets to fetch, or say --all for every one of them")
    cards = _cards(names or known_cards())
    files = {(file.folder, file.name): file for card in cards for file in card.files}
    for card in cards:
        if not card.files and names:
            bundle = "scikit-learn" if card.reader.kind == "sklearn" else "confml"
            click.echo(f"{card.name} comes with {bundle}: nothing to fetch")
    failed = 0
    for result in fetch_files(files.values(), say=say):
        if result.path is not None:
            click.echo(f"{_place(result.file)}: {result.state}, {result.path}")
        else:
            failed += 1
            say(f"{_place(result.file)}: {result.problem}")
    if failed:
        say(f"{failed} of {len(files)} {'file' if len(files) == 1 else 'files'} could not be fetched")
        raise click.exceptions.Exit(DATA_MISSING)


@data.command()
@click.argument("dataset", metavar="FILE|CARD", shell_complete=complete_dataset)
@table_options
@click.option("--test", metavar="FILE", help="A table file with the test rows.")
@click.option(
    "--labels",
    type=click.IntRange(1),
    is_flag=False,
    flag_value=20,
    metavar="N",
    help="List the N rows with the most evidence against their label.  [default: 20]",
)
@json_option
def check(dataset: str, as_json: bool, labels: int | None, **options: Any) -> None:
    """Audit a data set for mistakes that make results look better or worse than they are.

    FILE is a table file (CSV, .parquet, .xlsx) with --label, CARD a name of `confml data list`.

    The audit finds duplicate and contradictory rows, test rows among the training rows, a file that holds
    every row several times, labels that look alike, rare classes, dates, categories with many values,
    identifiers, features that determine the label, constant and duplicate features, and features of very
    different ranges. Each finding says what to do.

    With --test, or the provider's test part, the features of the test rows are tested against those of the
    training rows, each alone and all together by a classifier that tells them apart.

    --labels ranks rows by the probability that classifiers fitted to other rows give to their label. The
    first ones are the likeliest label errors; whether a label is wrong is for a person to decide.

    \b
    confml data check loans.csv --label default
    confml data check optdigits --json
    confml data check loans.csv --label default --labels 50
    """
    from confml.data import load
    from confml.data.audit import audit
    from confml.data.audit_columns import column_findings

    loaded = load(named_or_table(dataset, options))
    findings = [*audit(loaded), *column_findings(loaded)]
    notes = [note for note in loaded.notes if not any(note.startswith(one.sentence) for one in findings)]
    shift = _shift_of(loaded)
    suspects = [] if labels is None else _suspects(loaded, labels)
    if as_json:
        told = {
            "name": loaded.name,
            "rows": len(loaded),
            "test_rows": None if loaded.test_rows is None else len(loaded.test_rows),
            "features": list(loaded.table_attributes),
            "categorical": [
                name
                for name, is_nominal in zip(loaded.table_attributes, loaded.nominal, strict=True)
                if is_nominal
            ],
            "ids": list(loaded.id_columns),
            "classes": {str(label): count for label, count in loaded.class_counts().items()},
            "notes": notes,
            "findings": [finding.as_dict() for finding in findings],
            "shift": shift,
            **({} if labels is None else {"labels": suspects}),
        }
        click.echo(json.dumps(told, indent=1, ensure_ascii=False))
        return
    features, classes = len(loaded.table_attributes), loaded.class_counts()
    nominal = f", {int(loaded.nominal.sum())} of them categorical" if loaded.nominal.any() else ""
    click.echo(f"{loaded.name}: {len(loaded)} rows, {features} features{nominal}, {len(classes)} classes")
    shown = [f"{label}: {count}" for label, count in list(classes.items())[:20]]
    click.echo(f"classes: {', '.join(shown)}{', ...' if len(classes) > 20 else ''}")
    for note in notes:
        click.echo(f"note: {' '.join(note.split())}")
    for finding in findings:
        click.echo(f"{finding.code}: {finding.sentence}; {finding.remedy}")
    for sentence in shift:
        click.echo(sentence.replace("new rows", "test rows"))
    click.echo(f"{len(findings) or 'no'} finding{'' if len(findings) == 1 else 's'}")
    if labels is not None:
        _print_suspects(suspects)


@data.command()
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=complete_dataset)
@click.option(
    "--load", is_flag=True, help="Read each data set too, and count its rows, features and classes."
)
@json_option
def verify(names: tuple[str, ...], load: bool, as_json: bool) -> None:
    """Read files again and compare their SHA-256.

    Without a name every data set is verified as far as its files are here. The exit code is 3 where a file
    is wrong, or one of a named data set is missing.

    \b
    confml data verify usps --load
    confml data verify --json
    """
    from confml.data import files
    from confml.data.cards import known_cards

    cards = _cards(names or known_cards())
    found = files.verify(cards)
    told: dict[str, dict[str, Any]] = {}
    wrong = missing = 0
    for card in cards:
        states = found[card.name]
        bad = sum(state.state == "wrong" for state in states)
        gone = sum(state.state == "missing" for state in states)
        wrong, missing = wrong + bad, missing + gone
        told[card.name] = {"files": [state.as_dict() for state in states]}
        if load and not bad and not gone:
            told[card.name]["problem"] = _problem_of_loading(card)
            wrong += told[card.name]["problem"] is not None
    if as_json:
        click.echo(json.dumps(told, indent=1))
    else:
        _print_verified(told, named=bool(names))
    if wrong or (missing and names):
        say(f"{wrong} wrong, {missing} missing")
        raise click.exceptions.Exit(DATA_MISSING)


def _shift_of(loaded: DataSet) -> list[str]:
    """Return sentences on the tests of the test rows against the training rows; none without test rows."""
    from confml.predictions.two_samples import two_samples

    if loaded.train_rows is None or loaded.test_rows is None or loaded.groups is not None:
        return []
    old, new = loaded.table[loaded.train_rows], loaded.table[loaded.test_rows]
    found = two_samples(old, new, loaded.table_attributes, loaded.nominal)
    return [] if found is None else found.sentences()


def _suspects(loaded: DataSet, most: int) -> list[dict[str, Any]]:
    """Return the rows whose label is less probable than another class, the least probable first."""
    from confml.data.label_errors import label_evidence

    found = label_evidence(loaded)
    lines = range(1, len(loaded) + 1) if loaded.lines is None else loaded.lines.tolist()
    tests = set() if loaded.test_rows is None else set(loaded.test_rows.tolist())
    ids = loaded.identifiers()
    rows = zip(*(column[found.suspect][:most].tolist() for column in found), strict=True)
    return [
        {
            "line": lines[row],
            **({"part": "test" if row in tests else "train"} if tests else {}),
            **{name: str(texts[row]) for name, texts in ids.items()},
            "label": loaded.y[row].item(),
            "p_label": round(p_label, 4),
            "likelier": likelier,
            "p_likelier": round(p_likelier, 4),
        }
        for row, p_label, likelier, p_likelier in rows
    ]


# ---- descriptions


def _cards(names) -> list[Card]:
    from confml.data.cards import known_cards, read_card
    from confml.data.generators import GENERATORS
    from confml.errors import ConfigError

    for name in names:
        if name in GENERATORS and name not in known_cards():
            raise ConfigError(f"'{name}' is a generator of synthetic data, it has no files")
    return [read_card(name) for name in dict.fromkeys(names)]


def _listed(card: Card, states: list[FileState]) -> dict[str, Any]:
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


def _card_info(card: Card, states: list[FileState]) -> dict[str, Any]:
    return {
        **_listed(card, states),
        "class_rows": dict(card.expect.classes),
        "columns": card.expect.columns,
        **{key: getattr(card, key) for key in ("about", "provider", "licence", "citation", "page")},
        "paper": None if card.paper is None else card.paper.model_dump(mode="json"),
        "notes": list(card.notes),
        "card": str(card.path),
        "files": [{**_file_info(state.file), **state.as_dict()} for state in states],
    }


def _file_info(file: CardFile) -> dict[str, Any]:
    keys = ("part", "bytes", "sha256", "content_sha256", "address", "unpack", "member", "manual")
    return {key: getattr(file, key) for key in keys if getattr(file, key) is not None}


def _generator_info(name: str, generator: Generator) -> dict[str, Any]:
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


def _problem_of_loading(card: Card) -> str | None:
    from confml.data.from_card import dataset_from_card
    from confml.errors import DataError

    try:
        dataset_from_card(card)
    except DataError as error:
        return str(error)
    return None


# ---- printing


def _print_suspects(suspects: list[dict[str, Any]]) -> None:
    if not suspects:
        click.echo("labels: every label is the likeliest class of its row")
        return
    click.echo("labels, the most doubtful first (probabilities from classifiers fitted to other rows):")
    heads = [name.upper().replace("_", " ") for name in suspects[0]]
    _table(heads, [list(one.values()) for one in suspects])


def _print_info(told: dict[str, Any]) -> None:
    click.echo(f"{told['name']}: {told['title']}")
    click.echo(f"\n{told['about'].strip()}\n")
    if "parameters" in told:
        click.echo(f"classes       {', '.join(map(str, told['classes']))}")
        click.echo(f"Bayes error   {told['bayes_error']:.2%} with the parameters' defaults")
        for name, parameter in told["parameters"].items():
            words = f"{parameter['about']}; {parameter['expected']} (default {parameter['default']})"
            click.echo(f"  {name:<12}{words}")
        return
    parts = ""
    if told["train_rows"]:
        parts = f" ({told['train_rows']} to train on, {told['test_rows']} to test)"
    columns = told["columns"]
    coded = f" ({columns} columns when coded)" if columns and columns != told["attributes"] else ""
    classes = ", ".join(f"{label}: {rows}" for label, rows in told["class_rows"].items())
    for key, value in {
        "rows": f"{told['rows']}{parts}",
        "attributes": f"{told['attributes']}{coded}",
        "classes": f"{told['classes']} ({classes})",
        "provider": told["provider"],
        "licence": told["licence"],
        "citation": told["citation"].strip(),
        "page": told["page"],
        "variant of": told["base"],
        "card": told["card"],
    }.items():
        if value:
            click.echo(f"{key:<12}{value}")
    if told["paper"]:
        click.echo(f"{'as in':<12}{told['paper']['source']}")
        for change in told["paper"]["changed"]:
            click.echo(f"{'':<12}- {change}")
    for note in told["notes"]:
        click.echo(f"{'note':<12}{note.strip()}")
    for file in told["files"]:
        state = _WORDS[file["state"]] if "address" in file or file["state"] != "missing" else "by hand"
        click.echo(f"\n{file['file']}: {state}{', ' + file['path'] if file['path'] else ''}")
        for key in ("part", "bytes", "sha256", "content_sha256", "address", "unpack", "member", "manual"):
            if key in file:
                click.echo(f"  {key.replace('_', '-'):<16}{' '.join(str(file[key]).split())}")


def _print_verified(told: dict[str, Any], named: bool) -> None:
    seen = set()
    for name, card in told.items():
        for file in card["files"]:
            if file["file"] in seen and not named:
                continue  # variants share the files of their base
            seen.add(file["file"])
            if file["state"] == "found":
                click.echo(f"ok       {file['file']}  {file['path']}")
            elif file["state"] == "missing":
                click.echo(f"missing  {file['file']}")
            else:
                got = file["problem"] or f"expected SHA-256 {file['expected']}, got {file['got']}"
                click.echo(f"WRONG    {file['file']}  {file['path']}: {got}")
        if "problem" in card:
            problem = card["problem"]
            click.echo(f"loads    {name}" if problem is None else f"WRONG    {name}: {problem}")


def _table(heads: list[str] | None, rows: list[list[Any]]) -> None:
    """Return columns of text, numbers aligned to the right."""
    texts = [*([heads] if heads else []), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[j]) for row in texts) for j in range(len(texts[0]))]
    for row in texts:
        cells = []
        for j, text in enumerate(row):
            number = isinstance(rows[0][j], int)
            cells.append(text.rjust(widths[j]) if number else text.ljust(widths[j]))
        click.echo("  ".join(cells).rstrip())


def _place(file: CardFile) -> str:
    return f"{file.folder}/{file.name}"
