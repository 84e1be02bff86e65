"""Exchangeability martingales from the smoothed p-values of an online pass.

If examples are exchangeable, the smoothed p-values p_1, p_2, ... of the true labels are independent and
uniform on [0, 1]. The capital of a bet against this, starting at 1, is then a martingale: it ever reaches C
with probability at most 1/C (Ville's inequality). Large values are evidence against exchangeability. All
values are computed as decimal logarithms.

Source: Vovk, Nouretdinov, Gammerman, Testing exchangeability on-line, ICML 2003; Vovk, Gammerman, Shafer,
Algorithmic Learning in a Random World, 2005, section 7.1.
"""

import math
from collections.abc import Iterator

import numpy as np

from confml.measures.case import Case
from confml.measures.measure import Measure, Row
from confml.measures.metric import Metric
from confml.measures.p_values import has_counts, is_online

SOURCE = "Vovk, Nouretdinov and Gammerman 2003"
POWER = 0.92  # the epsilon of the power martingale in both sources
_LEAST = 2.0**-1022  # a p-value of exactly 0 (one draw in 2^53) would make the martingale infinite


def power_martingale(p: np.ndarray, epsilon: float = POWER) -> np.ndarray:
    """Return (n,) log10 of ``prod epsilon p_i^(epsilon - 1)`` after each p-value (n,); 0 < epsilon <= 1.

    Raises ValueError otherwise.
    """
    if not 0 < epsilon <= 1:
        raise ValueError(f"epsilon must be above 0 and at most 1, got {epsilon}")
    return np.cumsum(math.log10(epsilon) + (epsilon - 1) * np.log10(_positive(p)))


def simple_mixture(p: np.ndarray) -> np.ndarray:
    """Return (n,) log10 of the mean of `power_martingale` over epsilon in [0, 1], after each p-value.

    With S = -sum of ln p_i it is the integral of ``e^n exp(S (1 - e))`` over e, which is
    ``exp(S) gamma(n + 1, S) / S^(n + 1)`` with the lower incomplete gamma function, or the series
    ``sum over i of S^i / ((n + 1) (n + 2) ... (n + 1 + i))``, which is used if gamma would be tiny.
    """
    from scipy.special import gammainc, gammaln

    S = np.cumsum(-np.log(_positive(p)))
    n = np.arange(1.0, len(S) + 1)
    logs = np.empty(len(S))
    large = n + 1 < S
    if large.any():
        s, m = S[large], n[large] + 1
        logs[large] = s + np.log(gammainc(m, s)) + gammaln(m) - m * np.log(s)
    logs[~large] = np.log(_series(S[~large], n[~large]))
    return logs / math.log(10)


def _series(S: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Return the series of `simple_mixture` for S <= n + 1; its terms are positive and decreasing."""
    term = 1 / (n + 1)
    total = term.copy()
    number = 1
    while np.any(term > 1e-17 * total):
        term = term * (S / (n + 1 + number))
        total += term
        number += 1
    return total


def _positive(p: np.ndarray) -> np.ndarray:
    p = np.asarray(p, dtype=np.float64)
    if np.any(~((p >= 0) & (p <= 1))):
        raise ValueError("p-values must be between 0 and 1")
    return np.maximum(p, _LEAST)


def online_p_values(case: Case) -> np.ndarray | None:
    """Return the smoothed p-values (n,) of the true labels of an online pass; None for another case.

    Each is against the examples before it; they are independent and uniform if these are exchangeable.
    """
    return case.smoothed if is_online(case.prediction) and has_counts(case.prediction) else None


def rows(case: Case) -> Iterator[Row]:
    """Yield the two martingales at the end of an online pass."""
    p = online_p_values(case)
    if p is not None and len(p):
        yield Row("log10_mixture_martingale", None, float(simple_mixture(p)[-1]))
        yield Row("log10_power_martingale", None, float(power_martingale(p)[-1]))


MEASURE = Measure(
    metrics={
        "log10_mixture_martingale": Metric(
            "log10 of the simple mixture martingale at the end of an online pass",
            None,
            "log10 of the integral over e in [0, 1] of the product of e p_i^(e - 1)",
            SOURCE,
        ),
        "log10_power_martingale": Metric(
            f"log10 of the power martingale (epsilon {POWER}) at the end",
            None,
            f"sum of log10({POWER} p_i^({POWER} - 1))",
            SOURCE,
        ),
    },
    rows=rows,
)
