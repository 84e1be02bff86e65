"""Kernel of the worst slab: the interval of a projection with the smallest coverage."""

import numpy as np

from confml._jit import kernel


@kernel
def projections(X, direction):
    """Return (n,) the products of rows X (n, d) and a direction (d,), added in the order of the features.

    Equal rows have equal products. In a BLAS product the last digit of a row depends on its place, and equal
    rows could be inside and outside of one slab.
    """
    n, d = X.shape
    products = np.zeros(n)
    for i in range(n):
        for j in range(d):
            products[i] += X[i, j] * direction[j]
    return products


@kernel
def worst_interval(values, covered, least):
    """Return (share, first, last) of the interval of sorted values (n,) with the smallest share of covered.

    covered: (n,) 0 or 1 in the order of the values. least: smallest number of rows of an interval. Equal
    values are never divided. first, last: places of the end values. The share is 2 without such an interval.
    """
    n = values.size
    largest = run = 1
    for i in range(1, n):
        run = run + 1 if values[i] == values[i - 1] else 1
        largest = max(largest, run)
    # A longer interval divides into two with at least ``least`` rows, one of which is covered no better.
    most = 2 * least - 1 + largest
    best, first, last = 2.0, 0, 0
    for a in range(n):
        if a > 0 and values[a] == values[a - 1]:
            continue
        held = 0
        for b in range(a, min(n, a + most)):
            held += covered[b]
            rows = b - a + 1
            if rows >= least and (b + 1 == n or values[b + 1] != values[b]) and held < best * rows:
                best, first, last = held / rows, a, b
    return best, first, last
