"""Means over the splits: ``summary.csv``, ``summary.json`` and ``tables/results``."""

import math
from collections.abc import Iterator
from typing import Any

from confml._json import to_json
from confml.report.answers.losses import losses_of
from confml.report.files import safe_name
from confml.report.forms.summary import CSV_HEADER, csv_rows, shown_summary, summary_of
from confml.report.numbers.summaries import DATA_METRICS
from confml.report.report import Report
from confml.report.run.results import RunResults
from confml.report.shown_table import to_latex
from confml.report.tables.notes import notes_of
from confml.report.tables.table import Files, Row, Table

OF_DATASETS = ("name", *DATA_METRICS, "train_rows", "test_rows", "checksum")
"""Keys of a data set in ``summary.json``."""


def rows(report: Report) -> Iterator[Row]:
    """Mean, sd and number of splits of every metric."""
    for row in report.run.summary:
        yield row.dataset, row.method, *row[3:]


TABLE = Table(
    "summary.csv",
    "means over the splits",
    "dataset method params view metric level mean sd n",
    rows,
    of_run=True,
)


JSON = Files(
    "summary-json",
    {"summary.json": "means over the splits, data sets and notes"},
    lambda report: report.write("summary.json", to_json(summary_document(report.run), indent=1) + "\n"),
    metrics=DATA_METRICS,
)


def counts_document(results: RunResults) -> dict[str, Any]:
    """Return the name of the run and the numbers of its cells as plain data for JSON."""
    counts = {"planned": len(results.cells), "done": results.done, "failed": len(results.failures)}
    return {"name": results.config.name, "cells": counts}


def summary_document(results: RunResults) -> dict[str, Any]:
    """Return the summary as plain data for JSON; numbers that are not finite are null."""
    return counts_document(results) | {
        "datasets": [
            {name: getattr(info, name) for name in OF_DATASETS}
            for _, info in sorted(results.datasets.items())
        ],
        "notes": notes_of(results),
        "summary": [
            {name: value for name, value in row._asdict().items() if name != "variant"}
            | {"params": dict(row.params), "mean": _finite(row.mean), "sd": _finite(row.sd)}
            for row in results.summary
        ],
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def write_results(report: Report) -> None:
    """Error and regions of all methods at each level, with the best and marks of significance.

    The CSV file has one row per number. ``best`` is true for the lowest error of a data set. It is also true
    for the smallest set size at a level. Methods with a coverage that is shown to be too low are not compared
    there, and empty regions count as one label. ``p_value`` is that of the comparison with the best, after
    Holm's correction over all pairs. ``worse`` is true for a mean that is shown to be worse. The baseline
    (majority-class) is not among the pairs. Its p-value compares it with the best method, corrected over the
    comparisons of all methods with it.
    """
    summary = summary_of(report.run)
    if summary.rows:
        report.write_csv("results.csv", CSV_HEADER, dict.fromkeys(csv_rows(summary)))
        label = safe_name(f"{report.run.config.name}-results")
        report.write("tables/results.tex", to_latex(shown_summary(report.run), label))


RESULTS = Files(
    "results",
    {"tables/results.csv": "error and regions of all methods, best and significance; also tex"},
    write_results,
    collects=lambda run: (losses_of,),
)
