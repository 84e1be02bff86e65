"""``confml data check``."""

from __future__ import annotations

import itertools
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from confml.commands.common import echo_json, json_option, named_or_table, table_options
from confml.commands.data_info import print_table
from confml.terminal import echo

if TYPE_CHECKING:
    from confml.data.dataset import DataSet


@click.command()
@click.argument("dataset", metavar="FILE|CARD")
@table_options
@click.option("--test", metavar="FILE", help="A table file with the test rows.")
@click.option(
    "--labels", type=click.IntRange(1), is_flag=False, flag_value=20, metavar="N",
    help="List the N rows with the most evidence against their label.  [default: 20]",
)  # fmt: skip
@json_option
def check(dataset: str, as_json: bool, labels: int | None, **options: Any) -> None:
    """Audit a data set for mistakes that make results look better or worse than they are.

    FILE is a table file (CSV, .parquet, .xlsx) with --label, CARD a name of `confml data list`.

    The audit finds duplicate and contradictory rows, and test rows among the training rows.
    It finds labels that look alike, rare classes, and features that determine the label. It also finds the
    columns that `confml init` leaves out (identifiers, dates, free text, constant and nearly empty columns),
    categories with many values, duplicate features, and features of very different ranges. Each finding says
    what to do.

    With --test, or the provider's test part, the features of test and training rows are compared: each
    feature by a test, and all of them together by a classifier that distinguishes the two parts.

    --labels ranks rows by the probability that classifiers fitted to other rows give to their label. The
    first ones are the likeliest label errors; whether a label is wrong is for a person to decide.

    \b
    confml data check loans.csv --label default
    confml data check optdigits --json
    confml data check loans.csv --label default --labels 50
    """
    from confml.data import load
    from confml.data.audit import audit
    from confml.data.csv_table import load_csv

    spec = named_or_table(dataset, options)
    if "csv" in spec:  # the notes count missing values
        spec = {"missing": "mean", **spec}
    coded = "csv" not in spec or labels is not None
    loaded = load(spec) if coded else load_csv(spec, coding="integer")
    findings = audit(loaded)
    notes = [note for note in loaded.notes if not any(note.startswith(fact.sentence) for fact in findings)]
    shift = _shift_of(loaded)
    suspects = [] if labels is None else _suspects(loaded, labels)
    if as_json:
        report = {
            "name": loaded.name,
            "rows": len(loaded),
            "test_rows": None if loaded.test_rows is None else len(loaded.test_rows),
            "features": list(loaded.table_attributes),
            "categorical": list(itertools.compress(loaded.table_attributes, loaded.nominal)),
            "ids": list(loaded.id_columns),
            "classes": {str(label): count for label, count in loaded.class_counts().items()},
            "notes": notes,
            "findings": [asdict(finding) for finding in findings],
            "shift": shift,
            **({} if labels is None else {"labels": suspects}),
        }
        echo_json(report)
        return
    features, classes = len(loaded.table_attributes), loaded.class_counts()
    nominal = f", {int(loaded.nominal.sum())} of them categorical" if loaded.nominal.any() else ""
    echo(f"{loaded.name}: {len(loaded)} rows, {features} features{nominal}, {len(classes)} classes")
    shown = [f"{label}: {count}" for label, count in list(classes.items())[:20]]
    echo(f"classes: {', '.join(shown)}{', ...' if len(classes) > 20 else ''}")
    for note in notes:
        echo(f"note: {' '.join(note.split())}")
    for finding in findings:
        echo(f"{finding.code}: {finding.sentence}; {finding.remedy}")
    for sentence in shift:
        echo(sentence.replace("new rows", "test rows"))
    echo(f"{len(findings) or 'no'} finding{'' if len(findings) == 1 else 's'}")
    if labels is not None:
        _print_suspects(suspects)


def _shift_of(loaded: DataSet) -> list[str]:
    """Return sentences on the tests of the test rows against the training rows; none without test rows."""
    from confml.predictions.two_samples import two_samples

    if loaded.train_rows is None or loaded.test_rows is None or loaded.groups is not None:
        return []
    old, new = loaded.table[loaded.train_rows], loaded.table[loaded.test_rows]
    tests = two_samples(old, new, loaded.table_attributes, loaded.nominal)
    return [] if tests is None else tests.sentences()


def _suspects(loaded: DataSet, most: int) -> list[dict[str, Any]]:
    """Return the rows whose label is less probable than another class, the least probable first."""
    from confml.data.label_errors import label_evidence

    evidence = label_evidence(loaded)
    lines = range(1, len(loaded) + 1) if loaded.lines is None else loaded.lines.tolist()
    tests = set() if loaded.test_rows is None else set(loaded.test_rows.tolist())
    ids = loaded.identifiers()
    rows = zip(*(column[evidence.suspect][:most].tolist() for column in evidence), strict=True)
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


def _print_suspects(suspects: list[dict[str, Any]]) -> None:
    if not suspects:
        echo("labels: every label is the likeliest class of its row")
        return
    echo("labels, the most doubtful first (probabilities from classifiers fitted to other rows):")
    heads = [name.upper().replace("_", " ") for name in suspects[0]]
    print_table(heads, [list(suspect.values()) for suspect in suspects])
