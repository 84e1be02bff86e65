"""The tables of a study of Bayes errors as rows, and its document."""

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from confml._json import to_json
from confml.bayes_error.estimates import cover_hart_bound
from confml.report.bayes_error.study import Study
from confml.report.files import write_csv, write_file

Rows = list[dict[str, Any]]
BOUNDS_HOLD = {"global-tree": "47-99 %", "1-nn": "43-99 %"}
"""Smallest and largest share of simulated data sets whose bounds contain the Bayes error of all classes.

Two Gaussians 2 and 4 standard deviations apart, 2 and 10 features, 1000 rows: ``make validity``.
"""
TABLES: dict[str, Callable[[Study], Rows]] = {}
"""The tables by the names of their files."""


def _table(name: str, columns: str = "") -> Callable[[Callable[[Study], Iterable]], Callable[[Study], Rows]]:
    """Return a decorator that registers the rows of a table. columns: names of the values of tuples."""

    def register(rows: Callable[[Study], Iterable]) -> Callable[[Study], Rows]:
        @functools.wraps(rows)
        def named(study: Study) -> Rows:
            return [dict(zip(columns.split(), row, strict=True)) if columns else row for row in rows(study)]

        TABLES[name] = named
        return named

    return register


_ESTIMATES = ("estimate", "estimate_tie_low", "estimate_tie_high")
_LIMITS = ("lower", "upper", "crossings", "crossings_tie_low", "crossings_tie_high")
_NAN = float("nan")


# ---- pairs of classes, and one class against the rest


@_table("pairs")
def pair_rows(study: Study) -> Rows:
    """Return one row per pair of classes, hardest pair first.

    estimate: Bayes error divided by the smaller prior; estimate_tie_low, estimate_tie_high: lowest and
    highest estimate that other orders of equal distances can give, tree by tree (a tie band, not a confidence
    interval; the estimate lies in it); bayes_error: the estimate itself; lower, upper: bounds of the Bayes
    error; crossings: mean over the trees; crossings_tie_low, crossings_tie_high: their tie band.
    """
    rates, classes = study.errors.pairwise, study.classes.tolist()
    prior = _smaller_priors(study.rows[:, None], study.rows[None, :])
    pairs = _pairs(classes)
    found = []
    for a, b in sorted(pairs, key=lambda pair: -rates.estimate[pair]):
        row = {"class_a": classes[a], "class_b": classes[b], "rows_a": study.rows[a], "rows_b": study.rows[b]}
        row |= _values(rates, prior, (a, b))
        if study.intervals is not None:
            row |= _interval(study.intervals.pairwise, (a, b))
        found.append(row)
    return found


@_table("one-vs-rest")
def class_rows(study: Study) -> Rows:
    """Return one row per class against the rest, hardest class first; fields as in `pair_rows`."""
    rates, classes = study.errors.one_vs_rest, study.classes.tolist()
    prior = _smaller_priors(study.rows, study.rows.sum() - study.rows)
    found = []
    for k in np.argsort(-rates.estimate, kind="stable"):
        row = {"class": classes[k], "rows": study.rows[k], **_values(rates, prior, k)}
        if study.intervals is not None:
            row |= _interval(study.intervals.one_vs_rest, k)
        found.append(row)
    return found


# ---- all classes


@_table("overall", "estimator estimate estimate_tie_low estimate_tie_high lower upper bounds_hold definition")
def overall_rows(study: Study) -> Iterator[tuple]:
    """Yield one row per estimator of the Bayes error of all classes.

    estimate, with its tie band; lower, upper: bounds of the Bayes error for infinitely many rows, without
    sampling error; bounds_hold: in which share of simulated data sets they contained the Bayes error.
    """
    tree, near = study.errors.global_tree, study.errors.nearest_neighbour
    most = float(1 - study.rows.max() / study.rows.sum())
    ends = (min((e + cover_hart_bound(e, study.rows.size)) / 2, most) for e in (near.least, near.most))
    about = "edges between classes of one spanning tree (Sekeh, Oselio and Hero 2020)"
    yield (
        *("global-tree", tree.estimate, tree.least, tree.most, tree.lower, tree.upper),
        *(BOUNDS_HOLD["global-tree"], about),
    )
    about = "leave-one-out error of 1-NN with the bound of Cover and Hart (1967)"
    yield "1-nn", near.estimate, *ends, near.lower, near.upper, BOUNDS_HOLD["1-nn"], about


@_table("global-tree", "class_a class_b delta")
def delta_rows(study: Study) -> Iterator[tuple]:
    """Yield the share of the edges of the tree of all rows between each two classes, divided by 2."""
    delta, classes = study.errors.global_tree.delta, study.classes.tolist()
    yield from ((classes[a], classes[b], delta[a, b]) for a, b in _pairs(classes))


# ---- selected features


@_table("selection", "step attribute criterion")
def selection_rows(study: Study) -> Iterator[tuple]:
    """Yield the selected features in order, with the criterion after each."""
    if study.selection is not None:
        chosen = zip(study.selection.attributes, study.selection.criterion, strict=True)
        for step, (number, criterion) in enumerate(chosen, 1):
            yield step, study.attributes[number], criterion


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


def write_json(path: Path, document: dict[str, Any]) -> Path:
    """Write a document as JSON."""
    return write_file(path, to_json(document, indent=1) + "\n")


def plain(value: Any) -> Any:
    """Return a document for JSON: numbers of numpy as Python's, and numbers that are not finite as None."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _pairs(classes: Sequence) -> list[tuple[int, int]]:
    return list(zip(*(places.tolist() for places in np.triu_indices(len(classes), 1)), strict=True))


def _values(rates, prior: np.ndarray, place) -> dict[str, float]:
    return {
        **{name: getattr(rates, name)[place] for name in _ESTIMATES},
        "bayes_error": rates.estimate[place] * prior[place],
        **{name: getattr(rates, name)[place] for name in _LIMITS},
    }


def _interval(interval, place) -> dict[str, float]:
    return {"interval_low": interval.low[place], "interval_high": interval.high[place]}


def _smaller_priors(m: np.ndarray, n: np.ndarray) -> np.ndarray:
    return np.minimum(m, n) / (m + n)
