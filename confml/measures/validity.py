"""Validity of p-values: distance of the true labels' from uniform, and coverage of each class."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator

import numpy as np

from confml._seeds import stable_generator
from confml.measures._case import Case, Measure, Row, fraction
from confml.measures.metrics import LOWER, Metric
from confml.measures.prediction import Prediction


def smoothing_taus(prediction: Prediction) -> np.ndarray | None:
    """Return tau (n,) by which p-values are smoothed: that of the method, or drawn here.

    Those drawn are U[0, 1) from a seed made of the counts themselves, so that the same results always have
    the same. None without counts.
    """
    extra = prediction.extra
    if "tau" in extra:
        return extra["tau"]
    if not has_counts(prediction):
        return None
    contents = np.ascontiguousarray(np.stack([extra["n_greater"], extra["n_equal"]]), dtype=np.int64)
    seed = hashlib.sha256(contents.tobytes()).hexdigest()
    return stable_generator("smoothing", seed).random(len(prediction))


def has_counts(prediction: Prediction) -> bool:
    """Whether smoothed p-values can be had: p-values with ``n_greater`` and ``n_equal``, or smoothed ones."""
    extra = prediction.extra
    return prediction.kind == "p-value" and ("tau" in extra or {"n_greater", "n_equal"} <= set(extra))


def smoothed_p_values(case: Case) -> np.ndarray | None:
    """Return the smoothed p-values (n,) of the true labels, each uniform where examples are exchangeable.

    ``(#{alpha_i > alpha} + tau #{alpha_i = alpha}) / N``: N, the examples counted, is what the p-value was
    divided by. One tau ~ U[0, 1) an example, from a seed made of the counts themselves, so that the same
    results always have the same. p-values that are smoothed already are taken as they are. A true label that
    training never saw has p-value 0, since no region holds it. None without counts (`has_counts`).
    """
    prediction = case.prediction
    if not has_counts(prediction):
        return None
    at = np.arange(len(prediction)), case.true_columns
    p = prediction.scores[at]
    if "tau" not in prediction.extra:
        greater, equal = (np.asarray(prediction.extra[name]) for name in ("n_greater", "n_equal"))
        tau = smoothing_taus(prediction)
        # The new example is one of the equal, so that nothing is divided by 0.
        p = p * ((greater[at] + tau * equal[at]) / (greater[at] + equal[at]))
    return np.where(case.true_columns >= 0, p, 0.0)


def distance_from_uniform(p: np.ndarray) -> float:
    """Return the Kolmogorov-Smirnov distance of (n,) p-values from the uniform distribution on [0, 1].

    The largest difference between the share of p-values up to a value and that value: 0 (uniform) to 1; NaN
    without p-values. It has no p-value here: p-values of one test part share the training examples, so they
    are not independent, and how they depend on each other varies with the method and the data. A test that
    takes them as independent, or as ranks among one fixed sample, rejects exchangeable examples too often.
    Valid p-values of n test examples among N others are about 0.87 sqrt(1/n + 1/N) from uniform on average.
    """
    n = len(p)
    if n == 0:
        return math.nan
    ranked = np.sort(p)
    steps = np.arange(n + 1) / n
    return float(max(np.max(steps[1:] - ranked), np.max(ranked - steps[:-1])))


def class_coverage(case: Case, level: float) -> dict:
    """Return for each true label, sorted: (its test examples, those whose region at ``level`` holds it)."""
    region = case.prediction.region(level)
    covered = (case.true_columns >= 0) & region[np.arange(len(region)), case.true_columns]
    labels, codes = np.unique(case.truth, return_inverse=True)
    rows, right = np.bincount(codes), np.bincount(codes, weights=covered)
    return {label: (int(n), int(k)) for label, n, k in zip(labels.tolist(), rows, right, strict=True)}


def _compute(case: Case) -> Iterator[Row]:
    if case.prediction.kind != "p-value":
        return
    p = smoothed_p_values(case)
    yield Row("ks_statistic", None, math.nan if p is None else distance_from_uniform(p))
    for level in case.levels:
        shares = [fraction(covered, rows) for rows, covered in class_coverage(case, level).values()]
        yield Row("worst_class_coverage", level, min(shares, default=math.nan))


MEASURE = Measure(
    metrics={
        "ks_statistic": Metric(
            "Kolmogorov-Smirnov distance of the true labels' smoothed p-values from the uniform "
            "distribution, 0 to 1 (a distance and not a test: p-values of one test part are dependent)",
            LOWER,
            "sup over t of |#{i: smoothed p_i <= t} / n - t|",
        ),
        "worst_class_coverage": Metric(
            "smallest coverage of a class (all of them: class-coverage.csv)",
            None,
            "min over classes c of #{i: y_i = c in G_i} / #{i: y_i = c}",
        ),
    },
    compute=_compute,
)
