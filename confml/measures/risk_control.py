"""Control of a risk from a calibration part: tests of the hypothesis that it is too large, and thresholds.

A p-value of a test is at most u with probability at most u if the risk is above the limit and the calibration
rows are independent draws from the distribution of the new rows.

Conformal risk control (Angelopoulos, Bates, Fisch, Lei, Schuster 2022) bounds the expected loss of a new row.
The expectation is over calibration parts and new rows. There is no statement with probability 1 - delta, as a
certificate has, and none on the share of errors among accepted rows, which need not decrease with the
threshold.
"""

import math
from collections.abc import Sequence

import numpy as np


def risk_controlled_threshold(
    confidence, loss, thresholds: Sequence[float] | np.ndarray, limit: float, bound: float = 1.0
) -> float | None:
    """Return the smallest threshold with ``(sum of losses + bound) / (n + 1) <= limit``; None without one.

    confidence, loss: (n,) of the calibration rows; the loss of a row counts if its confidence is at least the
    threshold, and is at most ``bound``. thresholds: must not depend on the calibration rows. If these and a
    new row are exchangeable, the expected loss of the new row at the returned threshold (0 without one,
    because nothing is accepted) is at most ``limit``. Raises ValueError for losses of another range.
    """
    confidence, loss = np.asarray(confidence, dtype=np.float64), np.asarray(loss, dtype=np.float64)
    if confidence.shape != loss.shape or confidence.ndim != 1 or np.isnan(confidence).any():
        raise ValueError("confidence and loss must both have shape (n,), without NaN")
    if not np.all((loss >= 0) & (loss <= bound)):
        raise ValueError(f"losses must be from 0 to {bound}")
    tested = np.asarray(thresholds, dtype=np.float64)
    return risk_controlled_thresholds(confidence[None], loss[None], tested[None], limit, bound)[0]


def risk_controlled_thresholds(
    confidence: np.ndarray, loss: np.ndarray, thresholds: np.ndarray, limit: float, bound: float = 1.0
) -> list[float | None]:
    """Return `risk_controlled_threshold` of s calibration parts, computed together.

    confidence, loss: (s, n) of the calibration parts. thresholds: (s, m).
    """
    tested, order = np.sort(thresholds, axis=1), np.argsort(confidence, axis=1, kind="stable")
    # Sums from the end: losses of the rows at each place and after it.
    sums = np.zeros((len(loss), loss.shape[1] + 1))
    sums[:, :-1] = np.cumsum(np.take_along_axis(loss, order, axis=1)[:, ::-1], axis=1)[:, ::-1]
    ordered = np.take_along_axis(confidence, order, axis=1)
    places = np.stack([one.searchsorted(at) for one, at in zip(ordered, tested, strict=True)])
    fits = (np.take_along_axis(sums, places, axis=1) + bound) / (loss.shape[1] + 1) <= limit
    values = tested[np.arange(len(tested)), fits.argmax(axis=1)].tolist()
    return [value if found else None for value, found in zip(values, fits.any(axis=1).tolist(), strict=True)]


def binomial_p_value(errors, accepted, risk: float) -> np.ndarray:
    """Return P(at most ``errors`` errors among ``accepted`` rows) at an error rate of ``risk``.

    errors, accepted: whole numbers of one shape. The p-value of "the error rate of accepted rows is above
    ``risk``"; 1 without accepted rows.
    """
    from scipy.special import bdtr

    errors, accepted = np.asarray(errors, dtype=np.int64), np.asarray(accepted, dtype=np.int64)
    return np.where(errors >= accepted, 1.0, bdtr(errors, accepted, risk))


def betting_p_value(losses, limit: float, delta: float = 0.05) -> np.ndarray | float:
    """Return the betting p-value of "the expected loss is above ``limit``": 1 / the largest capital.

    losses: (n,) or (n, t) in [0, 1], one column per hypothesis; the rows must be in an order that does not
    depend on the losses, such as a random one. delta: the error probability that the bets are made for; the
    p-value is valid for every delta. Source: Waudby-Smith and Ramdas, Estimating means of bounded random
    variables by betting, 2024. Raises ValueError for numbers out of range.
    """
    losses = _checked(losses, limit)
    if not 0.0 < delta < 1.0:
        raise ValueError(f"delta must be above 0 and below 1, got {delta}")
    n = len(losses)
    if not n:
        return np.ones(losses.shape[1:]) if losses.ndim == 2 else 1.0
    seen = np.arange(1, n + 1, dtype=np.float64).reshape(-1, *[1] * (losses.ndim - 1))
    mean = (0.5 + np.cumsum(losses, axis=0)) / (seen + 1.0)
    variance = (0.25 + np.cumsum((losses - mean) ** 2, axis=0)) / (seen + 1.0)
    before = np.concatenate([np.full_like(variance[:1], 0.25), variance[:-1]])
    bets = np.minimum(1.0, np.sqrt(2.0 * math.log(1.0 / delta) / (n * before)))
    capital = np.cumsum(np.log1p(-bets * (losses - limit)), axis=0)
    p = np.exp(-np.maximum(capital.max(axis=0), 0.0))
    return p if losses.ndim == 2 else float(p)


def _checked(losses, limit: float) -> np.ndarray:
    losses = np.asarray(losses, dtype=np.float64)
    if not 0.0 < limit < 1.0:
        raise ValueError(f"the limit must be above 0 and below 1, got {limit}")
    if losses.ndim not in (1, 2) or not np.all((losses >= 0.0) & (losses <= 1.0)):
        raise ValueError("losses must be numbers from 0 to 1 of shape (n,) or (n, t)")
    return losses
