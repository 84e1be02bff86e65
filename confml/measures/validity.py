"""Validity of p-values: distance of true labels' p-values from uniform, and coverage of each class."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from confml._seeds import stable_generator
from confml.measures._case import Case, Measure, Row, fraction
from confml.measures.metrics import LOWER, OWN, Metric
from confml.measures.prediction import Prediction

if TYPE_CHECKING:
    from confml.measures.block import Block, Column


def smoothing_taus(prediction: Prediction) -> np.ndarray | None:
    """Return the random tau (n,) that smooths p-values: that of the method, or one drawn here.

    It is drawn from U[0, 1) with a seed derived from the counts, so equal results have equal tau. None
    without counts.
    """
    extra = prediction.extra
    if "tau" in extra:
        return extra["tau"]
    if not has_counts(prediction):
        return None
    contents = np.ascontiguousarray(np.stack([extra["n_greater"], extra["n_equal"]]), dtype=np.int64)
    seed = hashlib.sha256(contents.tobytes()).hexdigest()
    return stable_generator("smoothing", seed).random(len(prediction))


def taus_of(case: Case) -> np.ndarray | None:
    """Return `smoothing_taus` of the prediction of a case."""
    return case.once("taus", lambda: smoothing_taus(case.prediction))


def has_counts(prediction: Prediction) -> bool:
    """Return whether p-values can be smoothed: they have ``n_greater`` and ``n_equal``, or are smoothed."""
    extra = prediction.extra
    return prediction.kind == "p-value" and ("tau" in extra or {"n_greater", "n_equal"} <= set(extra))


def smoothed_p_values(case: Case) -> np.ndarray | None:
    """Return the smoothed p-values (n,) of the true labels, each uniform if examples are exchangeable.

    ``(#{alpha_i > alpha} + tau #{alpha_i = alpha}) / N`` with N examples counted and one tau per example (see
    `smoothing_taus`). p-values that the method has smoothed are returned unchanged. The p-value of an absent
    class is 0, because no region contains it. None without counts (`has_counts`).
    """
    return required_smoothed_p_values(case) if has_counts(case.prediction) else None


def required_smoothed_p_values(case: Case) -> np.ndarray:
    """Return `smoothed_p_values` of a case with counts."""
    return case.once("smoothed", lambda: _required_smoothed_p_values(case))


def _required_smoothed_p_values(case: Case) -> np.ndarray:
    """Return `smoothed_p_values` of a view with counts."""
    prediction = case.prediction
    at = np.arange(len(prediction)), case.true_columns
    p = prediction.scores[at]
    if "tau" not in prediction.extra:
        greater, equal = (np.asarray(prediction.extra[name]) for name in ("n_greater", "n_equal"))
        tau = taus_of(case)
        # The new example itself is one of the equal ones, so the divisor is never 0.
        p = p * ((greater[at] + tau * equal[at]) / (greater[at] + equal[at]))
    return np.where(case.true_columns >= 0, p, 0.0)


def distance_from_uniform(p: np.ndarray) -> float:
    """Return the Kolmogorov-Smirnov distance of (n,) p-values from the uniform distribution on [0, 1].

    The largest difference between the share of p-values up to a value and that value: 0 (uniform) to 1; NaN
    without p-values. No test is made of it: p-values of one test part share the training examples and are
    therefore dependent, and the dependence varies with method and data. A test that treats them as
    independent, or as ranks among one fixed sample, rejects exchangeable examples too often. The distance of
    valid p-values of n test examples among N others is about 0.87 sqrt(1/n + 1/N) on average.
    """
    n = len(p)
    if n == 0:
        return math.nan
    ranked = np.sort(p)
    steps = np.arange(n + 1) / n
    return float(max(np.max(steps[1:] - ranked), np.max(ranked - steps[:-1])))


def class_coverage(case: Case, level: float) -> dict:
    """Return for each true label (number of test examples, number whose region at ``level`` contains it)."""
    return case.once(("class coverage", level), lambda: _class_coverage(case, level))


def _class_coverage(case: Case, level: float) -> dict:
    labels, codes = case.labels
    rows, right = np.bincount(codes), np.bincount(codes, weights=case.covered(level))
    whole = right.astype(np.int64)
    return {label: (n, k) for label, n, k in zip(labels.tolist(), rows.tolist(), whole.tolist(), strict=True)}


def _compute(case: Case) -> Iterator[Row]:
    if case.prediction.kind != "p-value":
        return
    p = smoothed_p_values(case)
    yield Row("ks_statistic", None, math.nan if p is None else distance_from_uniform(p))
    for level in case.levels:
        shares = [fraction(covered, rows) for rows, covered in class_coverage(case, level).values()]
        yield Row("worst_class_coverage", level, min(shares, default=math.nan))


def _compute_block(block: Block) -> Iterator[Column]:
    from confml.measures.block import Column

    if block.whole.prediction.kind != "p-value":
        return
    nothing = np.full(len(block), math.nan)
    has = has_counts(block.whole.prediction)
    yield Column("ks_statistic", None, _distances(block) if has else nothing)
    for level in block.levels:
        shares = block.covered_by_class(level) / np.maximum(block.class_counts, 1)
        yield Column("worst_class_coverage", level, np.where(block.class_counts > 0, shares, 2.0).min(axis=1))


def _distances(block: Block) -> np.ndarray:
    """Return `distance_from_uniform` of the smoothed p-values of each case (s,)."""
    p, found = required_smoothed_p_values(block.whole), np.zeros(len(block))
    for n in np.unique(block.sizes).tolist():
        mine = np.flatnonzero(block.sizes == n)
        ranked = np.sort(p[block.starts[mine][:, None] + np.arange(n)], axis=1)
        steps = np.arange(n + 1) / n
        found[mine] = np.maximum((steps[1:] - ranked).max(axis=1), (ranked - steps[:-1]).max(axis=1))
    return found


MEASURE = Measure(
    metrics={
        "ks_statistic": Metric(
            "Kolmogorov-Smirnov distance of the true labels' smoothed p-values from the uniform "
            "distribution, 0 to 1 (a distance and not a test: p-values of one test part are dependent)",
            LOWER,
            "sup over t of |#{i: smoothed p_i <= t} / n - t|",
            "Kolmogorov 1933",
        ),
        "worst_class_coverage": Metric(
            "smallest coverage of a class (all of them: class-coverage.csv)",
            None,
            "min over classes c of #{i: y_i = c in G_i} / #{i: y_i = c}",
            OWN,
        ),
    },
    compute=_compute,
    compute_block=_compute_block,
)
