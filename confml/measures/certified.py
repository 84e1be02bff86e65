"""Certified operating points: thresholds whose selective risk is bounded for new examples.

A threshold chosen for the largest coverage with an observed risk of at most r exceeds r on new data in more
than half of all trials. Learn-then-Test (Angelopoulos et al. 2021) with a fixed sequence keeps the bound:
the thresholds of a grid, chosen without the calibration part, are tested from strict to loose with the
binomial test of "the risk is above r", up to the first test that fails.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np

from confml.measures.distributions import binomial_cdf


@dataclass(frozen=True)
class OperatingPoint:
    """The loosest certified threshold, or None: accept confidences >= threshold.

    With probability at least 1 - delta over calibration parts, either no threshold is certified or the
    accepted new examples have risk at most ``risk``, if calibration and new examples are independent draws
    from one distribution. accepted, errors, p_value: of the calibration part at the threshold, or at the
    strictest threshold tested if none is certified. minimum: number of accepted examples without an error
    that any certificate needs.
    """

    threshold: float | None
    risk: float
    delta: float
    accepted: int
    errors: int
    p_value: float
    minimum: int


def minimum_accepted(risk: float, delta: float) -> int:
    """Return the smallest number of accepted calibration examples, all correct, that certifies ``risk``.

    ceil(ln delta / ln(1 - risk)): 29, 59 and 299 for risks of 10, 5 and 1 % at delta = 5 %.
    """
    _check(risk, delta)
    return math.ceil(math.log(delta) / math.log1p(-risk) - 1e-12)


def threshold_grid(
    confidence, calibration_rows: int, risk: float, delta: float, size: int = 50
) -> np.ndarray:
    """Return (at most ``size``,) thresholds from strict to loose, from confidences (m,) without labels.

    They are quantiles of ``confidence`` (from inner cross-validation, for example), evenly spaced in
    coverage. The strictest is expected to accept twice the `minimum_accepted` of ``calibration_rows``
    examples, or all: stricter ones would have too few examples and end the sequence at the first test. Raises
    ValueError without confidences.
    """
    confidence = np.asarray(confidence, dtype=np.float64)
    if confidence.ndim != 1 or not len(confidence) or np.isnan(confidence).any():
        raise ValueError("confidence must be a nonempty list of numbers without NaN")
    grid = threshold_grids(confidence[None], calibration_rows, risk, delta, size)[0]
    return grid[np.append(True, grid[1:] != grid[:-1])]


@functools.lru_cache(maxsize=1024)  # of the few sizes of the splits of a run
def _places(rows: int, calibration_rows: int, risk: float, delta: float, size: int) -> np.ndarray:
    """Return the places of the thresholds among the sorted confidences; different ones only."""
    least = min(1.0, 2.0 * minimum_accepted(risk, delta) / max(calibration_rows, 1))
    coverages = np.linspace(least, 1.0, size)
    return np.unique(np.clip(np.ceil((1.0 - coverages) * rows).astype(int), 0, rows - 1))


def certify(confidence, correct, grid, risk: float, delta: float = 0.05) -> OperatingPoint:
    """Return the loosest threshold of ``grid`` that a calibration part certifies.

    confidence, correct: (n,) of the calibration part, which must not be used to fit or to choose the grid.
    A threshold that accepts k examples with e errors passes if the probability of at most e errors in k
    examples at an error rate of ``risk`` is at most ``delta``. Raises ValueError for an unsorted grid.
    """
    _check(risk, delta)
    confidence, correct = np.asarray(confidence, dtype=np.float64), np.asarray(correct, dtype=bool)
    grid = np.atleast_1d(np.asarray(grid, dtype=np.float64))
    if confidence.ndim != 1 or confidence.shape != correct.shape or np.isnan(confidence).any():
        raise ValueError("confidence and correct must both have shape (n,), without NaN")
    if not len(grid) or not np.all(np.diff(grid) < 0):
        raise ValueError("the grid of thresholds must be strictly decreasing")
    return _points(confidence[None], correct[None], grid[None], risk, delta)[0]


def certify_all(
    confidence: np.ndarray, correct: np.ndarray, others: np.ndarray, risk: float, delta: float = 0.05
) -> list[OperatingPoint]:
    """Return `certify` of s calibration parts with the grids of `threshold_grid`, computed together.

    confidence, correct: (s, n) of the calibration parts. others: (s, m) confidences of the grids.
    """
    thresholds = threshold_grids(others, confidence.shape[1], risk, delta)
    return _points(confidence, correct, thresholds, risk, delta)


def _points(
    confidence: np.ndarray, correct: np.ndarray, thresholds: np.ndarray, risk: float, delta: float
) -> list[OperatingPoint]:
    accepted, errors = counts_at(confidence, correct, thresholds)
    p: np.ndarray = _binomial(errors.ravel(), accepted.ravel(), risk).reshape(errors.shape)
    failing = p > delta
    # Equal thresholds of a grid have equal counts, so any of them is the point.
    passed = np.where(failing.any(axis=1), failing.argmax(axis=1), p.shape[1])
    at = (np.arange(len(p)), np.maximum(passed - 1, 0))
    least = minimum_accepted(risk, delta)
    columns: list[np.ndarray] = [thresholds[at], passed > 0, accepted[at], errors[at], p[at]]
    points = []
    for threshold, exists, k, e, p_value in zip(*(column.tolist() for column in columns), strict=True):
        points.append(OperatingPoint(threshold if exists else None, risk, delta, k, e, p_value, least))
    return points


def threshold_grids(
    confidence: np.ndarray, calibration_rows: int, risk: float, delta: float, size: int = 50
) -> np.ndarray:
    """Return `threshold_grid` of each row of (s, m) confidences as (s, t), with equal thresholds kept."""
    ranks = _places(confidence.shape[1], calibration_rows, risk, delta, size)
    return np.sort(confidence, axis=1)[:, ranks[::-1]]


def counts_at(
    confidence: np.ndarray, correct: np.ndarray, thresholds: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the (s, t) numbers of rows with confidence >= each threshold, and of errors among them.

    confidence, correct: (s, n). thresholds: (s, t), from strict to loose. Raises ValueError if they increase.
    """
    if (thresholds[:, 1:] > thresholds[:, :-1]).any():
        raise ValueError("thresholds must be decreasing")
    s, t = thresholds.shape
    first = np.zeros(confidence.shape, dtype=np.int64)  # the first threshold that accepts each row
    for column in thresholds.T:
        first += column[:, None] > confidence
    bins = np.arange(s)[:, None] * (t + 1) + first
    accepted, errors = (
        np.bincount(some, minlength=s * (t + 1)).reshape(s, t + 1).cumsum(axis=1)[:, :t]
        for some in (bins.ravel(), bins[~correct])
    )
    return accepted, errors


def _binomial(errors: np.ndarray, accepted: np.ndarray, risk: float) -> np.ndarray:
    """Return P(at most ``errors`` errors in ``accepted`` examples)."""
    chances = np.ones(len(errors))
    inside = errors < accepted
    if inside.any():
        chances[inside] = binomial_cdf(errors[inside], accepted[inside], risk)
    return chances


def _check(risk: float, delta: float) -> None:
    for name, value in (("risk", risk), ("delta", delta)):
        if not 0.0 < value < 1.0:
            raise ValueError(f"{name} must be above 0 and below 1, got {value}")
