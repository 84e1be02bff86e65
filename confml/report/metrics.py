"""Metrics of a run and their means over the splits: ``metrics.csv``, ``summary.csv``, ``summary.json``."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from confml.measures import Context, evaluate
from confml.plugins.parameters import parameters_text
from confml.report.files import field, write_csv, write_file

if TYPE_CHECKING:
    from confml.report.results import RunResults
    from confml.runner.plan import Cell


class MetricRow(NamedTuple):
    """One metric of one view of one cell. ``view`` is empty for a method's own quantities.

    level: the significance level of a region metric, the threshold of an acceptance metric, else None.
    """

    cell: Cell
    view: str
    metric: str
    level: float | None
    value: float


class SummaryRow(NamedTuple):
    """One metric over the splits: mean and sd (n - 1 below; NaN for n < 2) of its n defined values."""

    dataset: str
    method: str
    params: Mapping[str, Any]
    variant: str
    view: str
    metric: str
    level: float | None
    mean: float
    sd: float
    n: int


def metric_rows(results: RunResults) -> list[MetricRow]:
    """Every metric of the finished cells: those of `confml.measures`, then each method's own."""
    levels, thresholds = tuple(results.config.levels), tuple(results.config.thresholds)
    rows = []
    for result in results.finished():
        cell = result.cell
        context = Context(result.train_rows, result.train_class_counts, cell.params)
        for view, prediction in result.views.items():
            for row in evaluate(prediction, result.truth, levels, thresholds, context):
                rows.append(MetricRow(cell, view, row.metric, row.level, row.value))
        for metric, value in sorted(result.fit_metrics.items()):
            rows.append(MetricRow(cell, "", metric, None, float(value)))
    return rows


def summarise(rows: Iterable[MetricRow]) -> list[SummaryRow]:
    """Means over the splits, in the order in which the rows first name each metric."""
    groups: dict[tuple, tuple[Cell, list[float]]] = {}
    for row in rows:
        key = (row.cell.dataset, row.cell.method, row.cell.variant, row.view, row.metric, row.level)
        groups.setdefault(key, (row.cell, []))[1].append(row.value)
    summary = []
    for (dataset, method, variant, view, metric, level), (cell, values) in groups.items():
        found = mean_and_sd(values)
        summary.append(SummaryRow(dataset, method, cell.params, variant, view, metric, level, *found))
    return summary


def mean_and_sd(values: Sequence[float]) -> tuple[float, float, int]:
    """(mean, sd with n - 1 below, n) of the values that are not NaN; what is not defined is NaN."""
    values = [value for value in values if not math.isnan(value)]
    n = len(values)
    if n == 0:
        return math.nan, math.nan, 0
    if any(map(math.isinf, values)):
        return (values[0] if len(set(values)) == 1 else math.nan), math.nan, n
    mean = math.fsum(values) / n
    sd = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1)) if n > 1 else math.nan
    return mean, sd, n


def write_metrics(results: RunResults, folder: Path) -> Path:
    """``metrics.csv``: one row a number, in tidy form."""
    header = ("dataset", "method", "params", "split", "view", "metric", "level", "value")
    rows = (
        (row.cell.dataset, row.cell.method, row.cell.variant, row.cell.split, *row[1:])
        for row in results.metrics
    )
    return write_csv(folder / "metrics.csv", header, rows)


def write_timings(results: RunResults, folder: Path) -> Path:
    """``timings.csv``: what fits, predictions and inner selection took, in seconds of one thread.

    configurations: points of the grid that the inner selection went through, each on every inner fold.
    prepare_seconds: those of fit_seconds that the training part takes once, whatever the grid is.
    """
    header = ("dataset", "method", "params", "split", "fit_seconds", "predict_seconds", "tuning_seconds")
    header = (*header, "configurations", "prepare_seconds")
    rows = (
        (
            result.cell.dataset,
            result.cell.method,
            result.cell.variant,
            result.cell.split,
            result.fit_seconds,
            result.predict_seconds,
            result.tuning.get("seconds") if result.tuning else None,
            len(result.tuning["scores"]) if result.tuning else None,
            result.prepare_seconds,
        )
        for result in results.finished()
    )
    return write_csv(folder / "timings.csv", header, rows)


def training_times(fit: float, tuning: float, configurations: int, prepare: float) -> dict[str, float]:
    """What training took, in seconds, out of the columns of ``timings.csv``.

    ``training_seconds``: the inner selection and the final fit. ``seconds_per_configuration``: what one point
    of the grid takes of these, on all inner folds, and the whole of what is prepared once (van den Burg and
    Hero 2017, table 4).
    """
    total = fit + tuning
    return {
        "training_seconds": total,
        "seconds_per_configuration": prepare + (total - prepare) / max(configurations, 1),
    }


