"""Kernels of nearest-neighbour search: the K nearest rows with their ties, and votes.

Every search fills, for each query row, the K smallest distances in ascending order, their class codes, and
the number of rows of each class at the K-th distance that are not among the K (``beyond``).
"""

import numpy as np

from confml._jit import kernel
from confml.neighbours.candidates import BY_CLASS, candidates
from confml.neighbours.distances import squared_distances
from confml.neighbours.lanes import FAN, LEAF, first_place, squares_to_rows
from confml.neighbours.wide_tree import DEPTH, FAR, next_leaf

# Of two squared distances whose roots are equal, the larger is at most this times the square of the root.
_ROOT_SLACK = 1.0 + 2.0**-50


@kernel
def offer(distance, code, filled, distances, codes, beyond):
    """Offer one training row to the K nearest of a query; return the number of rows in the list."""
    k = distances.size
    if filled == k:
        last = distances[k - 1]
        if distance > last:
            return filled
        if distance == last:
            beyond[code] += 1
            return filled
        if k > 1 and distances[k - 2] == last:
            beyond[codes[k - 1]] += 1  # it leaves the list but ties with the new last one
        else:
            beyond[:] = 0
        slot = k - 1
    else:
        slot = filled
        filled += 1
    while slot > 0 and distances[slot - 1] > distance:
        distances[slot] = distances[slot - 1]
        codes[slot] = codes[slot - 1]
        slot -= 1
    distances[slot] = distance
    codes[slot] = code
    return filled


@kernel
def squared_limit(filled, distances):
    """Return the largest squared distance of a row that can be among the K nearest or tie with the last."""
    if filled < distances.size:
        return FAR
    kth = distances[distances.size - 1]
    return kth * kth * _ROOT_SLACK


@kernel
def search_candidates(row, X, codes, candidates, distances, nearest_codes, beyond):
    """Fill the lists of the K nearest of one query row (d,) among the rows X[candidates]."""
    filled = np.int64(0)
    limit = FAR
    squares = np.empty(len(candidates))
    squared_distances(row, X, candidates, squares)
    for e in range(len(candidates)):
        if squares[e] <= limit:
            code = codes[candidates[e]]
            filled = offer(np.sqrt(squares[e]), code, filled, distances, nearest_codes, beyond)
            limit = squared_limit(filled, distances)


@kernel
def search_tree(queries, tree, codes, distances, nearest_codes, beyond):
    """Search the K nearest of each query row (n, d) in a `WideTree`; codes (m,) in the order of the tree's
    rows.
    """
    nodes, gaps, squares = np.empty(DEPTH, np.int64), np.empty(DEPTH), np.empty(max(LEAF, FAN))
    for i in range(len(queries)):
        filled = np.int64(0)
        limit = FAR
        nodes[0], gaps[0] = len(tree.members) + len(tree.child) - 2, 0.0
        top = 1
        while True:
            leaf, top = next_leaf(tree, queries, i, limit, nodes, gaps, squares, top)
            if leaf < 0:
                break
            mask = squares_to_rows(queries, i, tree.rows, leaf, limit, squares)
            while mask != 0:
                e = first_place(mask)
                mask &= mask - 1
                if squares[e] <= limit:
                    code = codes[tree.members[leaf, e]]
                    filled = offer(
                        np.sqrt(squares[e]), code, filled, distances[i], nearest_codes[i], beyond[i]
                    )
                    limit = squared_limit(filled, distances[i])


@kernel
def search_products(queries, X, codes, products, slack, low, high, distances, nearest_codes, beyond):
    """Search the K nearest of each query row (n, d) in X (m, d) among the `candidates` of a `DistanceFilter`.

    products (n, m); slack (n,) of the queries; low, high (m,) of the filter.
    """
    # All rows are of one class and in one list.
    lists, cuts = np.int64(1), np.zeros(2, np.int64)
    cuts[1] = len(X)
    classes = np.zeros(len(X), np.int64)
    for i in range(len(queries)):
        rows = candidates(
            products[i], low, high, slack[i], classes, cuts, BY_CLASS, lists, distances.shape[1]
        )
        search_candidates(queries[i], X, codes, rows, distances[i], nearest_codes[i], beyond[i])


@kernel
def search_distances(all_distances, codes, distances, nearest_codes, beyond):
    """Fill the lists of the K nearest of one query row from its distances (m,) to all rows."""
    filled = np.int64(0)
    for j in range(len(all_distances)):
        filled = offer(all_distances[j], codes[j], filled, distances, nearest_codes, beyond)
