"""Printed tables of a Bayes error study, which ``printed.yaml`` declares."""

import functools
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from typing import IO, Any

from confml.report.bayes_error.study import Study
from confml.report.bayes_error.tables import TABLES
from confml.report.console import print_table

Columns = Sequence[Mapping[str, str]]
"""Columns as ``{heading: form and keys of a row}``."""


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


def _percent(value: float) -> str:
    return "-" if math.isnan(value) else f"{100 * value:.2f}"


def _band(low: float, high: float) -> str:
    """Return a tie band, empty without ties."""
    ends = _number(low), _number(high)
    return "" if "-" in ends or ends[0] == ends[1] else "-".join(ends)


FORMS: Mapping[str, Callable[..., Any]] = {
    "text": lambda value: value,
    "number": _number,
    "percent": _percent,
    "range": lambda low, high: "-" if math.isnan(low) else f"{_number(low)}-{_number(high)}",
    "band": _band,
    "percent-band": lambda low, high: "" if low == high else f"{_percent(low)}-{_percent(high)}",
}
"""Functions of the values of a row that return the text of a column."""


def print_study(
    study: Study, *, every: bool = False, pairs: bool = True, stream: IO[str] | None = None
) -> None:
    """Print the results; long tables are cut, with a note, unless ``every`` is True."""
    stream = stream or sys.stdout
    words = {
        "name": study.name,
        "criterion": study.request.criterion,
        "intervals": f"{100 * (study.request.intervals or 0.0):g}",
    }
    for name, table in _printed().items():
        rows = TABLES[name](study)
        if not rows or (name == "pairs" and not pairs):
            continue
        most, *names = table.get("most", (None,))
        shown = rows if every else rows[:most]
        columns = [
            {heading.format(**words): form for heading, form in one.items()} for one in table["columns"]
        ]
        print_rows(table["title"].format(**words), shown, columns, right=table["right"], stream=stream)
        if left := len(rows) - len(shown):
            stream.write(f"... and {left} more {names[left > 1]} (--all prints them, --out writes them)\n\n")
    stream.writelines(f"{line}\n" for line in _endings(study))


@functools.cache
def _printed() -> dict[str, Any]:
    import yaml

    text = resources.files("confml.report.bayes_error").joinpath("printed.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)


def print_rows(
    title: str,
    rows: Sequence[dict],
    columns: Columns,
    *,
    right: int,
    keys: int | None = None,
    stream: IO[str],
) -> None:
    """Print a table of rows. right, keys: as in `print_table`."""
    parsed = [(heading, *form.split()) for one in columns for heading, form in one.items()]
    shown = [(heading, FORMS[form], own) for heading, form, *own in parsed if {*own} <= rows[0].keys()]
    cells = [[form(*(row[key] for key in own)) for _, form, own in shown] for row in rows]
    print_table([heading for heading, *_ in shown], cells, title=title, right=right, keys=keys, stream=stream)


def _endings(study: Study) -> Sequence[str]:
    lines = [
        "hold: share of simulated data sets whose bounds contained the Bayes error (two Gaussians, 2 and 10",
        "features, 1000 rows); it is smaller with more features",
        "share: estimate / smaller prior, from 0 (separated) to 1 (indistinguishable); tie band: lowest and",
        "highest share under other orders of equal distances (not a confidence interval; empty without",
        "ties); error %: estimate; lower, upper: bounds of the Bayes error (not a confidence interval)",
    ]
    if study.intervals is not None:
        lines.append(
            f"intervals: for the expected share, by leaving out each of {study.intervals.blocks} blocks; "
            "they do not include the bias"
        )
    if study.true_error is not None:
        lines.append(f"true Bayes error of {study.name}: {100 * study.true_error:.2f} %")
    return lines
