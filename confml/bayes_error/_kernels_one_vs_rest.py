"""Crossings of each class in the trees of the whole set, and their tie bands."""

import numpy as np

from confml._jit import kernel
from confml.bayes_error._kernels_disjoint_set import find, unite


@kernel
def class_crossings(layers, n_classes, layer, class_u, class_v):
    """Return the edges of each layer with exactly one end in each class: (layers, n_classes)."""
    counts = np.zeros((layers, n_classes), np.int64)
    for e in range(layer.size):
        if layer[e] >= 0 and class_u[e] != class_v[e]:
            counts[layer[e], class_u[e]] += 1
            counts[layer[e], class_v[e]] += 1
    return counts


@kernel
def class_tie_bands(n, layers, n_classes, layer, u, v, d2, class_u, class_v):
    """Return the least and most crossings of each class that each tree can have under ties: two arrays
    (layers, n_classes). The trees before it are fixed, and their edges are left out.
    """
    least, most = np.zeros((layers, n_classes), np.int64), np.zeros((layers, n_classes), np.int64)
    for t in range(layers):
        _class_tie_bands(n, t, n_classes, layer, u, v, d2, class_u, class_v, least[t], most[t])
    return least, most


@kernel
def _class_tie_bands(n, t, n_classes, layer, u, v, d2, class_u, class_v, least, most):
    """Add up the band of tree t in least and most (n_classes,).

    The edges are sorted and hold every tree that puts one class's crossing edges first or last among equals.
    The parts that shorter edges have joined are the same in all these trees; among equal edges between those
    parts, the most crossings of a class are the rank of its crossing edges, the least the rank of all less
    that of the others.
    """
    part, local = np.arange(n), np.arange(n)
    touched = np.zeros(n_classes, np.bool_)
    start, joined = 0, 1
    a, b = np.empty(u.size, np.int64), np.empty(u.size, np.int64)
    p, q = np.empty(u.size, np.int64), np.empty(u.size, np.int64)
    while start < u.size and joined < n:
        stop = start + 1
        while stop < u.size and d2[stop] == d2[start]:
            stop += 1
        open_edges = 0
        for e in range(start, stop):
            if 0 <= layer[e] < t:
                continue
            x, y = find(part, u[e]), find(part, v[e])
            if x != y:
                a[open_edges], b[open_edges] = x, y
                p[open_edges], q[open_edges] = class_u[e], class_v[e]
                touched[class_u[e]] = touched[class_v[e]] = True
                open_edges += 1
        rank = 0
        for e in range(open_edges):
            rank += unite(part, a[e], b[e])
        joined += rank
        for k in range(n_classes):
            if not touched[k]:
                continue
            touched[k] = False
            crossing = others = 0
            for turn in range(2):
                for e in range(open_edges):
                    if ((p[e] == k) != (q[e] == k)) == (turn == 0):
                        joins = unite(local, a[e], b[e])
                        crossing += joins and turn == 0
                        others += joins and turn == 1
                for e in range(open_edges):
                    local[a[e]], local[b[e]] = a[e], b[e]
            most[k] += crossing
            least[k] += rank - others
        start = stop


@kernel
def total_tie_band(n, u, v, d2, class_u, class_v):
    """Return the least and most edges between classes, all together, over all minimum spanning trees; edges
    as above.
    """
    low, high = np.arange(n), np.arange(n)
    least = most = 0
    start = 0
    while start < u.size:
        stop = start + 1
        while stop < u.size and d2[stop] == d2[start]:
            stop += 1
        for turn in range(2):
            for e in range(start, stop):
                crossing = class_u[e] != class_v[e]
                if crossing == (turn == 1):
                    joins = unite(low, u[e], v[e])
                    least += joins and crossing
                else:
                    joins = unite(high, u[e], v[e])
                    most += joins and crossing
        start = stop
    return least, most
