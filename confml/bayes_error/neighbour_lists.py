"""Lists of the nearest other rows of each row."""

import numpy as np

from confml._threads import for_each
from confml.bayes_error import _kernels_lists as kernels
from confml.bayes_error._kernels_searches import smallest_ranks
from confml.bayes_error.points import Points, lay_out, to_unit
from confml.bayes_error.searched_trees import nearest_lists, searches_pay
from confml.neighbours.wide_tree import leaves_in_order, tree_order, wide_tree

HELD = 1 << 24
"""Distances in memory at the same time (float32)."""


def neighbour_lists(X: np.ndarray, k: int) -> np.ndarray:
    """Return the row numbers (n, k) of the k nearest other rows of each row of X (n, d), finite; k < n.

    Rows are in the order of (distance, row number), with distances as directly summed differences.
    """
    scaled, _ = to_unit(X)
    if searches_pay(scaled):
        return _searched(scaled, k)
    points = lay_out(X, np.zeros(len(X), dtype=np.int64), 1)
    lists = np.empty((len(X), k), np.int64)
    for_each_block(
        points,
        lambda product, begin: kernels.lists_of_block(
            product, begin, points.X, points.rank, points.low, points.high, lists
        ),
    )
    return lists


def for_each_block(points: Points, function) -> None:
    """Call function(product, begin) for blocks of rows, with product (b, n) float32: -2 Z_i . Z_j.

    The blocks are computed in several threads, see `confml.threads`; they do not depend on the number.
    """
    n = len(points)
    step = max(1, HELD // n)

    def compute(begin: int, _) -> None:
        function(points.minus_2Z[begin : begin + step] @ points.Z.T, begin)

    for_each(compute, range(0, n, step))


def _searched(X: np.ndarray, k: int) -> np.ndarray:
    order = tree_order(X)
    tree = wide_tree(np.ascontiguousarray(X[order]), leaves_in_order(len(X)))
    _, ends = nearest_lists(tree, order, smallest_ranks(tree, order), k)
    lists = np.empty((len(X), k), np.int64)
    lists[order] = order[ends]
    return lists
