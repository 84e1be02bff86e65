"""Validity of p-values: are the true labels' uniform, and does every class have its share of coverage?"""

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
    """(n,) smoothed p-values of the true labels, uniform on [0, 1] where examples are exchangeable.

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


def kolmogorov_smirnov(
    p: np.ndarray, counted: np.ndarray, apart: np.ndarray | None = None
) -> tuple[float, float]:
    """(statistic, p-value) of the Kolmogorov-Smirnov test that (n,) p-values are uniform on [0, 1].

    counted: (n,) how many examples each p-value was counted among. The p-values of one test part are ranks
    among the same examples, so their distribution varies as that of two samples does: 1/n + 1/N instead of
    1/n (sums over the groups that are counted by themselves), without which a test part as large as the
    training part is called not uniform twice as often and more. apart: (n,) whole numbers that differ where
    p-values were counted among different examples, as label-conditional ones are for each class, though these
    may be as many; by default equal numbers are the same examples. The tail is Kolmogorov's with Stephens'
    correction for small samples (1970). NaN without p-values.
    """
    from scipy.special import kolmogorov

    n = len(p)
    if n == 0:
        return math.nan, math.nan
    ranked = np.sort(p)
    steps = np.arange(n + 1) / n
    statistic = max(np.max(steps[1:] - ranked), np.max(ranked - steps[:-1]))
    apart = np.zeros(n, dtype=np.int64) if apart is None else apart
    groups, sizes = np.unique(np.stack([counted, apart]), axis=1, return_counts=True)
    variance = 1 / n + math.fsum((sizes / n) ** 2 / np.maximum(groups[0] - 1, 1))
    root = math.sqrt(1 / variance)
    return float(statistic), float(kolmogorov((root + 0.12 + 0.11 / root) * statistic))


def uniformity(case: Case) -> tuple[float, float]:
    """(statistic, p-value) of `kolmogorov_smirnov` for the smoothed p-values of the true labels."""
    p = smoothed_p_values(case)
    if p is None:
        return math.nan, math.nan
    return kolmogorov_smirnov(p, _counted(case), case.true_columns if _by_class(case) else None)


def class_coverage(case: Case, level: float) -> dict:
    """By true label, in sorted order: (its test examples, those whose region at ``level`` holds it)."""
    region = case.prediction.region(level)
    covered = (case.true_columns >= 0) & region[np.arange(len(region)), case.true_columns]
    labels, codes = np.unique(case.truth, return_inverse=True)
    rows, right = np.bincount(codes), np.bincount(codes, weights=covered)
    return {label: (int(n), int(k)) for label, n, k in zip(labels.tolist(), rows, right, strict=True)}


def _counted(case: Case) -> np.ndarray:
    """(n,) the examples that each true label's p-value was counted among, the new one included.

    Smoothed p-values without counts do not tell: then it is the training examples, or those of the class
    where the method is ``mondrian``.
    """
    prediction, context = case.prediction, case.context
    extra = prediction.extra
    if {"n_greater", "n_equal"} <= set(extra):
        at = np.arange(len(prediction)), case.true_columns
        tau = extra.get("tau", 1.0)
        p = prediction.scores[at]
        counts = extra["n_greater"][at] + tau * extra["n_equal"][at]
        whole = np.divide(counts, p, out=np.ones(len(p)), where=p > 0)  # 0 / 0 where a tau was drawn as 0
        counted = np.rint(whole).astype(np.int64)
    else:
        by_class, rows = _by_class(case), context.train_class_counts
        sizes = [rows.get(label, 0) if by_class else context.train_rows for label in case.truth.tolist()]
        counted = np.array(sizes, dtype=np.int64) + 1
    return np.where(case.true_columns >= 0, counted, np.iinfo(np.int64).max)


def _by_class(case: Case) -> bool:
    """Whether p-values are label-conditional, as far as the config tells."""
    return any(name.endswith("mondrian") and value for name, value in case.context.params.items())


def _compute(case: Case) -> Iterator[Row]:
    if case.prediction.kind != "p-value":
        return
    statistic, p_value = uniformity(case)
    yield Row("ks_statistic", None, statistic)
    yield Row("ks_p_value", None, p_value)
    for level in case.levels:
        shares = [fraction(covered, rows) for rows, covered in class_coverage(case, level).values()]
        yield Row("worst_class_coverage", level, min(shares, default=math.nan))


MEASURE = Measure(
    metrics={
        "ks_statistic": Metric(
            "largest distance of true labels' smoothed p-values from the uniform distribution",
            LOWER,
            "sup over t of |#{i: smoothed p_i <= t} / n - t|",
        ),
        "ks_p_value": Metric(
            "Kolmogorov-Smirnov test that they are uniform, which exchangeable examples make them", None
        ),
        "worst_class_coverage": Metric(
            "smallest coverage of a class (all of them: class-coverage.csv)",
            None,
            "min over classes c of #{i: y_i = c in G_i} / #{i: y_i = c}",
        ),
    },
    compute=_compute,
)
