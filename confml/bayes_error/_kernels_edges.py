"""Edges in one total order: squared distance first, then the smaller and the larger row number.

An edge list is a set of parallel arrays ``u, v, d2, key``; ``key = smaller row number * 2**32 + larger``.
The order has no ties, so every minimal spanning tree in it is unique, whichever algorithm builds it.
"""

from __future__ import annotations

import numpy as np

from confml._jit import kernel

RUN = 16


@kernel
def edge_key(rank, i, j):
    """The number that orders edges of equal length; rank holds the row numbers of the positions i, j."""
    a, b = np.int64(rank[i]), np.int64(rank[j])
    return (a << 32) | b if a < b else (b << 32) | a


@kernel
def sorted_order(d2, key):
    """Positions that sort edges by (d2, key): a bottom-up merge sort over insertion-sorted runs."""
    n = d2.size
    order = np.arange(n)
    for start in range(0, n, RUN):
        for i in range(start + 1, min(start + RUN, n)):
            e = order[i]
            w, k = d2[e], key[e]
            j = i - 1
            while j >= start and (d2[order[j]] > w or (d2[order[j]] == w and key[order[j]] > k)):
                order[j + 1] = order[j]
                j -= 1
            order[j + 1] = e
    other = np.empty_like(order)
    width = RUN
    while width < n:
        for start in range(0, n, 2 * width):
            middle, stop = min(start + width, n), min(start + 2 * width, n)
            i, j, o = start, middle, start
            while i < middle and j < stop:
                a, b = order[i], order[j]
                if d2[a] < d2[b] or (d2[a] == d2[b] and key[a] <= key[b]):
                    other[o] = a
                    i += 1
                else:
                    other[o] = b
                    j += 1
                o += 1
            while i < middle:
                other[o] = order[i]
                i += 1
                o += 1
            while j < stop:
                other[o] = order[j]
                j += 1
                o += 1
        order, other = other, order
        width *= 2
    return order


@kernel
def take(u, v, d2, key, order):
    """The edge list in another order."""
    n = order.size
    u2, v2 = np.empty(n, np.int32), np.empty(n, np.int32)
    w2, k2 = np.empty(n, np.float64), np.empty(n, np.int64)
    for i in range(n):
        e = order[i]
        u2[i], v2[i], w2[i], k2[i] = u[e], v[e], d2[e], key[e]
    return u2, v2, w2, k2


@kernel
def merge(ua, va, da, ka, ub, vb, db, kb):
    """One sorted edge list out of two."""
    n, m = da.size, db.size
    u, v = np.empty(n + m, np.int32), np.empty(n + m, np.int32)
    d2, key = np.empty(n + m, np.float64), np.empty(n + m, np.int64)
    i = j = 0
    for o in range(n + m):
        if j == m or (i < n and (da[i] < db[j] or (da[i] == db[j] and ka[i] <= kb[j]))):
            u[o], v[o], d2[o], key[o] = ua[i], va[i], da[i], ka[i]
            i += 1
        else:
            u[o], v[o], d2[o], key[o] = ub[j], vb[j], db[j], kb[j]
            j += 1
    return u, v, d2, key


@kernel
def squared_distance(X, i, j):
    """Sum of squared differences of two rows, attribute after attribute, in float64."""
    total = 0.0
    for a in range(X.shape[1]):
        difference = X[i, a] - X[j, a]
        total += difference * difference
    return total
