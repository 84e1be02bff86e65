"""p-values of the hypothesis that a risk is above a limit, from a calibration part.

A p-value is at most u with probability at most u if the risk is above the limit and the calibration rows are
independent draws from the distribution of the new rows.
"""

from __future__ import annotations

import math

import numpy as np

_EXACT = 1e-9  # a sum of losses that is a whole number must not be rounded up by its last bit


def binomial_p_value(errors, accepted, risk: float) -> np.ndarray:
    """Return P(at most ``errors`` errors among ``accepted`` rows) at an error rate of ``risk``.

    errors, accepted: whole numbers of one shape. The p-value of "the error rate of accepted rows is above
    ``risk``"; 1 without accepted rows.
    """
    from scipy.special import bdtr

    errors, accepted = np.asarray(errors, dtype=np.int64), np.asarray(accepted, dtype=np.int64)
    return np.where(errors >= accepted, 1.0, bdtr(errors, accepted, risk))


def hoeffding_bentkus_p_value(losses, limit: float) -> float:
    """Return the Hoeffding-Bentkus p-value of "the expected loss is above ``limit``".

    losses: (n,) in [0, 1], in any order. ``min(exp(-n h(min(R, limit), limit)), e P(Bin(n, limit) <=
    ceil(sum)))`` with the mean loss R and h(a, b) the relative entropy. Losses of 0 and 1 only: the binomial
    p-value, which is smaller. Source: Angelopoulos, Bates, Candes, Jordan, Lei, Learn then Test, 2021.
    """
    losses = _checked(losses, limit)
    n, total = len(losses), math.fsum(losses)
    if not n:
        return 1.0
    whole = math.ceil(total - _EXACT)
    bentkus = float(binomial_p_value(whole, n, limit))
    if np.isin(losses, (0.0, 1.0)).all():
        return bentkus
    mean = min(total / n, limit)
    return min(1.0, math.exp(-n * _relative_entropy(mean, limit)), math.e * bentkus)


def betting_p_value(losses, limit: float, delta: float = 0.05) -> np.ndarray | float:
    """Return the betting p-value of "the expected loss is above ``limit``": 1 / the largest capital.

    losses: (n,) or (n, t) in [0, 1], one column per hypothesis; the rows must be in an order that does not
    depend on the losses, such as a random one. delta: the error probability that the bets are made for; the
    p-value is valid for every delta. Source: Waudby-Smith and Ramdas, Estimating means of bounded random
    variables by betting, 2024.
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


def _relative_entropy(a: float, b: float) -> float:
    """a ln(a / b) + (1 - a) ln((1 - a) / (1 - b)), with 0 ln 0 = 0."""
    first = a * math.log(a / b) if a > 0.0 else 0.0
    return first + ((1.0 - a) * math.log((1.0 - a) / (1.0 - b)) if a < 1.0 else 0.0)


def _checked(losses, limit: float) -> np.ndarray:
    losses = np.asarray(losses, dtype=np.float64)
    if not 0.0 < limit < 1.0:
        raise ValueError(f"the limit must be above 0 and below 1, got {limit}")
    if losses.ndim not in (1, 2) or not np.all((losses >= 0.0) & (losses <= 1.0)):
        raise ValueError("losses must be numbers from 0 to 1 of shape (n,) or (n, t)")
    return losses
