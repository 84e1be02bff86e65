"""Prim's algorithm for many features: rounded products exclude most distances, all others are exact."""

import numpy as np

from confml._jit import kernel
from confml.bayes_error._kernels_kruskal import LAST, before, edge_key
from confml.neighbours.distances import squared_distance_of_rows

RUN = 64
"""Rows whose first edges are compared together."""


@kernel
def prim(X, rank, split, products, transposed, low, layers):
    """Return orthogonal trees (forests, where no further tree exists) of rows X (n, d): u, v, d2, key.

    The graph is complete with split = n, and otherwise has the edges between the rows before and after
    split. products (split, .), transposed: products z_i . z_j of the rows of each side with those of the
    other, float32, -inf where there is no edge; edges of the trees are set to -inf. low (n,): squared
    lengths of the rows minus their slack, so that d2 >= low_i + low_j - 2 z_i . z_j (`DistanceFilter`).
    """
    n = len(X)
    u, v = np.empty(layers * n, np.int32), np.empty(layers * n, np.int32)
    d2, key = np.empty(layers * n), np.empty(layers * n, np.int64)
    # Of each row: its first edge into the tree, and the number that a product must exceed by low_i / 2 for a
    # shorter one. Of each run of rows: the row with the first of these edges.
    best, best_key, source = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    limits, heads = np.empty(n, np.float32), np.empty((n + RUN - 1) // RUN, np.int64)
    edges = 0
    for _ in range(layers):
        best[:], best_key[:], source[:], limits[:] = np.inf, LAST, -1, -np.inf
        for run in range(len(heads)):
            heads[run] = run * RUN
        for _ in range(n):
            i = _first(heads, best, best_key)
            first, last = (split, n) if i < split < n else (0, split)
            row = products[i] if i < split else transposed[i - split]
            if source[i] >= 0:
                j = source[i]
                row[j - first] = -np.inf
                if j < split:
                    products[j, i - split if split < n else i] = -np.inf
                else:
                    transposed[j - split, i] = -np.inf
                u[edges], v[edges], d2[edges], key[edges] = min(i, j), max(i, j), best[i], best_key[i]
                edges += 1
            limits[i] = np.inf  # it is in the tree
            _find_head(i // RUN, heads, best, best_key, limits)
            limit, block_limits = np.float32(low[i] / 2), limits[first:last]
            for begin in range(0, last - first, RUN):
                stop, passed = min(begin + RUN, last - first), 0
                for e in range(begin, stop):
                    passed += row[e] - block_limits[e] > limit
                for e in range(begin, stop if passed > 0 else begin):
                    if row[e] - block_limits[e] > limit:
                        j = first + e
                        square, number = squared_distance_of_rows(X, i, X, j), edge_key(rank, i, j)
                        if before(square, number, best[j], best_key[j]):
                            best[j], best_key[j], source[j] = square, number, i
                            limits[j] = (low[j] - square * (1 + 1e-6)) / 2
                            head = heads[j // RUN]
                            if before(square, number, best[head], best_key[head]):
                                heads[j // RUN] = j
    return u[:edges], v[:edges], d2[:edges], key[:edges]


@kernel
def _first(heads, best, best_key):
    """Return the row outside the tree with the first edge into it, any row if none has one."""
    first = -1
    for head in heads:
        if head >= 0 and (first < 0 or before(best[head], best_key[head], best[first], best_key[first])):
            first = head
    return first


@kernel
def _find_head(run, heads, best, best_key, limits):
    """Find the row of a run with the first edge among those that are not in the tree; -1 if all are."""
    heads[run] = -1
    for j in range(run * RUN, min((run + 1) * RUN, len(best))):
        if limits[j] < np.inf and (
            heads[run] < 0 or before(best[j], best_key[j], best[heads[run]], best_key[heads[run]])
        ):
            heads[run] = j
