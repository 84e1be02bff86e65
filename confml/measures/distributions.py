"""Distributions of `scipy.stats` by functions of `scipy.special`: the same numbers, to the last bit.

The import of `scipy.stats` takes longer than the report of a small run. That of `scipy.special` takes longer
than the predictions of a stored model, which need no distribution.
"""

import functools
import math
from types import SimpleNamespace
from typing import Any

import numpy as np


@functools.cache
def _binomial() -> Any:
    """Return an object with the functions ``_binom_pmf``, ``_binom_cdf`` and ``_binom_sf`` of (k, n, p).

    They are private to scipy; the public ones of `scipy.special` differ in the last bits. Versions of scipy
    without them have them in `scipy.stats`.
    """
    from scipy import special

    functions = getattr(special, "_ufuncs", None)
    if all(hasattr(functions, name) for name in ("_binom_pmf", "_binom_cdf", "_binom_sf")):
        return functions
    from scipy.stats import binom

    return SimpleNamespace(_binom_pmf=binom._pmf, _binom_cdf=binom._cdf, _binom_sf=binom._sf)


def binomial_pmf(k, n, p):
    """Return the probabilities of k successes in n trials; 0 <= k <= n."""
    return _binomial()._binom_pmf(k, n, p)


def binomial_cdf(k, n, p):
    """Return the probabilities of at most k successes in n trials; 0 <= k < n."""
    return np.clip(_binomial()._binom_cdf(k, n, p), 0, 1)


def beta_binomial_pmf(k, n, a, b):
    """Return the probabilities of k successes in n trials with a success rate from Beta(a, b)."""
    from scipy import special

    combinations = -np.log(n + 1) - special.betaln(n - k + 1, k + 1)
    return np.exp(combinations + special.betaln(k + a, n - k + b) - special.betaln(a, b))


def beta_quantile(q, a, b):
    """Return the quantiles at q of the distributions Beta(a, b)."""
    from scipy import special

    return special.betaincinv(a, b, q)


def student_quantile(q, df):
    """Return the quantiles at q of Student's t distributions with ``df`` degrees of freedom."""
    from scipy import special

    return special.stdtrit(df, q)


def student_sf(x, df):
    """Return the probabilities of more than x of Student's t distributions with ``df`` degrees of freedom."""
    from scipy import special

    return special.stdtr(df, -np.asarray(x))


def wilson(k: float, n: float, z: float = 1.959964) -> tuple[float, float]:
    """Return the 95 % interval of Wilson for a share k / n."""
    centre, spread = k / n + z * z / (2 * n), z * math.sqrt(k / n * (1 - k / n) / n + z * z / (4 * n * n))
    return (centre - spread) / (1 + z * z / n), (centre + spread) / (1 + z * z / n)
