"""Decomposition of the Brier score without bins (CORP), and sharpness."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from confml.measures._case import Case, Measure, Row
from confml.measures.calibration import SHARES, share_rows
from confml.measures.metrics import HIGHER, LOWER, OWN, Metric

if TYPE_CHECKING:
    from confml.measures.block import Block, Column


class IsotonicFit(NamedTuple):
    """Isotonic regression of outcomes on values: at each distinct value (k,) its number and the fit."""

    values: np.ndarray
    counts: np.ndarray
    fitted: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, outcomes: np.ndarray) -> IsotonicFit:
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


class Decomposition(NamedTuple):
    """Parts of the Brier score: score = miscalibration - discrimination + uncertainty."""

    miscalibration: float
    discrimination: float
    uncertainty: float

    @classmethod
    def of(cls, p: np.ndarray, outcomes: np.ndarray) -> Decomposition:
        """Return the parts for probabilities (n,) of an event that happened (n,) bool, n at least 1."""
        fit = IsotonicFit.of(p, outcomes)
        # Sums over the groups of equal p; outcomes are 0 or 1, so their squares are their sum.
        happened = np.bincount(np.searchsorted(fit.values, p), weights=outcomes, minlength=len(fit.values))
        n, total = len(p), float(happened.sum())

        def score(forecast: np.ndarray) -> float:
            squares = fit.counts * forecast**2 - 2 * forecast * happened
            return (float(squares.sum()) + total) / n

        rate = total / n
        uncertainty = rate * (1 - rate)
        recalibrated = score(fit.fitted)
        return cls(
            max(score(fit.values) - recalibrated, 0.0), max(uncertainty - recalibrated, 0.0), uncertainty
        )


def _compute(case: Case) -> Iterator[Row]:
    return share_rows(case, MEASURE.metrics, _values)


def _compute_block(block: Block) -> Iterator[Column]:
    from confml.measures.block import Column

    if block.whole.prediction.kind not in SHARES:
        return
    p = block.whole.prediction.scores
    sums = np.zeros((3, len(block)))
    for j in range(p.shape[1]):
        sums += _block_parts(block, j)
    for name, values in zip(("miscalibration", "discrimination", "uncertainty"), sums, strict=True):
        yield Column(name, None, values)
    logs = np.log(p, out=np.zeros_like(p), where=p > 0)
    yield Column("sharpness", None, block.means(p.max(axis=1)))
    yield Column("entropy", None, 0.0 - block.means((p * logs).sum(axis=1)))


def _block_parts(block: Block, column: int) -> np.ndarray:
    """Return (3, s) the `Decomposition` of the probabilities of one class of each case."""
    from confml.measures.block import sums_of

    ranked, n = block.ranked_score(column), block.sizes
    counts, values = ranked.end - ranked.first, ranked.values[ranked.first]
    happened = ranked.sums(block.whole.true_columns == column).astype(np.float64)
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


def _values(case: Case) -> dict[str, float]:
    p, columns = case.prediction.scores, case.true_columns
    sums = np.zeros(3)
    for j in range(p.shape[1]):
        sums += Decomposition.of(p[:, j], columns == j)
    for label in np.unique(case.truth[columns < 0]):
        sums += Decomposition.of(np.zeros(len(p)), case.truth == label)
    logs = np.log(p, out=np.zeros_like(p), where=p > 0)
    return {
        "miscalibration": float(sums[0]),
        "discrimination": float(sums[1]),
        "uncertainty": float(sums[2]),
        "sharpness": float(p.max(axis=1).mean()),
        "entropy": 0.0 - float((p * logs).sum(axis=1).mean()),
    }


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
        ),
    },
    compute=_compute,
    compute_block=_compute_block,
)
