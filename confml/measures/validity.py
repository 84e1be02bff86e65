"""Validity of p-values: distance of true labels' p-values from uniform, and coverage of each class."""

from collections.abc import Iterator

import numpy as np

from confml.measures.block import Block
from confml.measures.measure import Column, Measure
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
    return float(_distances(p[None])[0])


def _distances(p: np.ndarray) -> np.ndarray:
    """Return `distance_from_uniform` of each row of p-values (s, n)."""
    n = p.shape[1]
    if n == 0:
        return np.full(len(p), np.nan)
    ranked = np.sort(p, axis=1)
    steps = np.arange(n + 1) / n
    return np.maximum((steps[1:] - ranked).max(axis=1), (ranked - steps[:-1]).max(axis=1))


def _compute(block: Block) -> Iterator[Column]:
    if block.whole.prediction.kind != "p-value":
        return
    distances = np.full(len(block), np.nan)
    if has_counts(block.whole.prediction):
        p = block.smoothed
        for n in np.unique(block.sizes).tolist():
            mine = np.flatnonzero(block.sizes == n)
            distances[mine] = _distances(p[block.starts[mine][:, None] + np.arange(n)])
    yield Column("ks_statistic", None, distances)
    for level in block.levels:
        shares = block.covered_by_label(level) / np.maximum(block.label_counts, 1)
        worst = np.where(block.label_counts > 0, shares, 2.0).min(axis=1)
        yield Column("worst_class_coverage", level, np.where(block.sizes > 0, worst, np.nan))


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
    compute=_compute,
)
