"""Distributions of the tests and bands of a report, by SciPy."""

import numpy as np


def binomial_pmf(k, n, p):
    """Return the probabilities of k successes in n trials; 0 <= k <= n."""
    from scipy.stats import binom

    return binom.pmf(k, n, p)


def binomial_cdf(k, n, p):
    """Return the probabilities of at most k successes in n trials; 0 <= k < n."""
    from scipy.stats import binom

    return binom.cdf(k, n, p)


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


def clopper_pearson(k: int, n: int) -> tuple[float, float]:
    """Return the 95 % interval of Clopper and Pearson for a share k / n."""
    tail = (1 - 0.95) / 2  # 0.025 would change the last digit of stored intervals
    low = float(beta_quantile(tail, k, n - k + 1)) if k else 0.0
    high = float(beta_quantile(1 - tail, k + 1, n - k)) if k < n else 1.0
    return low, high
