"""Compiled search trees, one for each class, for data with few attributes.

The rows of a class are ordered by splitting them in two again and again across the widest attribute, such
that each run of `LEAF` rows is a leaf; `FAN` neighbouring leaves, and then `FAN` neighbouring groups, form a
group. A group stores its children's boxes, and a leaf its rows, side by side for each attribute, so that the
gaps to all of them are computed together in vector registers: that is what makes such a tree fast.

Gaps and distances are summed in attribute order like every other here, and rounding is monotone: the computed
gap to a box is never above the computed distance of any row in it, so that pruning needs no allowance.

Nodes are numbered: first all leaves, then all groups, parents after their children.
"""

from __future__ import annotations

import numpy as np

from confml._jit import kernel

LEAF = 16
FAN = 8
DEPTH = 256  # entries of a search's stack: FAN for each level


@kernel
def _split(X, order, begin, stop, at, attribute):
    """Reorder order[begin:stop] so that no value of an attribute before ``at`` exceeds one after it."""
    lo, hi = begin, stop - 1
    while lo < hi:
        pivot = X[order[(lo + hi) // 2], attribute]
        i, j = lo, hi
        while i <= j:
            while X[order[i], attribute] < pivot:
                i += 1
            while X[order[j], attribute] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if at <= j:
            hi = j
        elif at >= i:
            lo = i
        else:
            break


@kernel
def sort_into_leaves(X, order, starts):
    """Permute order (m,) within each class, so that runs of `LEAF` rows, and powers of two of them, are near
    each other. X (m, d); starts (c + 1,): where the classes begin in order."""
    waiting = np.empty((DEPTH, 2), np.int64)
    for z in range(len(starts) - 1):
        waiting[0] = starts[z], starts[z + 1]
        held = 1
        while held > 0:
            held -= 1
            begin, stop = waiting[held]
            if stop - begin <= LEAF:
                continue
            widest, width = 0, -1.0
            for a in range(X.shape[1]):
                lowest = highest = X[order[begin], a]
                for e in range(begin + 1, stop):
                    value = X[order[e], a]
                    lowest, highest = min(lowest, value), max(highest, value)
                if highest - lowest > width:
                    widest, width = a, highest - lowest
            run = LEAF  # the largest power of two of leaves that leaves something over
            while 2 * run < stop - begin:
                run *= 2
            _split(X, order, begin, stop, begin + run, widest)
            waiting[held] = begin, begin + run
            waiting[held + 1] = begin + run, stop
            held += 2


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
def gaps_to_children(Q, r, lows, highs, group, out):
    """out (FAN,) = squared distances from Q[r] to the boxes of a group's children, +inf for none."""
    for e in range(FAN):
        out[e] = 0.0
    for a in range(Q.shape[1]):
        x = Q[r, a]
        for e in range(FAN):
            below, above = lows[group, a, e] - x, x - highs[group, a, e]
            gap = below if below > above else above
            gap = gap if gap > 0.0 else 0.0
            out[e] += gap * gap


@kernel
def squares_to_rows(Q, r, rows, leaf, out):
    """out (LEAF,) = squared distances from Q[r] to the rows of a leaf, +inf for none."""
    for e in range(LEAF):
        out[e] = 0.0
    for a in range(Q.shape[1]):
        x = Q[r, a]
        for e in range(LEAF):
            difference = x - rows[leaf, a, e]
            out[e] += difference * difference


@kernel
def _search(Q, r, skip, root, first, count, child, rows, lows, highs, best, nodes, gaps, squares):
    """Lower best (k,), ascending squared distances from Q[r], by the rows under a root; ``skip`` is left out.

    nodes, gaps (DEPTH,), squares (LEAF,): room for the search.
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
            squares_to_rows(Q, r, rows, node, squares)
            for e in range(count[node]):
                square = squares[e]
                if square < best[k - 1] and first[node] + e != skip:
                    at = k - 1
                    while at > 0 and best[at - 1] > square:
                        best[at] = best[at - 1]
                        at -= 1
                    best[at] = square
            continue
        group = node - leaves
        gaps_to_children(Q, r, lows, highs, group, squares)
        bottom = held
        for place in range(FAN):
            gap = squares[place]
            if gap < best[k - 1]:
                at = held
                while at > bottom and gaps[at - 1] < gap:
                    nodes[at], gaps[at] = nodes[at - 1], gaps[at - 1]
                    at -= 1
                nodes[at], gaps[at] = child[group, place], gap
                held += 1


@kernel
def nearest_of_training(X, code, roots, first, count, child, rows, lows, highs, nearest):
    """nearest[i, 0], nearest[i, 1] (k,) = distances of i to its k nearest of its own and of other classes."""
    nodes, gaps, squares = np.empty(DEPTH, np.int64), np.empty(DEPTH), np.empty(LEAF)
    leaves = len(first)
    gap_of_class = np.empty(len(roots))
    for i in range(len(X)):
        nearest[i] = np.inf
        own = code[i]
        _search(
            X, i, i, roots[own], first, count, child, rows, lows, highs, nearest[i, 0], nodes, gaps, squares
        )
        for z in range(len(roots)):
            gaps_to_children(X, i, lows, highs, roots[z] - leaves, squares)
            gap_of_class[z] = min(squares[:FAN])
        for z in np.argsort(gap_of_class):  # near classes first: they exclude the far ones
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
    """nearest[r, z] (k,) = distances of Q[r] to its k nearest of class z."""
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
