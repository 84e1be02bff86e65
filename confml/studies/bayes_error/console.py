"""Printed tables of a Bayes error study: pairs of classes, one-vs-rest, measures, selection, transforms."""

import math
import sys
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import IO, Any

from confml.report.console import print_table
from confml.studies.bayes_error.study import Study
from confml.studies.bayes_error.tables import (
    class_rows,
    measure_rows,
    noise_score_rows,
    overall_rows,
    pair_rows,
    selection_rows,
    transform_rows,
)

PAIRS, CLASSES = 20, 40
Columns = list[tuple[str, Callable[[dict], Any]]]
"""Headings of a printed table, and for each the text of a row."""


def print_study(
    study: Study, *, every: bool = False, pairs: bool = True, stream: IO[str] | None = None
) -> None:
    """Print the results; long tables are cut, with a note, unless ``every`` is True."""
    stream = stream or sys.stdout
    if pairs:
        columns = [*_texts("class=class_a and=class_b rows=rows_a rows=rows_b"), *_estimates(study)]
        if study.p_values is not None:
            columns.append(("p-value", lambda row: f"{row['p_value']:.3g}"))
        title = f"{study.name}: Bayes error of pairs of classes, hardest pair first"
        _print_cut(title, pair_rows(study), columns, 2, None if every else PAIRS, ("pair", "pairs"), stream)
    columns = [*_texts("class=class rows=rows"), *_estimates(study)]
    if study.test is not None:
        columns += [
            ("test confusion %", percent("test_confusion_rate")),
            ("class error %", percent("test_class_error")),
        ]
    title = f"{study.name}: one-vs-rest Bayes error, hardest class first"
    _print_cut(title, class_rows(study), columns, 1, None if every else CLASSES, ("class", "classes"), stream)
    print_rows(
        f"{study.name}: Bayes error of all classes",
        overall_rows(study),
        [
            *_texts("estimator=estimator"),
            ("error %", percent("estimate")),
            (
                f"{100 * study.request.level:g}% interval",
                _range("interval_low", "interval_high", percent, ""),
            ),
            *_texts("holds=interval_holds"),
            *((name, percent(name, "")) for name in ("lower", "upper")),
            *_texts("hold=bounds_hold definition=definition"),
        ],
        right=8,
        stream=stream,
    )
    if study.noise is not None:
        areas = {"area %": "area", "of lower": "area_lower", "of upper": "area_upper"}
        print_rows(
            f"{study.name}: label noise, area outside the known range of the Bayes error, best first",
            noise_score_rows(study),
            [
                *_texts("estimator=estimator"),
                *((heading, percent(name)) for heading, name in areas.items()),
                *_texts("definition=definition"),
            ],
            right=5,
            stream=stream,
        )
    print_rows(
        "Complexity measures and nearest-neighbour bounds",
        measure_rows(study),
        [
            *_texts("measure=measure"),
            ("value", _number("value")),
            ("tie band", _band("least", "most")),
            *_texts("definition=formula"),
        ],
        right=4,
        stream=stream,
    )
    if study.selection is not None:
        print_rows(
            f"Forward selection by the {study.request.criterion} estimate of the pairs",
            selection_rows(study),
            [*_texts("step=step feature=attribute"), ("criterion", _number("criterion"))],
            right=2,
            stream=stream,
        )
    if study.ranked:
        names = ("mean_of_pairs", "worst_pair", "mean_of_classes", "worst_class")
        print_rows(
            f"Transforms by the {study.request.criterion} estimate of the pairs, best first",
            transform_rows(study),
            [
                *_texts("transform=transform columns=columns"),
                *((name.replace("_", " "), _number(name)) for name in names),
            ],
            right=1,
            stream=stream,
        )
    stream.writelines(f"{line}\n" for line in _endings(study))


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
    cells = [[text(row) for _, text in columns] for row in rows]
    print_table(
        [heading for heading, _ in columns], cells, title=title, right=right, keys=keys, stream=stream
    )


