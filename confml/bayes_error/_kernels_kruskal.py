"""Kruskal's algorithm in layers: all orthogonal trees of a sorted edge list in one pass, and their tie bands.

An edge goes into the first layer in which it closes no circle. That makes layer t the minimum spanning forest
of the graph without the edges of layers 1..t-1 (Friedman and Rafsky 1979).
"""

import numpy as np

from confml._jit import kernel
from confml.bayes_error._kernels_disjoint_set import unite


@kernel
def layered_kruskal(n, layers, u, v, offset_u, split, offset_v):
    """Return the layer of each edge of a sorted list, or -1; and the number of edges in each layer.

    Positions from `split` on are counted from offset_v, the others from offset_u, so that two ranges of
    positions become 0..n-1.
    """
    parent = np.empty((layers, n), np.int32)
    for t in range(layers):
        for i in range(n):
            parent[t, i] = i
    layer = np.full(u.size, -1, np.int8)
    sizes = np.zeros(layers, np.int64)
    left = layers * (n - 1)
    for e in range(u.size):
        if left == 0:
            break
        a = u[e] - (offset_v if u[e] >= split else offset_u)
        b = v[e] - (offset_v if v[e] >= split else offset_u)
        for t in range(layers):
            if unite(parent[t], a, b):
                layer[e] = t
                sizes[t] += 1
                left -= 1
                break
    return layer, sizes


@kernel
def pick(u, v, d2, key, layer):
    """Return the edges with a layer (layer >= 0), in order."""
    n = 0
    for e in range(u.size):
        if layer[e] >= 0:
            n += 1
    u2, v2, t2 = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int8)
    w2, k2 = np.empty(n, np.float64), np.empty(n, np.int64)
    o = 0
    for e in range(u.size):
        if layer[e] >= 0:
            u2[o], v2[o], w2[o], k2[o], t2[o] = u[e], v[e], d2[e], key[e], layer[e]
            o += 1
    return u2, v2, w2, k2, t2


@kernel
def crossing_trees(layers, u, v, d2, key, layer, start_a, stop_a, start_b, stop_b):
    """Return the crossings of the orthogonal trees of two classes, out of a sorted list with each edge's
    layer.

    Returns crossings (layers,); least, most (layers,), the tie band of each tree; and the crossing edges of
    any of these trees as (u, v, d2, key) with position u in class a, v in class b.
    """
    na, n = stop_a - start_a, stop_a - start_a + stop_b - start_b
    crossings = np.zeros(layers, np.int64)
    keep = np.zeros(u.size, np.bool_)
    for e in range(u.size):
        if layer[e] >= 0 and u[e] < start_b and v[e] >= start_b:
            crossings[layer[e]] += 1
            keep[e] = True
    least, most = crossings.copy(), crossings.copy()
    if _mixed(u, v, d2, start_b):
        for t in range(layers):
            least[t], most[t] = _tie_band(n, t, layer, u, v, d2, start_a, start_b, start_b - na, keep)
    kept = 0
    for e in range(u.size):
        kept += keep[e]
    u2, v2 = np.empty(kept, np.int32), np.empty(kept, np.int32)
    w2, k2 = np.empty(kept, np.float64), np.empty(kept, np.int64)
    o = 0
    for e in range(u.size):
        if keep[e]:
            u2[o], v2[o], w2[o], k2[o] = u[e], v[e], d2[e], key[e]
            o += 1
    return crossings, least, most, u2, v2, w2, k2


@kernel
def _mixed(u, v, d2, split):
    """Return whether an inner and a crossing edge share a distance; otherwise all orders of equal distances
    give the same number of crossings.
    """
    start = 0
    while start < u.size:
        stop, inside, across = start, 0, 0
        while stop < u.size and d2[stop] == d2[start]:
            if u[stop] < split and v[stop] >= split:
                across += 1
            else:
                inside += 1
            stop += 1
        if across > 0 and inside > 0:
            return True
        start = stop
    return False


@kernel
def _tie_band(n, t, layer, u, v, d2, offset_u, split, offset_v, keep):
    """Return the least and most crossings that tree t can have under ties; marks the crossing edges of both
    in keep.

    The trees before t are fixed, and their edges are left out. Among equal distances, taking the edges inside
    classes first gives the least, taking them last the most (a spanning tree is a basis of a matroid, and
    this is its greedy algorithm).

    The list need not hold every edge of the graph. An edge that is not in it joins what shorter edges of
    layer t have joined already, or what equal edges of the same kind in the list do: those are in no layer
    before t either, as the layers of the union join whatever the layers of one class join.
    """
    low, high = np.arange(n), np.arange(n)
    least = most = 0
    start = 0
    joined = 1
    while start < u.size and joined < n:
        stop = start + 1
        while stop < u.size and d2[stop] == d2[start]:
            stop += 1
        for crossing_turn in range(2):
            for e in range(start, stop):
                if 0 <= layer[e] < t:
                    continue
                a = u[e] - (offset_v if u[e] >= split else offset_u)
                b = v[e] - (offset_v if v[e] >= split else offset_u)
                if (u[e] < split and v[e] >= split) == (crossing_turn == 1):
                    if unite(low, a, b):
                        joined += 1
                        if crossing_turn == 1:
                            least += 1
                            keep[e] = True
                elif unite(high, a, b) and crossing_turn == 0:
                    most += 1
                    keep[e] = True
        start = stop
    return least, most
