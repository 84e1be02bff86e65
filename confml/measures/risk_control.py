"""Conformal risk control: a threshold whose expected loss on a new row is at most a limit.

Source: Angelopoulos, Bates, Fisch, Lei, Schuster, Conformal Risk Control, 2022. The expectation is over
calibration parts and new rows. There is no statement with probability 1 - delta, as a certificate has, and
none on the share of errors among accepted rows, which does not decrease with the threshold.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def risk_controlled_threshold(
    confidence, loss, thresholds: Sequence[float] | np.ndarray, limit: float, bound: float = 1.0
) -> float | None:
    """Return the smallest threshold with ``(sum of losses + bound) / (n + 1) <= limit``; None without one.

    confidence, loss: (n,) of the calibration rows; the loss of a row counts if its confidence is at least the
    threshold, and is at most ``bound``. thresholds: must not depend on the calibration rows. If these and a
    new row are exchangeable, the expected loss of the new row at the returned threshold (0 without one,
    because nothing is accepted) is at most ``limit``.
    """
    confidence, loss = np.asarray(confidence, dtype=np.float64), np.asarray(loss, dtype=np.float64)
    if confidence.shape != loss.shape or confidence.ndim != 1 or np.isnan(confidence).any():
        raise ValueError("confidence and loss must both have shape (n,), without NaN")
    if not np.all((loss >= 0) & (loss <= bound)):
        raise ValueError(f"losses must be from 0 to {bound}")
    tested = np.unique(np.asarray(thresholds, dtype=np.float64))
    order = np.argsort(confidence, kind="stable")
    # Sums from the end: losses of the rows at each place and after it.
    sums = np.append(np.cumsum(loss[order][::-1])[::-1], 0.0)
    totals = sums[np.searchsorted(confidence[order], tested, side="left")]
    fits = np.flatnonzero((totals + bound) / (len(loss) + 1) <= limit)
    return float(tested[fits[0]]) if len(fits) else None


def risk_controlled_thresholds(
    confidence: np.ndarray, loss: np.ndarray, thresholds: np.ndarray, limit: float
) -> list[float | None]:
    """Return `risk_controlled_threshold` of s calibration parts, computed together, for losses of 0 and 1.

    confidence, loss: (s, n) of the calibration parts. thresholds: (s, m).
    """
    tested = np.sort(thresholds, axis=1)
    totals = ((confidence[:, None, :] >= tested[:, :, None]) & (loss[:, None, :] > 0)).sum(axis=2)
    fits = (totals + 1.0) / (confidence.shape[1] + 1) <= limit
    values = tested[np.arange(len(tested)), fits.argmax(axis=1)].tolist()
    return [value if found else None for value, found in zip(values, fits.any(axis=1).tolist(), strict=True)]
