"""Which edges between two sets of rows can lie in a spanning tree of both: bounds, filter, exact distances.

Let h(u) be the bottleneck between u and the root of its own set's tree. An edge (u, v) longer than max(d(u,
v'), h(v'), h(v)) for any other v' is no tree edge: u - v' - root - v joins its ends by shorter edges. The
same holds from v's side, and for any shorter crossing (u', v') with max(d(u', v'), h(u'), h(v'), h(u), h(v)).
With several layers a row needs as many such v' as it has crossing edges in earlier layers, and one more.

Distances of the filter are float32 products with a margin on the safe side; those of the survivors are exact.
"""

import numpy as np

from confml._jit import kernel
from confml.bayes_error._kernels_edges import edge_key
from confml.neighbours.distances import squared_distance_of_rows

LANES = 32
GROUPS = 16
WORDS = 8
"""Pairs of float32 in a block of the filter."""
SIGNS = np.int64(-0x7FFFFFFF80000000)
"""The sign bits of two float32."""


@kernel
def lower_minima(product, up_u, up_v, h_u, h_v, lanes, groups):
    """Fold a tile of products -2 u.v into the minima over v of max(d, h(v)), and over u of max(d, h(u)).

    product (a, b) float32; up_u, up_v: squared norms plus margin; lanes (a, LANES): minima of the columns
    with the same remainder, so that the m smallest of them are m different v; groups (GROUPS, b) the same for
    rows.
    """
    a, b = product.shape
    whole = b - b % LANES
    for i in range(a):
        row, lane, group = product[i], lanes[i], groups[i % GROUPS]
        base, h = up_u[i], h_u[i]
        for j in range(0, whole, LANES):
            for k in range(LANES):
                d = row[j + k] + (up_v[j + k] + base)
                x = d if d > h_v[j + k] else h_v[j + k]
                lane[k] = x if x < lane[k] else lane[k]
                y = d if d > h else h
                group[j + k] = y if y < group[j + k] else group[j + k]
        for j in range(whole, b):
            k = j - whole
            d = row[j] + (up_v[j] + base)
            x = d if d > h_v[j] else h_v[j]
            lane[k] = x if x < lane[k] else lane[k]
            y = d if d > h else h
            group[j] = y if y < group[j] else group[j]


@kernel
def _smallest_of_rows(values, m):
    """Return the m-th smallest (m counts from 1) of each column of a (few, n) array: (n,)."""
    few, n = values.shape
    held = np.full((m, n), np.float32(np.inf), np.float32)
    for i in range(few):
        row = values[i].copy()
        for k in range(m):
            best = held[k]
            for j in range(n):
                x, y = row[j], best[j]
                best[j] = x if x < y else y
                row[j] = y if x < y else x
    return held[m - 1]


@kernel
def thresholds(lanes, groups, h_u, h_v, m):
    """Return the bounds of the filter: (u, v) can matter only if d <= max(alpha(u), h(v)) and d <=
    max(beta(v), h(u)).

    alpha = min(own_u, max(shortest, h_u)), beta = min(own_v, max(shortest, h_v)), with own_u the m-th
    smallest max(d, h(v)) and shortest the smallest max(own_u, h_u). Returns own_u, own_v, shortest.
    """
    own_u, own_v = _smallest_of_rows(lanes.T.copy(), m), _smallest_of_rows(groups, m)
    shortest = np.float32(np.inf)
    for i in range(own_u.size):
        shortest = min(shortest, max(own_u[i], h_u[i]))
    for j in range(own_v.size):
        shortest = min(shortest, max(own_v[j], h_v[j]))
    return own_u, own_v, shortest


@kernel
def capped(threshold, shortest, h):
    """Return alpha or beta of `thresholds`."""
    bound = np.empty(threshold.size, np.float32)
    for i in range(threshold.size):
        bound[i] = min(threshold[i], max(shortest, h[i]))
    return bound


