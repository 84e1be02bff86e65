"""`WideTree`: a k-d tree for exact searches among rows with few features.

The trees of SciPy and scikit-learn cannot be searched by compiled kernels, and their distances are rounded in
another order.

A leaf holds `LEAF` rows, a group `FAN` leaves, a larger group `FAN` groups, up to a single root. A leaf
stores its rows, and a group the boxes around its children, feature by feature, so that a query is compared
with all of them in vector registers (`lanes`).

Squared distances and gaps are sums in the order of the features, with each product rounded: the numbers of a
plain loop. A gap to a box is never above the distance of a row inside it, rounding included, because every
step of both is monotone.

Nodes are numbered from the leaves upwards: node i < leaves is leaf i, the others are groups in the order of
their levels, the root is the last. Missing rows and children have rows and lows of +inf and highs of -inf.
"""

from typing import NamedTuple

import numpy as np

from confml._jit import kernel
from confml.neighbours.lanes import FAN, LEAF, first_place, gaps_to_children

DEPTH = 128
"""Size of the stack of a search: FAN per level, for at most 16 levels."""
SAMPLE = 32
"""Number of rows whose values choose where a range is divided."""
MARGIN = 2
"""Ranks of the sample between the value aimed at and the one that divides."""
FAR = 1.7e308
"""Above any squared distance and below the infinity of missing rows."""


class WideTree(NamedTuple):
    """A tree over rows X (n, d).

    members (leaves, LEAF): the row indices of each leaf, then -1; rows (leaves, d, LEAF);
    lows, highs (groups, d, FAN); child (groups + 1,): the children of group g are nodes child[g] to
    child[g + 1] - 1.
    """

    X: np.ndarray
    members: np.ndarray
    rows: np.ndarray
    lows: np.ndarray
    highs: np.ndarray
    child: np.ndarray


@kernel
def _children(leaves):
    """Return ``child`` of a tree with a number of leaves."""
    groups, size = 0, leaves
    while size > 1 or groups == 0:
        size = (size + FAN - 1) // FAN
        groups += size
    child = np.empty(groups + 1, np.int64)
    group, first, size = 0, 0, leaves
    while size > 1 or group == 0:
        for node in range(first, first + size, FAN):
            child[group] = node
            group += 1
        first, size = first + size, (size + FAN - 1) // FAN
    child[groups] = first
    return child


