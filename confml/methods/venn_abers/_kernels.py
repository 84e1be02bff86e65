"""Kernel of the Venn-Abers table: isotonic regression with one more example, for every place of its score."""

import numpy as np

from confml._jit import kernel


@kernel
def _is_left_turn(ax, ay, bx, by, cx, cy):
    """Return whether the path a, b, c turns left; exact in whole numbers."""
    return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax) > 0


@kernel
def table_with_one(rows, positives):
    """Return (k + 1,) the isotonic regression at a new example with label 1, for every place of its score.

    rows, positives (k,) int64: number of examples, and of those with label 1, at each of k distinct scores in
    ascending order. Entry i is the value for scores above the i-th and up to the (i + 1)-th. The corners of
    the cumulative sum diagram are whole numbers, so every comparison is exact.

    Source: Vovk, Petej, Fedorova, Large-scale probabilistic predictors with and without guarantees of
    validity (NIPS 2015), algorithms 1 and 2.
    """
    k = rows.size
    table = np.ones(k + 1)
    if k == 0:
        return table
    # Corner i of the diagram is at place i + 1; place 0 is the new example, before all others.
    x, y = np.zeros(k + 2, np.int64), np.zeros(k + 2, np.int64)
    x[0], y[0] = -1, -1
    for i in range(k):
        x[i + 2], y[i + 2] = x[i + 1] + rows[i], y[i + 1] + positives[i]
    # The lower convex hull, from left to right.
    hull_x, hull_y = np.empty(k + 2, np.int64), np.empty(k + 2, np.int64)
    size = 0
    for i in range(k + 2):
        while size > 1 and not _is_left_turn(
            hull_x[size - 2], hull_y[size - 2], hull_x[size - 1], hull_y[size - 1], x[i], y[i]
        ):
            size -= 1
        hull_x[size], hull_y[size] = x[i], y[i]
        size += 1
    # As a stack with the leftmost corner on top.
    for i in range(size // 2):
        j = size - 1 - i
        hull_x[i], hull_x[j] = hull_x[j], hull_x[i]
        hull_y[i], hull_y[j] = hull_y[j], hull_y[i]
    for i in range(k):
        ax, ay, bx, by = hull_x[size - 1], hull_y[size - 1], hull_x[size - 2], hull_y[size - 2]
        table[i] = (by - ay) / (bx - ax)
        # The new example moves behind the group i: the corner between them moves.
        x[i + 1], y[i + 1] = x[i] + x[i + 2] - x[i + 1], y[i] + y[i + 2] - y[i + 1]
        px, py = x[i + 1], y[i + 1]
        if (bx - ax) * (py - ay) - (by - ay) * (px - ax) >= 0:
            continue
        size -= 1
        while size > 1 and not _is_left_turn(
            px, py, hull_x[size - 1], hull_y[size - 1], hull_x[size - 2], hull_y[size - 2]
        ):
            size -= 1
        hull_x[size], hull_y[size] = px, py
        size += 1
    return table
