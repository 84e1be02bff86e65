"""Edges in one total order: squared distance first, then the smaller and the larger row number.

An edge list is a set of parallel arrays ``u, v, d2, key``; ``key = smaller row number * 2**32 + larger``.
The order has no ties, so every minimum spanning tree in it is unique, whichever algorithm builds it.
"""

import numpy as np

from confml._jit import kernel


@kernel
def edge_key(rank, i, j):
    """Return the number that orders edges of equal length; rank has the row numbers of positions i, j."""
    a, b = np.int64(rank[i]), np.int64(rank[j])
    return (a << 32) | b if a < b else (b << 32) | a


def sorted_order(d2, key):
    """Return the positions that sort edges by (d2, key)."""
    order = np.argsort(d2)
    lengths = d2[order]
    same = lengths[1:] == lengths[:-1]
    if same.any():  # the edges of equal lengths are sorted again, at the places that they have together
        places = np.flatnonzero(np.append(same, False) | np.append(False, same))
        tied = order[places]
        order[places] = tied[np.lexsort([key[tied], d2[tied]])]
    return order


@kernel
def placed(positions, order, u, v, d2, key, layer):
    """Return an edge list in another order, with the ends positions[u], positions[v], the smaller one first,
    and the layers."""
    n = order.size
    u2, v2, layer2 = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int8)
    w2, k2 = np.empty(n, np.float64), np.empty(n, np.int64)
    for i in range(n):
        e = order[i]
        a, b = np.int32(positions[u[e]]), np.int32(positions[v[e]])
        u2[i], v2[i] = min(a, b), max(a, b)
        w2[i], k2[i], layer2[i] = d2[e], key[e], layer[e]
    return u2, v2, w2, k2, layer2


@kernel
def take(u, v, d2, key, order):
    """Return the edge list in another order."""
    n = order.size
    u2, v2 = np.empty(n, np.int32), np.empty(n, np.int32)
    w2, k2 = np.empty(n, np.float64), np.empty(n, np.int64)
    for i in range(n):
        e = order[i]
        u2[i], v2[i], w2[i], k2[i] = u[e], v[e], d2[e], key[e]
    return u2, v2, w2, k2


@kernel
def merge(ua, va, da, ka, ub, vb, db, kb):
    """Merge two sorted edge lists."""
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