@kernel
def leaves_in_order(n):
    """Return the members of leaves with the rows 0..n-1 in their order."""
    members = np.full(((n + LEAF - 1) // LEAF, LEAF), np.int32(-1), np.int32)
    for i in range(n):
        members[i // LEAF, i % LEAF] = i
    return members


@kernel
def wide_tree(X, members):
    """Build the tree over rows X (n, d), float64 and C-contiguous, with these leaves."""
    d, leaves, child = X.shape[1], len(members), _children(len(members))
    rows = np.full((leaves, d, LEAF), np.inf)
    lows, highs = np.full((len(child) - 1, d, FAN), np.inf), np.full((len(child) - 1, d, FAN), -np.inf)
    for leaf in range(leaves):
        for e in range(LEAF):
            i = members[leaf, e]
            if i >= 0:
                for a in range(d):
                    rows[leaf, a, e] = X[i, a]
    for group in range(len(child) - 1):
        for node in range(child[group], child[group + 1]):
            for a in range(d):
                slot = node - child[group]
                low, high = lows[group, a, slot], highs[group, a, slot]
                if node < leaves:
                    for e in range(LEAF):
                        if members[node, e] >= 0:
                            low, high = min(low, rows[node, a, e]), max(high, rows[node, a, e])
                else:
                    for e in range(FAN):
                        low = min(low, lows[node - leaves, a, e])
                        high = max(high, highs[node - leaves, a, e])
                lows[group, a, slot], highs[group, a, slot] = low, high
    return WideTree(X, members, rows, lows, highs, child)


@kernel
def _split(rows, order, begin, stop, at, attribute, sample):
    """Reorder rows[begin:stop] and order so that no value of a feature before ``at`` exceeds one after it."""
    lo, hi = begin, stop - 1
    while lo < hi:
        pivot = _pivot(rows, lo, hi, at, attribute, sample)
        i, j = lo, hi
        while i <= j:
            while rows[i, attribute] < pivot:
                i += 1
            while rows[j, attribute] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                for a in range(rows.shape[1]):
                    rows[i, a], rows[j, a] = rows[j, a], rows[i, a]
                i += 1
                j -= 1
        if at <= j:
            hi = j
        elif at >= i:
            lo = i
        else:
            break


@kernel
def _pivot(rows, lo, hi, at, attribute, sample):
    """Return a value of rows[lo:hi + 1] near the one of rank ``at``, a little to the side with
    more rows, so that the next range is short."""
    size = len(sample)
    if hi - lo < 4 * size:
        return rows[(lo + hi) // 2, attribute]
    step = (hi - lo) // (size - 1)
    for e in range(size):
        value = rows[lo + e * step, attribute]
        slot = e
        while slot > 0 and sample[slot - 1] > value:
            sample[slot] = sample[slot - 1]
            slot -= 1
        sample[slot] = value
    slot = (at - lo) * size // (hi - lo + 1)
    slot += MARGIN if 2 * (at - lo) < hi - lo else -MARGIN
    return sample[min(max(slot, 0), size - 1)]


@kernel
def tree_order(X):
    """Return an order (n,) of rows X (n, d), finite, in which runs of LEAF rows are the leaves.

    Rows are split at the widest feature, recursively, at powers of two of leaves. They are copied first, so
    that memory is read sequentially.
    """
    d = X.shape[1]
    order, rows = np.arange(len(X)), X.copy()
    low, high = np.empty(d, X.dtype), np.empty(d, X.dtype)
    ranges, sample = np.empty((DEPTH, 2), np.int64), np.empty(SAMPLE, X.dtype)
    ranges[0, 0], ranges[0, 1] = 0, order.size
    top = 1
    while top > 0:
        top -= 1
        begin, stop = ranges[top]
        if stop - begin <= LEAF:
            continue
        for a in range(d):
            low[a] = high[a] = rows[begin, a]
        for e in range(begin + 1, stop):
            for a in range(d):
                value = rows[e, a]
                low[a], high[a] = min(low[a], value), max(high[a], value)
        widest = np.argmax(high - low)
        if high[widest] == low[widest]:  # equal rows
            continue
        run = LEAF
        while 2 * run < stop - begin:
            run *= 2
        _split(rows, order, begin, stop, begin + run, widest, sample)
        ranges[top, 0], ranges[top, 1] = begin, begin + run
        ranges[top + 1, 0], ranges[top + 1, 1] = begin + run, stop
        top += 2
    return order


@kernel(inline="always")
def push(child, mask, out, nodes, gaps, top):
    """Push the nodes child + e with the gaps out[e], for each e of a mask, the nearest last; return the new
    height of the stack."""
    bottom = top
    while mask != 0:
        e = first_place(mask)
        mask &= mask - 1
        gap = out[e]
        position = top
        while position > bottom and gaps[position - 1] < gap:
            nodes[position], gaps[position] = nodes[position - 1], gaps[position - 1]
            position -= 1
        nodes[position], gaps[position] = child + e, gap
        top += 1
    return top


@kernel(inline="always")
def next_leaf(tree, Q, r, limit, nodes, gaps, squares, top):
    """Return the next leaf of the search for Q[r] that is not farther than the squared distance ``limit``, -1
    without one, and the height of the stack of nodes.

    nodes, gaps (DEPTH,): the stack, the nearest node last; squares (FAN,) is written.
    """
    leaves, leaf = len(tree.members), -1
    while leaf < 0 and top > 0:
        top -= 1
        node = nodes[top]
        if gaps[top] > limit:
            continue
        if node < leaves:
            leaf = node
        else:
            group = node - leaves
            mask = gaps_to_children(Q, Q, r, tree.lows, tree.highs, group, limit, squares)
            top = push(tree.child[group], mask, squares, nodes, gaps, top)
    return leaf, top
