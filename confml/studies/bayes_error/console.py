"""Printed tables of a Bayes error study: pairs of classes, one-vs-rest, measures, selection, transforms."""

import math
import sys
from collections.abc import Sequence
from typing import IO, Any

from confml.report.console import print_table
from confml.studies.bayes_error.document import class_rows, measure_rows, pair_rows
from confml.studies.bayes_error.overall import noise_score_rows, overall_rows
from confml.studies.bayes_error.selections import selection_rows, transform_rows
from confml.studies.bayes_error.study import Study

PAIRS, CLASSES = 20, 40


def print_study(
    study: Study, *, every: bool = False, pairs: bool = True, stream: IO[str] | None = None
) -> None:
    """Print the results; long tables are cut, with a note, unless ``every`` is True."""
    stream = stream or sys.stdout
    if pairs:
        _print_pairs(study, every, stream)
    _print_classes(study, every, stream)
    _print_overall(study, stream)
    print_table(
        ["measure", "value", "tie band", "definition"],
        [
            [row["measure"], _number(row["value"]), _band(row["least"], row["most"]), row["formula"]]
            for row in measure_rows(study)
        ],
        title="Complexity measures and nearest-neighbour bounds",
        right=4,
        stream=stream,
    )
    if study.selection is not None:
        print_table(
            ["step", "feature", "criterion"],
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
            title=f"Transforms by the {study.request.criterion} estimate of the pairs, best first",
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
        title=f"{study.name}: Bayes error of pairs of classes, hardest pair first",
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
    title = f"{study.name}: one-vs-rest Bayes error, hardest class first"
    print_table(headings, cells, title=title, right=1, stream=stream)
    _cut(len(rows) - most, "class", "classes", stream)


def _print_overall(study: Study, stream: IO[str]) -> None:
    print_table(
        [
            *("estimator", "error %", f"{100 * study.request.level:g}% interval", "holds"),
            *("lower", "upper", "hold", "definition"),
        ],
        [
            [
                row["estimator"],
                _percent(row["estimate"]),
                _range(row["interval_low"], row["interval_high"]),
                row["interval_holds"],
                *(_percent(row[name]) if not math.isnan(row[name]) else "" for name in ("lower", "upper")),
                row["bounds_hold"],
                row["definition"],
            ]
            for row in overall_rows(study)
        ],
        title=f"{study.name}: Bayes error of all classes",
        right=8,
        stream=stream,
    )
    if study.noise is None:
        return
    print_table(
        ["estimator", "area %", "of lower", "of upper", "definition"],
        [
            [
                row["estimator"],
                *(_percent(row[name]) for name in ("area", "area_lower", "area_upper")),
                row["definition"],
            ]
            for row in noise_score_rows(study)
        ],
        title=f"{study.name}: label noise, area outside the known range of the Bayes error, best first",
        right=5,
        stream=stream,
    )


def _range(low: float, high: float) -> str:
    return "" if math.isnan(low) else f"{_percent(low)}-{_percent(high)}"


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
        known = f"between 0 and {_percent(series.best_error)} %, {best}"
        if series.true_error is not None:
            known = f"{_percent(series.true_error)} %"
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
