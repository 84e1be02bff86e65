"""Certified operating points: thresholds whose selective risk is bounded for new examples.

A threshold chosen for the largest coverage with an observed risk of at most r exceeds r on new data in more
than half of all trials. Learn-then-Test (Angelopoulos et al. 2021) with a fixed sequence keeps the bound:
the thresholds of a grid, chosen without the calibration part, are tested from strict to loose with the
binomial test of "the risk is above r", up to the first test that fails.
"""

import math
from dataclasses import dataclass

import numpy as np


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
    rows = len(confidence)
    least = min(1.0, 2.0 * minimum_accepted(risk, delta) / max(calibration_rows, 1))
    coverages = np.linspace(least, 1.0, size)
    ranks = np.clip(np.ceil((1.0 - coverages) * rows).astype(int), 0, rows - 1)
    return np.unique(np.sort(confidence)[ranks])[::-1]


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
    accepted, errors = counts_at(confidence, correct, grid)
    p_values = binomial_p_value(errors, accepted, risk)
    failing = p_values > delta
    passed = int(failing.argmax()) if failing.any() else len(grid)
    at = max(passed - 1, 0)
    counts = int(accepted[at]), int(errors[at]), float(p_values[at])
    threshold = float(grid[at]) if passed else None
    return OperatingPoint(threshold, risk, delta, *counts, minimum_accepted(risk, delta))


def counts_at(
    confidence: np.ndarray, correct: np.ndarray, thresholds: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the (t,) numbers of rows with confidence >= each threshold, and of errors among them."""
    accepted, errors = (
        len(values) - np.searchsorted(np.sort(values), thresholds)
        for values in (confidence, confidence[~correct])
    )
    return accepted, errors


def binomial_p_value(errors, accepted, risk: float) -> np.ndarray:
    """Return P(at most ``errors`` errors among ``accepted`` rows) at an error rate of ``risk``.

    errors, accepted: whole numbers of one shape. It is the p-value of "the error rate of accepted rows is
    above ``risk``", if the calibration rows are independent draws from the distribution of the new rows; 1
    without accepted rows.
    """
    from scipy.special import bdtr

    errors, accepted = np.asarray(errors, dtype=np.int64), np.asarray(accepted, dtype=np.int64)
    return np.where(errors >= accepted, 1.0, bdtr(errors, accepted, risk))


def _check(risk: float, delta: float) -> None:
    for name, value in (("risk", risk), ("delta", delta)):
        if not 0.0 < value < 1.0:
            raise ValueError(f"{name} must be above 0 and below 1, got {value}")
