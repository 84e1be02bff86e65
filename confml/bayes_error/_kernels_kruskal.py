"""Edges in one total order, and Kruskal's algorithm in layers: orthogonal trees and their tie bands.

Edges are ordered by squared distance, then by the smaller row number, then by the larger one. No two edges
are equal in this order, so the minimum spanning tree in it is unique, whichever algorithm builds it.
"""

import numpy as np

from confml._jit import kernel

LAST = np.int64(0x7FFFFFFFFFFFFFFF)
"""Number after all keys of edges."""


@kernel
def edge_key(rank, i, j):
    """Return the number that orders edges of equal length; rank has the row numbers of positions i, j."""
    a, b = np.int64(rank[i]), np.int64(rank[j])
    return (a << 32) | b if a < b else (b << 32) | a


@kernel
def before(d2, key, second_d2, second_key):
    """Return whether an edge comes before another one."""
    return d2 < second_d2 or (d2 == second_d2 and key < second_key)


@kernel
def find(parent, x):
    """Return the representative of x's set; the path to it is halved on the way."""
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@kernel
def unite(parent, x, y):
    """Unite the sets of x and y; False if they were one already."""
    x, y = find(parent, x), find(parent, y)
    if x < y:
        parent[y] = x
    else:
        parent[x] = y
    return x != y


@kernel
def layered_kruskal(n, layers, u, v, d2):
    """Return the layer (E,) of each of the edges between rows 0 to n - 1 in their order, -1 for none, and
    (E,) bool: edges whose ends no shorter edges of the last layer join.

    An edge goes into the first layer in which it closes no circle: layer t is the minimum spanning forest of
    the graph without the edges of earlier layers (Friedman and Rafsky 1979).
    """
    parent = np.empty((layers, n), np.int32)
    for t in range(layers):
        for i in range(n):
            parent[t, i] = i
    layer, apart = np.full(u.size, -1, np.int8), np.zeros(u.size, np.bool_)
    start, left = 0, layers * (n - 1)
    while start < u.size and left > 0:
        stop = start
        while stop < u.size and d2[stop] == d2[start]:
            apart[stop] = find(parent[layers - 1], u[stop]) != find(parent[layers - 1], v[stop])
            stop += 1
        for e in range(start, stop):
            t = 0
            while t < layers and not unite(parent[t], u[e], v[e]):
                t += 1
            if t < layers:
                layer[e] = t
                left -= 1
        start = stop
    return layer, apart


@kernel
def tie_bands(n, layers, classes, layer, u, v, d2, class_u, class_v):
    """Return the least and most crossings that each tree can have under ties, two arrays (layers, classes +
    1): edges with one end in each class, and in the last column edges between any two classes.

    The trees before it are fixed, and their edges are left out.
    """
    least = np.zeros((layers, classes + 1), np.int64)
    most = np.zeros((layers, classes + 1), np.int64)
    for t in range(layers):
        _add_tie_bands(n, t, classes, layer, u, v, d2, class_u, class_v, least[t], most[t])
    return least, most


@kernel
def _add_tie_bands(n, t, classes, layer, u, v, d2, class_u, class_v, least, most):
    """Add up the band of tree t in least and most (classes + 1,).

    The parts that shorter edges have joined are the same in all minimum spanning trees; among equal edges
    between those parts, the most crossings are the rank of the crossing edges, the least the rank of all less
    that of the others: a spanning tree is a basis of a matroid, which takes the crossing edges first or last.
    """
    part, local = np.arange(n), np.arange(n)
    touched = np.zeros(classes + 1, np.bool_)
    a, b = np.empty(u.size, np.int64), np.empty(u.size, np.int64)
    p, q = np.empty(u.size, np.int64), np.empty(u.size, np.int64)
    start, joined = 0, 1
    while start < u.size and joined < n:
        stop, m = start, 0
        while stop < u.size and d2[stop] == d2[start]:
            x, y = find(part, u[stop]), find(part, v[stop])
            if x != y and not 0 <= layer[stop] < t:
                a[m], b[m], p[m], q[m] = x, y, class_u[stop], class_v[stop]
                if p[m] != q[m]:
                    touched[classes] = True
                    if classes > 0:
                        touched[p[m]] = touched[q[m]] = True
                m += 1
            stop += 1
        rank = 0
        for e in range(m):
            rank += unite(part, a[e], b[e])
        joined += rank
        for k in range(classes + 1):
            if touched[k]:
                touched[k] = False
                most[k] += _rank(k, True, classes, a[:m], b[:m], p, q, local)
                least[k] += rank - _rank(k, False, classes, a[:m], b[:m], p, q, local)
        start = stop
    return least, most


@kernel
def _rank(k, crossing, classes, a, b, p, q, parent):
    """Return the rank of the edges a - b that cross class k, or of the others. parent: 0 to n - 1, before and
    after."""
    rank = 0
    for e in range(len(a)):
        crosses = p[e] != q[e] and (k == classes or p[e] == k or q[e] == k)
        rank += crosses == crossing and unite(parent, a[e], b[e])
    for e in range(len(a)):
        parent[a[e]], parent[b[e]] = a[e], b[e]
    return rank
