"""Certified operating points: a threshold whose risk is bounded for new examples, not only for those seen.

The largest coverage whose observed risk is at most r breaks r on new data in more than half of all trials.
Learn-then-Test (Angelopoulos et al. 2021) with a fixed sequence does not: thresholds on a grid that was
fixed without the calibration part are tried from strict to loose, each with the binomial test of
"its risk is above r", until the first that fails.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class OperatingPoint:
    """The loosest certified threshold, or None: accept confidences >= threshold.

    With probability at least 1 - delta over calibration parts, the accepted new examples (exchangeable with
    the calibration part) have risk at most ``risk``. accepted, errors, p_value: of the calibration part at
    the threshold; at the strictest one tried where none is certified. minimum: accepted examples
    without any error that are needed for any certificate.
    """

    threshold: float | None
    risk: float
    delta: float
    accepted: int
    errors: int
    p_value: float
    minimum: int

    def words(self) -> str:
        """One sentence for a report."""
        promise = f"risk at most {self.risk:g} with confidence {1 - self.delta:g}"
        if self.threshold is None:
            return (
                f"no threshold is certified for {promise}: the strictest one accepts {self.accepted}"
                f" calibration examples with {self.errors} errors, and at least {self.minimum} without an"
                " error are needed"
            )
        return f"confidence >= {self.threshold:.6g} is certified for {promise}"


def minimum_accepted(risk: float, delta: float) -> int:
    """The fewest accepted calibration examples, all of them right, that certify ``risk``.

    ceil(ln delta / ln(1 - risk)): 29, 59 and 299 for risks of 10, 5 and 1 % at delta = 5 %.
    """
    _check(risk, delta)
    return math.ceil(math.log(delta) / math.log1p(-risk) - 1e-12)


def threshold_grid(
    confidence, calibration_rows: int, risk: float, delta: float, size: int = 50
) -> np.ndarray:
    """(at most ``size``,) thresholds from strict to loose, by training-side confidences (m,) alone.

    They are quantiles of ``confidence`` (of inner cross-validation, say), evenly spaced in coverage. The
    strictest is expected to accept twice the `minimum_accepted` of ``calibration_rows`` examples, or all:
    stricter ones would fail for want of examples and end the sequence at once.
    """
    confidence = np.sort(np.asarray(confidence, dtype=np.float64))
    if confidence.ndim != 1 or not len(confidence) or np.isnan(confidence).any():
        raise ValueError("the grid needs a list of confidences without NaN")
    least = min(1.0, 2.0 * minimum_accepted(risk, delta) / max(calibration_rows, 1))
    coverages = np.linspace(least, 1.0, size)
    places = np.clip(np.ceil((1.0 - coverages) * len(confidence)).astype(int), 0, len(confidence) - 1)
    return np.unique(confidence[places])[::-1]


def certify(confidence, correct, grid, risk: float, delta: float = 0.05) -> OperatingPoint:
    """The loosest threshold of ``grid`` that a calibration part certifies.

    confidence, correct: (n,) of the calibration part, none of which was used to fit or to make the grid.
    A threshold accepting k examples, e of them wrong, passes if the probability of at most e errors in k
    at an error rate of ``risk`` is at most ``delta``. Raises ValueError for a grid that is not descending.
    """
    from scipy.stats import binom

    _check(risk, delta)
    confidence, correct = np.asarray(confidence, dtype=np.float64), np.asarray(correct, dtype=bool)
    grid = np.atleast_1d(np.asarray(grid, dtype=np.float64))
    if confidence.ndim != 1 or confidence.shape != correct.shape or np.isnan(confidence).any():
        raise ValueError("confidence and correct must be (n,) both, without NaN")
    if not len(grid) or not np.all(np.diff(grid) < 0):
        raise ValueError("the grid of thresholds must descend, from strict to loose")
    best = None
    minimum = minimum_accepted(risk, delta)
    for threshold in grid:
        accepted = confidence >= threshold
        k, e = int(accepted.sum()), int((accepted & ~correct).sum())
        p = float(binom.cdf(e, k, risk))
        if p > delta:
            return best or OperatingPoint(None, risk, delta, k, e, p, minimum)
        best = OperatingPoint(float(threshold), risk, delta, k, e, p, minimum)
    return best


def _check(risk: float, delta: float) -> None:
    for name, value in (("risk", risk), ("delta", delta)):
        if not 0.0 < value < 1.0:
            raise ValueError(f"{name} lies between 0 and 1, both excluded; got {value}")
