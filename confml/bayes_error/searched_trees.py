"""Orthogonal spanning trees of one set of rows with few features, by searches in a k-d tree."""

import numpy as np

from confml._threads import for_each
from confml.bayes_error import _kernels_edges as edges
from confml.bayes_error._kernels_boruvka import boruvka
from confml.bayes_error._kernels_searches import (
    fill_lists_by_leaf,
    fill_nearest_lists,
    has_equal_neighbours,
    smallest_ranks,
)
from confml.neighbours.wide_tree import LEAF, WideTree, leaves_in_order, ordered_rows, tree_order, wide_tree

FEW_ATTRIBUTES = 40
"""Number of features up to which searches are used."""
NEIGHBOURS = {1: 6}
"""Length of the neighbour lists by number of trees; `MORE_NEIGHBOURS` for other numbers."""
MORE_NEIGHBOURS = 12
LIST_ROWS = 4096
"""Number of rows whose neighbour lists one thread computes at a time, a multiple of `LEAF`."""
VERY_FEW_ATTRIBUTES = 4
"""Number of features up to which one search serves all rows of a leaf."""


def searches_pay(X: np.ndarray) -> bool:
    """Return whether `searched_trees` is used for rows X (n, d). The choice changes no result."""
    return X.shape[1] <= FEW_ATTRIBUTES


def searched_trees(X: np.ndarray, rank: np.ndarray, layers: int):
    """Return the orthogonal trees (forests, if no further tree exists) of rows X (n, d), scaled as in
    `Points`.

    rank (n,): their row numbers. Returns u < v (positions in X), d2, key, layer, sorted. Memory: O(n d).
    """
    order, Y = ordered_rows(X)
    if len(X) > 1 and not has_equal_neighbours(Y):  # otherwise some rows are equal
        numbers = np.ascontiguousarray(rank[order])
        tree, first, lists = _neighbourhood(Y, numbers, layers)
        if not (lists[0][:, 0] == 0).any():  # no rows are equal
            return _in_order(order, *boruvka(tree, numbers, first, layers, *lists))
    kept, u, v, layer = first_of_equals(X, rank, layers)
    found: tuple[np.ndarray, ...] = u, v, np.zeros(u.size), (rank[u] << 32) | rank[v], layer
    if kept.size > 1:
        kept = kept[tree_order(np.ascontiguousarray(X[kept]))]
        numbers = np.ascontiguousarray(rank[kept])
        tree, first, lists = _neighbourhood(np.ascontiguousarray(X[kept]), numbers, layers)
        u, v, *rest = boruvka(tree, numbers, first, layers, *lists)
        parts = zip(found, (kept[u], kept[v], *rest), strict=True)
        found = tuple(np.concatenate(pair) for pair in parts)
    return _in_order(np.arange(len(X)), *found)


def _neighbourhood(X: np.ndarray, rank: np.ndarray, layers: int):
    """Return the tree of rows in `tree_order`, the smallest row number in each node, the neighbour lists."""
    tree = wide_tree(X, leaves_in_order(len(X)))
    first = smallest_ranks(tree, rank)
    k = min(NEIGHBOURS.get(layers, MORE_NEIGHBOURS), len(X) - 1)
    return tree, first, nearest_lists(tree, rank, first, k)


def _in_order(positions: np.ndarray, u, v, d2, key, layer):
    """Return the edges sorted, with ends positions[u], positions[v], the smaller one first."""
    ends = np.asarray(u, np.int32), np.asarray(v, np.int32)
    return edges.placed(positions, edges.sorted_order(d2, key), *ends, d2, key, np.asarray(layer, np.int8))


def nearest_lists(tree: WideTree, rank: np.ndarray, first: np.ndarray, k: int):
    """Return the k first edges at each position of a tree: squared distances (n, k), ascending, and the other
    ends (n, k), -1 where there are no more; in several threads, see `confml.threads`.

    The leaves of the tree are runs of rows in order (`leaves_in_order`).
    """
    n = len(rank)
    d2, ends = np.empty((n, k)), np.empty((n, k), np.int32)
    by_leaf = tree.X.shape[1] <= VERY_FEW_ATTRIBUTES

    def fill(begin: int, _) -> None:
        stop = min(begin + LIST_ROWS, n)
        if by_leaf:
            last = (stop + LEAF - 1) // LEAF
            fill_lists_by_leaf(tree, rank, first, begin // LEAF, last, d2, ends)
        else:
            fill_nearest_lists(tree, rank, first, begin, stop, d2, ends)

    for_each(fill, range(0, n, LIST_ROWS))
    return d2, ends


def first_of_equals(X: np.ndarray, rank: np.ndarray, layers: int):
    """Return the positions of X (n, d) that its trees need if equal rows are merged, and edges of length 0.

    With the rows a_1, a_2, ... equal, in the order of their numbers, tree t has the edges a_t - a_i for all
    i > t, as they are the first of all. So a_T and those after it are joined in every tree, and of the edges
    between them and any other row, equally long, only those of the first T can be the first that join
    anything: rows after a_{2T-1} have no other edges than those of length 0.

    Returns kept (m,), and u, v, layer of the edges at the rows left out, u before v in the order of numbers.
    """
    group = _groups(X)
    order = np.lexsort([rank, group])
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    place = np.arange(order.size) - np.repeat(starts, np.diff(starts, append=order.size))
    out = place >= 2 * layers - 1
    left_out = order[out]
    begin = np.flatnonzero(out) - place[out]
    u = np.concatenate([order[begin + t] for t in range(layers)])
    return order[~out], u, np.tile(left_out, layers), np.repeat(np.arange(layers), left_out.size)


def _groups(X: np.ndarray) -> np.ndarray:
    """Return a number for each row of X (n, d), equal for equal rows only."""
    rows = np.ascontiguousarray(X + 0.0)  # -0.0 is 0.0
    words = rows.view(np.uint64)
    total = np.zeros(len(words), np.uint64)
    for a in range(words.shape[1]):
        total = (total ^ words[:, a]) * np.uint64(0x9E3779B97F4A7C15)
        total ^= total >> np.uint64(29)
    order = np.argsort(total, kind="stable")
    same_sum = total[order][1:] == total[order][:-1]
    same_row = np.zeros(len(words) - 1, bool)
    at = np.flatnonzero(same_sum)
    same_row[at] = (words[order[at]] == words[order[at + 1]]).all(axis=1)
    if not np.array_equal(same_sum, same_row):  # different rows with one sum: never seen
        return np.unique(words, axis=0, return_inverse=True)[1].reshape(-1)
    group = np.empty(len(words), np.int64)
    group[order] = np.concatenate([[0], np.cumsum(~same_row)])
    return group
