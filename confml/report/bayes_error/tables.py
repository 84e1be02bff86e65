"""The tables of a study of Bayes errors as rows, and its document."""

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from confml.bayes_error.estimates import cover_hart_bound
from confml.report.bayes_error.study import Study
from confml.report.files import write_csv

Rows = list[dict[str, Any]]
BOUNDS_HOLD = {"global-tree": "47-99 %", "1-nn": "43-99 %"}
"""Smallest and largest share of simulated data sets whose bounds contain the Bayes error of all classes.

Two Gaussians 2 and 4 standard deviations apart, 2 and 10 features, 1000 rows: ``make validity``.
"""
ESTIMATES = ("estimate", "estimate_tie_low", "estimate_tie_high")
LIMITS = ("lower", "upper", "crossings", "crossings_tie_low", "crossings_tie_high")


# ---- pairs of classes, and one class against the rest


def pair_rows(study: Study) -> Rows:
    """Return one row per pair of classes, hardest pair first.

    estimate: Bayes error divided by the smaller prior; estimate_tie_low, estimate_tie_high: lowest and
    highest estimate that other orders of equal distances can give, tree by tree (a tie band, not a confidence
    interval; the estimate lies in it); bayes_error: the estimate itself; lower, upper: bounds of the Bayes
    error; crossings: mean over the trees; crossings_tie_low, crossings_tie_high: their tie band.
    """
    rates, classes, n = study.errors.pairwise, study.classes.tolist(), study.rows
    prior = np.minimum.outer(n, n) / np.add.outer(n, n)
    intervals = study.intervals and study.intervals.pairwise
    return [
        {"class_a": classes[a], "class_b": classes[b], "rows_a": n[a], "rows_b": n[b]}
        | _values(rates, prior, intervals, (a, b))
        for a, b in sorted(combinations(range(len(classes)), 2), key=lambda pair: -rates.estimate[pair])
    ]


def class_rows(study: Study) -> Rows:
    """Return one row per class against the rest, hardest class first; fields as in `pair_rows`."""
    rates, classes, n = study.errors.one_vs_rest, study.classes.tolist(), study.rows
    prior = np.minimum(n, n.sum() - n) / n.sum()
    intervals = study.intervals and study.intervals.one_vs_rest
    return [
        {"class": classes[k], "rows": n[k]} | _values(rates, prior, intervals, k)
        for k in np.argsort(-rates.estimate, kind="stable")
    ]


def _values(rates: Any, prior: np.ndarray, intervals: Any, at: Any) -> dict[str, float]:
    """Return the columns of estimates of a pair or a class."""
    values = {name: getattr(rates, name)[at] for name in ESTIMATES}
    values["bayes_error"] = rates.estimate[at] * prior[at]
    values |= {name: getattr(rates, name)[at] for name in LIMITS}
    if intervals is not None:
        values |= {"interval_low": intervals.low[at], "interval_high": intervals.high[at]}
    return values


# ---- all classes


def overall_rows(study: Study) -> Rows:
    """Return one row per estimator of the Bayes error of all classes.

    estimate, with its tie band; lower, upper: bounds of the Bayes error for infinitely many rows, without
    sampling error; bounds_hold: in which share of simulated data sets they contained the Bayes error.
    """
    tree, near = study.errors.global_tree, study.errors.nearest_neighbour
    most = float(1 - study.rows.max() / study.rows.sum())
    ends = ((e + cover_hart_bound(e, study.rows.size)) / 2 for e in (near.least, near.most))
    columns = ("estimator", *ESTIMATES, "lower", "upper", "bounds_hold", "definition")
    texts = {
        "global-tree": "edges between classes of one spanning tree (Sekeh, Oselio and Hero 2020)",
        "1-nn": "leave-one-out error of 1-NN with the bound of Cover and Hart (1967)",
    }
    numbers = {
        "global-tree": (tree.estimate, tree.least, tree.most, tree.lower, tree.upper),
        "1-nn": (near.estimate, *(min(end, most) for end in ends), near.lower, near.upper),
    }
    return [
        dict(zip(columns, (name, *numbers[name], BOUNDS_HOLD[name], text), strict=True))
        for name, text in texts.items()
    ]


# ---- selected features


def selection_rows(study: Study) -> Rows:
    """Return the selected features in order, with the criterion after each."""
    if study.selection is None:
        return []
    chosen = zip(study.selection.attributes, study.selection.criterion, strict=True)
    return [
        {"step": step, "attribute": study.attributes[number], "criterion": criterion}
        for step, (number, criterion) in enumerate(chosen, 1)
    ]


TABLES: dict[str, Callable[[Study], Rows]] = {
    "pairs": pair_rows,
    "one-vs-rest": class_rows,
    "overall": overall_rows,
    "selection": selection_rows,
}
"""The tables by the names of their files."""


# ---- files


def study_document(study: Study) -> dict[str, Any]:
    """Return the settings and all results as plain data for JSON; undefined numbers (NaN) are null."""
    request, pairs = study.request, study.errors.pairwise.estimate
    upper = pairs[np.triu_indices(len(study.classes), 1)]
    settings = {
        "dataset": study.name,
        "rows": study.rows.sum(),
        "columns": study.columns,
        "classes": len(study.classes),
        "trees": request.trees,
        "count": request.count,
        "bias_corrected": request.correct_bias,
        "scale": request.scale,
        "seed": request.seed,
        "about": list(study.about),
        "mean_of_pairs": upper.mean(),
        "worst_pair": upper.max(),
        "true_bayes_error": study.true_error,
        "interval_level": request.intervals,
        "criterion": request.criterion,
        "warnings": list(study.warnings),
    }
    parts = {name.replace("-", "_"): rows_of(study) for name, rows_of in TABLES.items()}
    return plain({**settings, **{name: rows for name, rows in parts.items() if rows}})


def write_rows(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """Write rows with the same keys as a CSV file."""
    return write_csv(path, list(rows[0]), [list(row.values()) for row in rows])


def plain(value: Any) -> Any:
    """Return a document for JSON: numbers of numpy as Python's, and numbers that are not finite as None."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list):
        return [plain(part) for part in value]
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
