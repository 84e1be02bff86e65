"""Validity of p-values: distance of true labels' p-values from uniform, and coverage of each class."""

from collections.abc import Iterator

import numpy as np

from confml.measures.case import Case
from confml.measures.measure import Measure, Row
from confml.measures.metric import LOWER, OWN, Metric, share_per_level
from confml.measures.p_values import has_counts


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
        return float("nan")
    ordered, steps = np.sort(p), np.arange(n + 1) / n
    return float(max((steps[1:] - ordered).max(), (ordered - steps[:-1]).max()))


def rows(case: Case) -> Iterator[Row]:
    """Yield the distance from uniform, and the smallest coverage of a class at each level."""
    if case.prediction.kind != "p-value":
        return
    nan = float("nan")
    smoothed = has_counts(case.prediction)
    yield Row("ks_statistic", None, distance_from_uniform(case.smoothed) if smoothed else nan)
    sizes = np.bincount(case.labels[1])
    for level in case.levels:
        covered = np.bincount(case.labels[1], weights=case.covered(level))
        yield Row("worst_class_coverage", level, float((covered / sizes).min()) if len(sizes) else nan)


MEASURE = Measure(
    metrics={
        "ks_statistic": Metric(
            "Kolmogorov-Smirnov distance of the true labels' smoothed p-values from the uniform "
            "distribution, 0 to 1 (a distance and not a test: p-values of one test part are dependent)",
            LOWER,
            "sup over t of |#{i: smoothed p_i <= t} / n - t|",
            "Kolmogorov 1933",
            heading="Kolmogorov-Smirnov distance",
        ),
        "worst_class_coverage": share_per_level(
            "smallest coverage of a class (all of them: class-coverage.csv)",
            None,
            "min over classes c of #{i: y_i = c in G_i} / #{i: y_i = c}",
            OWN,
            heading="smallest coverage of a class",
        ),
    },
    rows=rows,
)
