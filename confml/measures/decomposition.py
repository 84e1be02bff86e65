"""Decomposition of the Brier score without bins (CORP), and sharpness."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from confml.measures.block import Block, Ranked, sums_of
from confml.measures.measure import Column, Measure, undefined
from confml.measures.metric import HIGHER, LOWER, OWN, Metric
from confml.measures.prediction import SHARES


class IsotonicFit(NamedTuple):
    """Isotonic regression of outcomes on values: at each distinct value (k,) its number and the fit."""

    values: np.ndarray
    counts: np.ndarray
    fitted: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, outcomes: np.ndarray) -> "IsotonicFit":
        """Return the non-decreasing least squares fit of outcomes (n,) bool to values (n,), n at least 1.

        Equal values are one group.
        """
        distinct, places, counts = np.unique(values, return_inverse=True, return_counts=True)
        happened = np.bincount(places, weights=outcomes, minlength=len(distinct))
        return cls(distinct, counts, isotonic(happened / counts, counts))


def isotonic(means: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the non-decreasing least squares fit (k,) of means (k,) with weights (k,)."""
    from scipy.optimize import isotonic_regression

    return isotonic_regression(means, weights=weights.astype(np.float64)).x


def _compute(block: Block) -> Iterator[Column]:
    whole = block.whole
    if whole.prediction.kind not in SHARES:
        return
    if not block.is_defined:
        yield from undefined(block, MEASURE.metrics)
        return
    p, columns = whole.prediction.scores, whole.true_columns
    sums = np.zeros((3, len(block)))
    for j in range(p.shape[1]):
        sums += _parts(block, block.ranked_score(j), columns == j)
    for label in np.unique(whole.truth[columns < 0]):  # of absent classes, whose probability is 0
        sums += _parts(block, block.ranked("nothing", np.zeros(len(p))), whole.truth == label)
    for name, values in zip(("miscalibration", "discrimination", "uncertainty"), sums, strict=True):
        yield Column(name, None, values)
    logs = np.log(p, out=np.zeros_like(p), where=p > 0)
    yield Column("sharpness", None, block.means(p.max(axis=1)))
    yield Column("entropy", None, 0.0 - block.means((p * logs).sum(axis=1)))


def _parts(block: Block, ranked: Ranked, outcomes: np.ndarray) -> np.ndarray:
    """Return (3, s) miscalibration, discrimination and uncertainty of the probabilities of one class.

    ranked: the probabilities. outcomes: (N,) bool, whether the class is the true one. The Brier score is
    miscalibration - discrimination + uncertainty.
    """
    n = block.sizes
    counts, values = ranked.end - ranked.first, ranked.values[ranked.first]
    happened = ranked.sums(outcomes).astype(np.float64)
    starts, ends = ranked.first_group, ranked.groups_end
    means = happened / counts
    fitted = means.copy()
    # Isotonic regression leaves means that increase as they are.
    rises = np.append(means[1:] > means[:-1], True)
    rises[ends - 1] = True
    for number in np.flatnonzero(np.logical_and.reduceat(rises, starts) == 0).tolist():
        here = slice(starts[number], ends[number])
        fitted[here] = isotonic(means[here], counts[here])
    total = np.add.reduceat(happened, starts)

    def score(forecast: np.ndarray) -> np.ndarray:
        return (sums_of(counts * forecast**2 - 2 * forecast * happened, starts, ends) + total) / n

    rate = total / n
    uncertainty, recalibrated = rate * (1 - rate), score(fitted)
    miscalibration, discrimination = score(values) - recalibrated, uncertainty - recalibrated
    positive = [np.where(one < 0.0, 0.0, one) for one in (miscalibration, discrimination)]
    return np.array([*positive, uncertainty])


_SOURCE = "Dimitriadis, Gneiting and Jordan 2021"
MEASURE = Measure(
    metrics={
        "miscalibration": Metric(
            "part of the Brier score that isotonic recalibration of each class would remove",
            LOWER,
            "sum over y of S(p^y) - S(q^y), S mean squared error, q^y isotonic regression of 1{y = y_i} on "
            "p^y",
            _SOURCE,
        ),
        "discrimination": Metric(
            "part of the Brier score of the class frequencies that the recalibrated probabilities remove",
            HIGHER,
            "sum over y of S(r^y) - S(q^y), r^y frequency of y; brier = miscalibration - discrimination + "
            "uncertainty",
            _SOURCE,
        ),
        "uncertainty": Metric(
            "Brier score of the class frequencies of the test part",
            None,
            "sum over y of r^y (1 - r^y), r^y frequency of y",
            _SOURCE,
        ),
        "sharpness": Metric(
            "mean largest probability; says nothing of calibration", None, "mean over i of max p_i", OWN
        ),
        "entropy": Metric(
            "mean entropy of the probabilities in nats; says nothing of calibration",
            None,
            "mean over i of - sum over y of p_i^y ln p_i^y",
            OWN,
            unit="nats",
        ),
    },
    compute=_compute,
)
