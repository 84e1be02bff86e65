"""Nearest rows of the own and of other classes, by float32 products with a margin, decided exactly."""

import numpy as np

from confml._jit import kernel
from confml.neighbours.distances import squared_distance_of_rows


@kernel
def nearest_of_block(product, begin, X, rank, starts, class_of, low, high, found):
    """Fill in what is nearest to positions begin, begin + 1, ... of `Points`.

    product (b, n) float32: -2 Z_i . Z_j; low, high: squared norms less and plus the rounding margin. found:
    arrays by position: same, other: squared distance to the nearest row of the same and of other classes, inf
    where is none; first: whether, of all nearest rows, that with the smallest number is of the own class;
    near: other rows of the own class strictly nearer than the nearest of another, tied: those just as near.
    """
    same, other, first, near, tied = found
    n = low.size
    for b in range(product.shape[0]):
        i = begin + b
        row = product[b]
        start, stop = starts[class_of[i]], starts[class_of[i] + 1]
        bound_own = min(_least(row, high, high[i], start, i), _least(row, high, high[i], i + 1, stop))
        bound_other = min(_least(row, high, high[i], 0, start), _least(row, high, high[i], stop, n))
        best_own, rank_own = _exact(X, rank, row, low, i, start, stop, bound_own)
        best_a, rank_a = _exact(X, rank, row, low, i, 0, start, bound_other)
        best_b, rank_b = _exact(X, rank, row, low, i, stop, n, bound_other)
        if best_b < best_a or (best_b == best_a and rank_b < rank_a):
            best_a, rank_a = best_b, rank_b
        same[i], other[i] = best_own, best_a
        first[i] = best_own < best_a or (best_own == best_a and rank_own < rank_a)
        for j in range(start, stop):
            if j == i:
                continue
            if np.float64(row[j] + (high[j] + high[i])) < best_a:
                near[i] += 1
            elif np.float64(row[j] + (low[j] + low[i])) <= best_a:
                d = squared_distance_of_rows(X, i, X, j)
                near[i] += d < best_a
                tied[i] += d == best_a


@kernel
def _least(row, high, base, start, stop):
    """Return the smallest upper bound of a squared distance among positions start..stop-1."""
    least = np.float32(np.inf)
    for j in range(start, stop):
        d = row[j] + (high[j] + base)
        least = d if d < least else least
    return least


@kernel
def _exact(X, rank, row, low, i, start, stop, bound):
    """Return the smallest squared distance of i to start..stop-1 and the smallest row number that has it."""
    best, number = np.inf, np.iinfo(np.int64).max
    for j in range(start, stop):
        if j != i and row[j] + (low[j] + low[i]) <= bound:
            d = squared_distance_of_rows(X, i, X, j)
            if d < best or (d == best and rank[j] < number):
                best, number = d, rank[j]
    return best, number


@kernel
def replacements(n, u1, v1, u2, v2, d2):
    """Return the length of the replacement edge of each edge of a spanning tree: (n - 1,).

    u1, v1 (n - 1,): the tree. u2, v2, d2: the minimum spanning forest of all other edges, sorted by length:
    the shortest edge across a cut that a tree edge leaves is one of it. inf where nothing else joins the cut.
    """
    heads, links, edge_of = (
        np.zeros(n + 1, np.int64),
        np.empty(2 * u1.size, np.int64),
        np.empty(2 * u1.size, np.int64),
    )
    for e in range(u1.size):
        heads[u1[e] + 1] += 1
        heads[v1[e] + 1] += 1
    for i in range(n):
        heads[i + 1] += heads[i]
    place = heads[:-1].copy()
    for e in range(u1.size):
        links[place[u1[e]]], edge_of[place[u1[e]]] = v1[e], e
        links[place[v1[e]]], edge_of[place[v1[e]]] = u1[e], e
        place[u1[e]] += 1
        place[v1[e]] += 1
    parent, depth, edge = np.full(n, -1), np.zeros(n, np.int64), np.full(n, -1)
    queue = np.zeros(n, np.int64)
    filled = 1
    for step in range(n):
        i = queue[step]
        for p in range(heads[i], heads[i + 1]):
            j = links[p]
            if j != parent[i]:
                parent[j], depth[j], edge[j] = i, depth[i] + 1, edge_of[p]
                queue[filled] = j
                filled += 1
    top = np.arange(n)  # the nearest ancestor whose edge upwards has no replacement yet
    lengths = np.full(u1.size, np.inf)
    for e in range(u2.size):
        a, b = _top(top, u2[e]), _top(top, v2[e])
        while a != b:
            if depth[a] < depth[b]:
                a, b = b, a
            lengths[edge[a]] = d2[e]
            top[a] = parent[a]
            a = _top(top, a)
    return lengths


@kernel
def _top(top, i):
    while top[i] != i:
        top[i] = top[top[i]]
        i = top[i]
    return i