def timing_rows(path: Path, summary: Sequence[SummaryRow]) -> list[SummaryRow]:
    """`training_times` out of a ``timings.csv``, as means over the splits, for the cells of a summary.

    They stand in no ``summary.csv``, whose bytes must repeat.
    """
    import csv

    found: dict[tuple, dict[str, list[float]]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            columns = ("fit_seconds", "tuning_seconds", "configurations", "prepare_seconds")
            times = found.setdefault((line["dataset"], line["method"], line["params"]), {})
            for metric, value in training_times(*(float(line.get(one) or 0) for one in columns)).items():
                times.setdefault(metric, []).append(value)
    params = {(row.dataset, row.method, row.variant): row.params for row in summary}
    return [
        SummaryRow(*key[:2], params[key], key[2], "", metric, None, *mean_and_sd(values))
        for key, times in found.items()
        if key in params
        for metric, values in times.items()
    ]


def dataset_rows(datasets: Iterable[Mapping[str, Any]]) -> list[SummaryRow]:
    """What is known of data sets in numbers, as rows of the method ``data``: rows, attributes, classes,
    smallest_class, largest_class."""
    return [
        SummaryRow(info["name"], "data", {}, "", "", metric, None, float(info[metric]), math.nan, 1)
        for info in datasets
        for metric in ("rows", "attributes", "classes", "smallest_class", "largest_class")
        if info.get(metric) is not None  # runs of before these were kept
    ]


def write_tuning(results: RunResults, folder: Path) -> Path:
    """``tuning.csv``: one row a grid point: its inner scores, and whether it was chosen.

    mean, sd: of the inner folds' scores, which ``fold_scores`` lists with ``;`` between; empty where the
    point failed on a fold.
    """
    header = (
        *("dataset", "method", "params", "split", "select_by", "candidate", "chosen"),
        *("mean", "sd", "folds", "fold_scores"),
    )
    rows = []
    for result in results.finished():
        if not result.tuning:
            continue
        cell, chosen = result.cell, result.tuning["chosen"]
        for point in result.tuning["scores"]:
            rows.append(
                (
                    *(cell.dataset, cell.method, cell.variant, cell.split, result.tuning["select_by"]),
                    parameters_text(point["params"]),
                    dict(point["params"]) == dict(chosen),
                    *(point["mean"], point["sd"], len(point["folds"])),
                    ";".join(map(field, point["folds"])),
                )
            )
    return write_csv(folder / "tuning.csv", header, rows)


def write_summary(results: RunResults, folder: Path) -> list[Path]:
    """``summary.csv`` and ``summary.json``: mean, sd and number of splits of every metric."""
    header = ("dataset", "method", "params", "view", "metric", "level", "mean", "sd", "n")
    rows = ((row.dataset, row.method, *row[3:]) for row in results.summary)
    text = json.dumps(summary_document(results), indent=1, ensure_ascii=False, allow_nan=False)
    return [
        write_csv(folder / "summary.csv", header, rows),
        write_file(folder / "summary.json", text + "\n"),
    ]


def summary_document(results: RunResults) -> dict[str, Any]:
    """The summary as JSON holds it; numbers that are not finite are null."""
    return {
        "name": results.config.name,
        "cells": {
            "planned": len(results.cells),
            "done": sum(cell.key in results.results for cell in results.cells),
            "failed": len(results.failures),
        },
        "datasets": [
            {
                "name": info.name,
                "rows": info.rows,
                "attributes": info.attributes,
                "classes": info.classes,
                "smallest_class": info.smallest_class,
                "largest_class": info.largest_class,
                "train_rows": info.train_rows,
                "test_rows": info.test_rows,
                "checksum": info.checksum,
            }
            for _, info in sorted(results.datasets.items())
        ],
        "notes": results.notes,
        "summary": [
            {
                "dataset": row.dataset,
                "method": row.method,
                "params": dict(row.params),
                "view": row.view,
                "metric": row.metric,
                "level": row.level,
                "mean": _finite(row.mean),
                "sd": _finite(row.sd),
                "n": row.n,
            }
            for row in results.summary
        ],
    }


def read_datasets(path: Path) -> list[dict[str, Any]]:
    """The data sets of a ``summary.json``."""
    return json.loads(path.read_text(encoding="utf-8"))["datasets"]


def read_summary(path: Path) -> list[SummaryRow]:
    """The rows of a ``summary.json``, for tables that put several runs side by side."""
    return [
        SummaryRow(
            *(row["dataset"], row["method"], row["params"]),
            parameters_text(row["params"]),
            *(row["view"], row["metric"], row["level"]),
            *(math.nan if row[name] is None else row[name] for name in ("mean", "sd")),
            row["n"],
        )
        for row in json.loads(path.read_text(encoding="utf-8"))["summary"]
    ]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
