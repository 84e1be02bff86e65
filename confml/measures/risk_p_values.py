"""Tests of the hypothesis that a risk is above a limit, from a calibration part.

A p-value is at most u with probability at most u if the risk is above the limit and the calibration rows are
independent draws from the distribution of the new rows.
"""

import math

import numpy as np


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