def percent(name: str, missing: str = "-") -> Callable[[dict], str]:
    """Return a function of a row: its number as per cent with two decimals; ``missing`` for NaN."""
    return lambda row: missing if math.isnan(row[name]) else f"{100 * row[name]:.2f}"


def _number(name: str) -> Callable[[dict], str]:
    return lambda row: "-" if math.isnan(row[name]) else f"{row[name]:.3f}"


def _texts(columns: str) -> Columns:
    """Return columns of texts and whole numbers: ``heading=key heading=key``."""
    pairs = (column.split("=") for column in columns.split())
    return [(heading, itemgetter(key)) for heading, key in pairs]


def _range(low: str, high: str, form: Callable, missing: str) -> Callable[[dict], str]:
    return lambda row: missing if math.isnan(row[low]) else f"{form(low)(row)}-{form(high)(row)}"


def _band(low: str, high: str) -> Callable[[dict], str]:
    """Return a function of a row: its tie band, empty without ties."""

    def text(row: dict) -> str:
        ends = _number(low)(row), _number(high)(row)
        return "" if "-" in ends or ends[0] == ends[1] else "-".join(ends)

    return text


def _estimates(study: Study) -> Columns:
    level = study.request.intervals
    interval = (
        []
        if level is None
        else [(f"{100 * level:g}% interval", _range("interval_low", "interval_high", _number, "-"))]
    )
    return [
        ("share", _number("estimate")),
        ("tie band", _band("estimate_tie_low", "estimate_tie_high")),
        *interval,
        ("error %", percent("bayes_error")),
        *((name, percent(name)) for name in ("lower", "upper")),
    ]


def _print_cut(
    title: str,
    rows: list,
    columns: Columns,
    right: int,
    most: int | None,
    names: tuple[str, str],
    stream: IO[str],
) -> None:
    """Print a table without its rows from ``most`` on, and a note with their number."""
    print_rows(title, rows[:most], columns, right=right, stream=stream)
    if left := len(rows) - len(rows[:most]):
        stream.write(f"... and {left} more {names[left > 1]} (--all prints them, --out writes them)\n\n")


def _endings(study: Study) -> Sequence[str]:
    lines = [
        "holds, hold: share of simulated data sets whose 95 % interval, or whose bounds, contained the Bayes",
        "error (two Gaussians, 2 and 10 features, 1000 rows); it is smaller with more features",
        "share: estimate / smaller prior, from 0 (separated) to 1 (indistinguishable); tie band: lowest and",
        "highest share under other orders of equal distances (not a confidence interval; empty without",
        "ties); error %: estimate; lower, upper: bounds of the Bayes error (not a confidence interval)",
    ]
    if study.noise is not None:
        series = study.noise
        best = "the error of the best classifier"
        if study.request.best_error is None:
            best = "the smallest k-NN error of these rows, which favours k-nn (--best-error: another one)"
        known = f"between 0 and {100 * series.best_error:.2f} %, {best}"
        if series.true_error is not None:
            known = f"{100 * series.true_error:.2f} %"
        lines.append(f"label noise: without noise the Bayes error is {known}; area: mean over the rates")
        if "k-nn-limit" in series.estimate:
            lines.append("lower and upper of k-nn-limit are the ends of its 95 % interval")
    if study.intervals is not None:
        lines.append(
            f"intervals: for the expected share, by leaving out each of {study.intervals.blocks} blocks; "
            "they do not include the bias"
        )
    if study.ranked and study.selection is not None:
        lines.append(
            "select-N: selected for small estimates on the same rows, so these estimates are too small"
        )
    if study.p_values is not None:
        lines.append(
            "p-values: test of equal distributions of both classes, not adjusted for the number of pairs"
        )
    if study.test is not None:
        test = study.test
        total = int(test.confusion.sum())
        errors = "1 error" if test.errors == 1 else f"{test.errors} errors"
        lines.append(f"{test.classifier}: {errors} on {total} test rows, {100 * test.error:.2f} %")
    if study.true_error is not None:
        lines.append(f"true Bayes error of {study.name}: {100 * study.true_error:.2f} %")
    return lines
