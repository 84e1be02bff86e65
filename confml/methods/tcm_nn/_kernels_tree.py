"""Kernels that search trees like `confml.neighbours.wide_tree`, one for each class or part of a class.

All trees share their arrays: first the leaves of all trees are numbered, then all groups, parents after their
children. Gaps and distances are summed in the order of the features, so that the pruning of nodes needs no
allowance for rounding.
"""

from __future__ import annotations

import numpy as np

from confml._jit import kernel
from confml.neighbours.lanes import FAN, LEAF, gaps_to_children, lowest_bit, squares_to_rows
from confml.neighbours.wide_tree import DEPTH


@kernel
def fill(X, first, count, child, rows, lows, highs):
    """Fill rows (leaves, d, LEAF), lows and highs (groups, d, FAN), which hold +inf, +inf and -inf.

    first, count (leaves,): the rows of X in each leaf. child (groups, FAN): node numbers, -1 for none.
    """
    leaves = len(first)
    for leaf in range(leaves):
        for e in range(count[leaf]):
            for a in range(X.shape[1]):
                rows[leaf, a, e] = X[first[leaf] + e, a]
    for group in range(len(child)):
        for place in range(FAN):
            node = child[group, place]
            if node < 0:
                continue
            for a in range(X.shape[1]):
                low, high = np.inf, -np.inf
                if node < leaves:
                    for e in range(count[node]):
                        low, high = min(low, rows[node, a, e]), max(high, rows[node, a, e])
                else:
                    for e in range(FAN):
                        low = min(low, lows[node - leaves, a, e])
                        high = max(high, highs[node - leaves, a, e])
                lows[group, a, place], highs[group, a, place] = low, high


@kernel
def _search(Q, r, skip, root, first, count, child, rows, lows, highs, best, nodes, gaps, squares):
    """Update best (k,), ascending squared distances from Q[r], with the rows of a tree except ``skip``.

    nodes, gaps (DEPTH,), squares (LEAF,): work space.
    """
    k, leaves = len(best), len(first)
    nodes[0], gaps[0] = root, 0.0
    held = 1
    while held > 0:
        held -= 1
        node = nodes[held]
        if gaps[held] >= best[k - 1]:
            continue
        if node < leaves:
            mask = squares_to_rows(Q, r, rows, node, best[k - 1], squares)
            while mask != 0:
                e = lowest_bit(mask)
                mask &= mask - 1
                square = squares[e]
                if square < best[k - 1] and first[node] + e != skip:
                    at = k - 1
                    while at > 0 and best[at - 1] > square:
                        best[at] = best[at - 1]
                        at -= 1
                    best[at] = square
            continue
        group = node - leaves
        mask = gaps_to_children(Q, Q, r, lows, highs, group, best[k - 1], squares)
        bottom = held
        while mask != 0:
            place = lowest_bit(mask)
            mask &= mask - 1
            gap = squares[place]
            if gap < best[k - 1]:
                at = held
                while at > bottom and gaps[at - 1] < gap:
                    nodes[at], gaps[at] = nodes[at - 1], gaps[at - 1]
                    at -= 1
                nodes[at], gaps[at] = child[group, place], gap
                held += 1


@kernel
def nearest_of_training(start, stop, X, code, roots, first, count, child, rows, lows, highs, nearest):
    """Fill nearest[i, 0], nearest[i, 1] (k,) for start <= i < stop: distances of i to the k nearest of its
    own, other classes."""
    nodes, gaps, squares = np.empty(DEPTH, np.int64), np.empty(DEPTH), np.empty(LEAF)
    leaves = len(first)
    gap_of_class = np.empty(len(roots))
    for i in range(start, stop):
        nearest[i] = np.inf
        own = code[i]
        _search(
            X, i, i, roots[own], first, count, child, rows, lows, highs, nearest[i, 0], nodes, gaps, squares
        )
        for z in range(len(roots)):
            gaps_to_children(X, X, i, lows, highs, roots[z] - leaves, np.inf, squares)
            gap_of_class[z] = min(squares[:FAN])
        for z in np.argsort(gap_of_class):  # near classes first: they exclude far ones
            if z != own and gap_of_class[z] < nearest[i, 1, -1]:
                _search(
                    X,
                    i,
                    -1,
                    roots[z],
                    first,
                    count,
                    child,
                    rows,
                    lows,
                    highs,
                    nearest[i, 1],
                    nodes,
                    gaps,
                    squares,
                )
        nearest[i] = np.sqrt(nearest[i])


@kernel
def nearest_of_classes(Q, roots, first, count, child, rows, lows, highs, nearest):
    """Fill nearest[r, z] (k,) with the distances of Q[r] to its k nearest of class z."""
    nodes, gaps, squares = np.empty(DEPTH, np.int64), np.empty(DEPTH), np.empty(LEAF)
    for r in range(len(Q)):
        nearest[r] = np.inf
        for z in range(len(roots)):
            _search(
                Q,
                r,
                -1,
                roots[z],
                first,
                count,
                child,
                rows,
                lows,
                highs,
                nearest[r, z],
                nodes,
                gaps,
                squares,
            )
        nearest[r] = np.sqrt(nearest[r])
