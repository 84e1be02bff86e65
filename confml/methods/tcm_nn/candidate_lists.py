"""Lists of candidates for the nearest neighbours, and the parts of the work on them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from confml._threads import for_each, thread_count
from confml.methods.tcm_nn import _kernels_lists as kernels

ROWS = 2048  # of a part of the work that has rows of its own


def parts(number: int, size: int) -> list[tuple[int, int]]:
    """Return the ends of consecutive parts of at most ``size`` of ``number`` rows."""
    return [(start, min(start + size, number)) for start in range(0, number, size)]


def row_parts(number: int) -> list[tuple[int, int]]:
    """Return `parts` for work that depends on single rows."""
    return parts(number, ROWS)


def empty_lists(lists: int, capacity: int, error: np.ndarray, slack: np.ndarray) -> kernels.Lists:
    """Return so many empty lists for each row; error (m,), slack (rows,): of the candidates and the rows."""
    shape = len(slack), lists, capacity
    upper, who = np.empty(shape, dtype=error.dtype), np.empty(shape, dtype=np.int32)
    return kernels.Lists(upper, who, np.zeros(shape[:2], dtype=np.int64), error, slack)


def for_each_pair(scan: Callable[..., None], blocks: int, space: Callable[[], Any]) -> None:
    """Call ``scan(pair, space())`` for each pair of blocks of training examples.

    Two threads never change the lists of one block: they share pairs whose sum is the same modulo the number
    of blocks, which have no block in common. The order of the pairs changes which candidates are kept, and
    not which distances are the k smallest.
    """
    pairs = [(one, other) for one in range(blocks) for other in range(one, blocks)]
    if thread_count() == 1:
        for_each(scan, pairs, space)
        return
    for sum_of_pair in range(blocks):
        for_each(scan, [pair for pair in pairs if sum(pair) % blocks == sum_of_pair], space)


def distances_of_lists(X: np.ndarray, lists: kernels.Lists, nearest: np.ndarray) -> np.ndarray:
    """Fill ``nearest`` (m, 2, k) from the candidates of training examples X (m, d).

    Returns the rows with abandoned lists.
    """

    def compute(rows: tuple[int, int], _: None) -> None:
        part = slice(*rows)
        upper, who, count = lists.upper[part], lists.who[part], lists.filled[part]
        of_part = kernels.Lists(upper, who, count, lists.error, lists.slack[part])
        kernels.compute_distances(X[part], X, of_part, nearest[part])

    for_each(compute, row_parts(len(X)))
    return np.flatnonzero((lists.filled < 0).any(axis=1))
