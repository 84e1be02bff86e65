"""Compiled k-d trees, one for each class, for data with few attributes.

Nodes are numbered in preorder: the left child of node i is i + 1, the right one stands in an array (0 for a
leaf). A node owns a range of rows and the smallest box around them. The squared distance from a point to a
box is summed in attribute order like every other here, and rounding is monotone: it is never above the
computed squared distance of any row in the box, so that pruning by it needs no allowance.
"""

from __future__ import annotations

import numpy as np

from confml._jit import kernel

LEAF = 8  # rows of a leaf at most
DEPTH = 128  # entries of a search's stack: a tree that halves its rows is never nearly as deep


@kernel
def _halve(X, order, begin, stop, attribute):
    """Reorder order[begin:stop] so that its first half has the smaller values of an attribute."""
    middle = (begin + stop) // 2
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
        if middle <= j:
            hi = j
        elif middle >= i:
            lo = i
        else:
            break
    return middle


@kernel
def build(X, order, starts, roots, right, begin, stop, low, high):
    """Fill the nodes of one tree a class and return their number; order (m,) is permuted within the classes.

    X (m, d); starts (c + 1,) places in order where classes begin; roots (c,); right, begin, stop (nodes,);
    low, high (nodes, d).
    """
    attributes = X.shape[1]
    waiting = np.empty((DEPTH, 3), np.int64)
    nodes = 0
    for z in range(len(starts) - 1):
        roots[z] = nodes
        waiting[0] = starts[z], starts[z + 1], -1
        held = 1
        while held > 0:
            held -= 1
            first, last, parent = waiting[held]
            node = nodes
            nodes += 1
            if parent >= 0:
                right[parent] = node
            begin[node], stop[node], right[node] = first, last, 0
            widest, width = 0, -1.0
            for a in range(attributes):
                lowest = highest = X[order[first], a]
                for e in range(first + 1, last):
                    value = X[order[e], a]
                    lowest, highest = min(lowest, value), max(highest, value)
                low[node, a], high[node, a] = lowest, highest
                if highest - lowest > width:
                    widest, width = a, highest - lowest
            if last - first > LEAF:
                middle = _halve(X, order, first, last, widest)
                waiting[held] = middle, last, node
                waiting[held + 1] = first, middle, -1
                held += 2
    return nodes


@kernel
def box_gap(Q, r, low, high, node):
    """Squared distance from Q[r] (d,) to the box [low[node], high[node]], 0 inside."""
    total = 0.0
    for a in range(Q.shape[1]):
        e = max(low[node, a] - Q[r, a], 0.0, Q[r, a] - high[node, a])
        total += e * e
    return total


@kernel
def nearest_in_tree(Q, r, skip, root, X, right, begin, stop, low, high, best, nodes, gaps):
    """Lower best (k,), ascending squared distances, by the rows under a root; row ``skip`` is left out.

    The distances are from Q[r]. nodes, gaps (DEPTH,): room for the search.
    """
    k = len(best)
    nodes[0], gaps[0] = root, box_gap(Q, r, low, high, root)
    held = 1
    while held > 0:
        held -= 1
        node = nodes[held]
        if gaps[held] >= best[k - 1]:
            continue
        if right[node] == 0:
            for t in range(begin[node], stop[node]):
                if t == skip:
                    continue
                square = 0.0
                for a in range(X.shape[1]):
                    e = Q[r, a] - X[t, a]
                    square += e * e
                if square < best[k - 1]:
                    at = k - 1
                    while at > 0 and best[at - 1] > square:
                        best[at] = best[at - 1]
                        at -= 1
                    best[at] = square
        else:
            a, b = node + 1, right[node]
            gap_a, gap_b = box_gap(Q, r, low, high, a), box_gap(Q, r, low, high, b)
            if gap_a > gap_b:
                a, b, gap_a, gap_b = b, a, gap_b, gap_a
            nodes[held], gaps[held] = b, gap_b
            nodes[held + 1], gaps[held + 1] = a, gap_a
            held += 2


@kernel
def nearest_of_training(X, code, roots, right, begin, stop, low, high, nearest):
    """nearest[i, 0], nearest[i, 1] (k,) = distances of i to its k nearest of its own and of other classes."""
    k = nearest.shape[2]
    nodes, gaps = np.empty(DEPTH, np.int64), np.empty(DEPTH)
    for i in range(len(X)):
        for kind in range(2):
            best = nearest[i, kind]
            best[:] = np.inf
            for z in range(len(roots)):
                if (z == code[i]) == (kind == 0):
                    nearest_in_tree(X, i, i, roots[z], X, right, begin, stop, low, high, best, nodes, gaps)
            for e in range(k):
                best[e] = np.sqrt(best[e])


@kernel
def nearest_of_classes(Q, X, roots, right, begin, stop, low, high, nearest):
    """nearest[r, z] (k,) = distances of Q[r] to its k nearest of class z."""
    k = nearest.shape[2]
    nodes, gaps = np.empty(DEPTH, np.int64), np.empty(DEPTH)
    for r in range(len(Q)):
        for z in range(len(roots)):
            best = nearest[r, z]
            best[:] = np.inf
            nearest_in_tree(Q, r, -1, roots[z], X, right, begin, stop, low, high, best, nodes, gaps)
            for e in range(k):
                best[e] = np.sqrt(best[e])