@kernel
def witnessed(layers, layer, edges, sides, bounds, m):
    """Return whether the bounds also hold in the later trees: each has a witness that no earlier tree has
    used.

    edges: u, v, d2 of the candidates, with the layer that `layered_kruskal` gave them. sides: of each set of
    the bounds, its first position and the numbers in the set of the positions from there on, -1 outside.
    bounds: own_u, own_v, shortest, as `thresholds` returned them for m witnesses, h_u and h_v. A bound that
    rests on m edges is safe at a row with fewer than m edges in the trees before the last; otherwise one of
    the row's unused candidates has to be short enough.
    """
    u, v, d2 = edges
    (start_u, index_u), (start_v, index_v) = sides
    own_u, own_v, shortest, h_u, h_v = bounds
    used_u, used_v = np.zeros(own_u.size, np.int32), np.zeros(own_v.size, np.int32)
    for e in range(u.size):
        i, j = u[e] - start_u, v[e] - start_v
        if not (0 <= layer[e] < layers - 1 and 0 <= i < index_u.size and 0 <= j < index_v.size):
            continue
        i, j = index_u[i], index_v[j]
        if i >= 0 and j >= 0:
            used_u[i] += 1
            used_v[j] += 1
    most_u, most_v = 0, 0
    for i in range(own_u.size):
        most_u = max(most_u, used_u[i])
    for j in range(own_v.size):
        most_v = max(most_v, used_v[j])
    if most_u < m and most_v < m:
        return True
    free_u, free_v = used_u < m, used_v < m
    any_edge = False
    for i in range(own_u.size):
        any_edge = any_edge or (free_u[i] and max(own_u[i], h_u[i]) <= shortest)
    for j in range(own_v.size):
        any_edge = any_edge or (free_v[j] and max(own_v[j], h_v[j]) <= shortest)
    for e in range(u.size):
        i, j = u[e] - start_u, v[e] - start_v
        if 0 <= layer[e] < layers - 1 or not (0 <= i < index_u.size and 0 <= j < index_v.size):
            continue
        i, j = index_u[i], index_v[j]
        if i >= 0 and j >= 0:
            if d2[e] <= own_u[i] and h_v[j] <= own_u[i]:
                free_u[i] = True
            if d2[e] <= own_v[j] and h_u[i] <= own_v[j]:
                free_v[j] = True
            if d2[e] <= shortest and h_u[i] <= shortest and h_v[j] <= shortest:
                any_edge = True
    if not any_edge:
        return False
    for i in range(own_u.size):
        if not free_u[i] and own_u[i] < max(shortest, h_u[i]):
            return False
    for j in range(own_v.size):
        if not free_v[j] and own_v[j] < max(shortest, h_v[j]):
            return False
    return True


@kernel
def survivors(product, low_u, low_v, h_u, h_v, alpha, beta, limit):
    """Return the positions (i, j) of a tile that pass the filter, as two arrays; empty ones of size limit + 1
    if too many.
    """
    a, b = product.shape
    found = 0
    capacity = 4 * (a + b)
    ii, jj = np.empty(capacity, np.int32), np.empty(capacity, np.int32)
    # how far below its threshold each distance is; most blocks of a row are passed over by their sign bits
    blocks = (b + 2 * WORDS - 1) // (2 * WORDS)
    room = np.full(blocks * 2 * WORDS, np.float32(-1), np.float32)
    words = room.view(np.int64)
    for i in range(a):
        row = product[i]
        base, h, most = low_u[i], h_u[i], alpha[i]
        if found + b > capacity:
            capacity = 2 * capacity + b
            grown_i, grown_j = np.empty(capacity, np.int32), np.empty(capacity, np.int32)
            for e in range(found):
                grown_i[e], grown_j[e] = ii[e], jj[e]
            ii, jj = grown_i, grown_j
        for j in range(b):
            d = row[j] + (low_v[j] + base)
            x = most if most > h_v[j] else h_v[j]
            y = beta[j] if beta[j] > h else h
            room[j] = (x if x < y else y) - d
        for block in range(blocks):
            all_bits = SIGNS
            for w in range(block * WORDS, (block + 1) * WORDS):
                all_bits &= words[w]
            if all_bits != SIGNS:
                for j in range(2 * WORDS * block, min(2 * WORDS * (block + 1), b)):
                    if room[j] >= 0:
                        ii[found], jj[found] = i, j
                        found += 1
        if found > limit:
            return ii[: limit + 1], jj[: limit + 1]
    return ii[:found], jj[:found]


@kernel
def exact_edges(X, rank, ii, jj, positions_u, positions_v):
    """Return edge list of positions_u[ii], positions_v[jj] with exact squared distances."""
    n = ii.size
    u, v = np.empty(n, np.int32), np.empty(n, np.int32)
    d2, key = np.empty(n, np.float64), np.empty(n, np.int64)
    for e in range(n):
        i, j = positions_u[ii[e]], positions_v[jj[e]]
        u[e], v[e] = i, j
        d2[e] = squared_distance_of_rows(X, i, X, j)
        key[e] = edge_key(rank, i, j)
    return u, v, d2, key
