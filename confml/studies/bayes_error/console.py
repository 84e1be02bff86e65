"""A study of Bayes errors on stdout: the hard pairs, the hard classes, and what stands beside them."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import IO, Any

from confml.report.console import print_table
from confml.studies.bayes_error.document import (
    class_rows,
    measure_rows,
    pair_rows,
    selection_rows,
    transform_rows,
)
from confml.studies.bayes_error.study import Study

PAIRS, CLASSES = 20, 40


def print_study(
    study: Study, *, every: bool = False, pairs: bool = True, stream: IO[str] | None = None
) -> None:
    """Print what was found; long lists are cut, with a note, unless ``every`` row is wanted."""
    stream = stream or sys.stdout
    if pairs:
        _print_pairs(study, every, stream)
    _print_classes(study, every, stream)
    print_table(
        ["measure", "value", "ties", "what"],
        [
            [row["measure"], _number(row["value"]), _band(row["least"], row["most"]), row["formula"]]
            for row in measure_rows(study)
        ],
        title="Beside them",
        right=4,
        stream=stream,
    )
    if study.selection is not None:
        print_table(
            ["step", "attribute", "criterion"],
            [[row["step"], row["attribute"], _number(row["criterion"])] for row in selection_rows(study)],
            title=f"Forward selection by the {study.request.criterion} estimate of the pairs",
            right=2,
            stream=stream,
        )
    if study.ranked:
        print_table(
            ["transform", "columns", "mean of pairs", "worst pair", "mean of classes", "worst class"],
            [
                [row["transform"], row["columns"], *map(_number, list(row.values())[2:])]
                for row in transform_rows(study)
            ],
            title=f"Transforms by the {study.request.criterion} estimate of the pairs, the best first",
            right=1,
            stream=stream,
        )
    for line in _endings(study):
        stream.write(f"{line}\n")


def _print_pairs(study: Study, every: bool, stream: IO[str]) -> None:
    rows = pair_rows(study)
    most = len(rows) if every else PAIRS
    print_table(
        ["class", "and", "rows", "rows", *_headings(study.request.intervals, study.p_values is not None)],
        [[row["class_a"], row["class_b"], row["rows_a"], row["rows_b"], *_cells(row)] for row in rows[:most]],
        title=f"{study.name}: Bayes error of pairs of classes, the hardest first",
        right=2,
        stream=stream,
    )
    _cut(len(rows) - most, "pair", "pairs", stream)


def _print_classes(study: Study, every: bool, stream: IO[str]) -> None:
    rows = class_rows(study)
    most = len(rows) if every else CLASSES
    headings = ["class", "rows", *_headings(study.request.intervals, False)]
    cells = [[row["class"], row["rows"], *_cells(row)] for row in rows[:most]]
    if study.test is not None:
        headings += ["test confusion %", "class error %"]
        for line, row in zip(cells, rows, strict=False):
            line += [_percent(row["test_confusion_rate"]), _percent(row["test_class_error"])]
    title = f"{study.name}: each class against all others, the hardest first"
    print_table(headings, cells, title=title, right=1, stream=stream)
    _cut(len(rows) - most, "class", "classes", stream)


def _headings(level: float | None, p_values: bool) -> list[str]:
    interval = [] if level is None else [f"{100 * level:g}% interval"]
    return [
        "share",
        "tie band",
        *interval,
        "error %",
        "lower",
        "upper",
        *(["p-value"] if p_values else []),
    ]


def _cells(row: dict[str, Any]) -> list[str]:
    cells = [_number(row["estimate"]), _band(row["estimate_tie_low"], row["estimate_tie_high"])]
    if "interval_low" in row:
        low, high = row["interval_low"], row["interval_high"]
        cells.append("-" if math.isnan(low) else f"{_number(low)}-{_number(high)}")
    cells += [_percent(row[name]) for name in ("bayes_error", "lower", "upper")]
    return [*cells, f"{row['p_value']:.3g}"] if "p_value" in row else cells


def _endings(study: Study) -> Sequence[str]:
    lines = [
        "share: the estimate / the smaller prior, from 0 (separated) to 1 (indistinguishable); tie band:",
        "lowest and highest share under other orders of equal distances (not a confidence interval; empty",
        "without ties); error %: the estimate; lower, upper: bounds of the Bayes error",
    ]
    if study.intervals is not None:
        lines.append(
            f"intervals: of the share that the estimator has on average, by leaving out each of "
            f"{study.intervals.blocks} blocks; its bias is not in them,\nand classes that stay apart "
            "whatever block is left out have an interval of no width"
        )
    if study.ranked and study.selection is not None:
        lines.append("select-N: taken on these rows for their small estimates, which are on the low side so")
    if study.p_values is not None:
        lines.append("p-values: of one distribution for both classes, not adjusted for the number of pairs")
    if study.test is not None:
        test = study.test
        total = int(test.confusion.sum())
        errors = "1 error" if test.errors == 1 else f"{test.errors} errors"
        lines.append(f"{test.classifier}: {errors} on {total} test rows, {_percent(test.error)} %")
    if study.true_error is not None:
        lines.append(f"true Bayes error of {study.name}: {_percent(study.true_error)} %")
    return lines


def _cut(left: int, one: str, several: str, stream: IO[str]) -> None:
    if left > 0:
        stream.write(
            f"... and {left} more {one if left == 1 else several} (--all prints them, --out writes them)\n\n"
        )


def _band(least: float, most: float) -> str:
    if math.isnan(least) or math.isnan(most):
        return ""
    low, high = _number(least), _number(most)
    return "" if low == high else f"{low}-{high}"


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


def _percent(value: float) -> str:
    return "-" if math.isnan(value) else f"{100 * value:.2f}"
