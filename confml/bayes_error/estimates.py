"""Bayes error rates from crossings of spanning trees: (3) to (9) of van den Burg and Hero (2017)."""

import numpy as np

COUNTS = ("all", "nontrivial")


def largest_crossings(n, smaller_prior):
    """Return gamma of equation (8): the crossings at which the estimate equals the smaller prior.

    n: rows of both classes; smaller_prior: min(p, q). gamma = 2 n pm - 3/4 n + 1/4 n sqrt(9 - 16 pm).
    """
    n, pm = np.asarray(n, dtype=float), np.asarray(smaller_prior, dtype=float)
    return 2 * n * pm - 0.75 * n + 0.25 * n * np.sqrt(9 - 16 * pm)


def bayes_error_from_crossings(crossings, m, n, *, correct_bias=True, normalise=True):
    """Return estimate, lower and upper bound of the Bayes error of two classes with m and n rows.

    crossings: R, the edges between the classes, possibly a mean over orthogonal trees; arrays broadcast. With
    u = 1 - 2R/(m + n), clipped at 0 ((3) and (5) put together): lower = 1/2 - sqrt(u)/2 and upper = 1/2 - u/2
    (4), estimate = their mean (6); correct_bias: R is replaced by min(gamma, R) (7), (8); normalise: the
    estimate, not the bounds, is divided by min(m, n)/(m + n) (9), the largest possible Bayes error, and is
    therefore in [0, 1]. NaN if a class has no rows.
    """
    m, n = np.asarray(m, dtype=float), np.asarray(n, dtype=float)
    total = m + n
    with np.errstate(invalid="ignore", divide="ignore"):
        pm = np.minimum(m, n) / total
        crossings = np.asarray(crossings, dtype=float)
        if correct_bias:
            crossings = np.minimum(largest_crossings(total, pm), crossings)
        u = np.maximum(1 - 2 * crossings / total, 0.0)
        lower, upper = 0.5 - 0.5 * np.sqrt(u), 0.5 - 0.5 * u
        estimate = 0.5 - 0.25 * np.sqrt(u) - 0.25 * u
        # with R = gamma the estimate is pm except for rounding
        estimate = np.minimum(estimate, pm) if correct_bias else estimate
        if normalise:
            estimate = estimate / pm
    empty = (m == 0) | (n == 0)
    return tuple(np.where(empty, np.nan, values) for values in (estimate, lower, upper))
