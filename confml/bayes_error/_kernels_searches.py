"""Exact searches in a `WideTree` for the neighbours that spanning trees need, in the total order of edges.

Edges at one row are ordered by (squared distance, number of the other row): that is the order of
`_kernels_edges`, as the key of (u, v) grows with the number of v. rank (n,) holds the row numbers of the
tree's positions, first (nodes,) the smallest one in each node: it tells whether a node whose gap equals the
bound can still hold a smaller edge, which matters where distances tie a thousandfold.
"""

import numpy as np

from confml._jit import kernel
from confml.bayes_error._kernels_edges import edge_key
from confml.neighbours.lanes import (
    FAN,
    LEAF,
    first_place,
    gaps_to_rows,
    squares_to_rows,
    squares_within,
)
from confml.neighbours.wide_tree import DEPTH, FAR, push_children

LAST = np.int64(0x7FFFFFFFFFFFFFFF)


@kernel
def has_equal_neighbours(X):
    """Return whether a row of X (n, d) equals the row before it."""
    for i in range(1, len(X)):
        a = 0
        while a < X.shape[1] and X[i, a] == X[i - 1, a]:
            a += 1
        if a == X.shape[1]:
            return True
    return False


@kernel
def smallest_ranks(tree, rank):
    """Return first (nodes,): the smallest row number in each node."""
    leaves = len(tree.members)
    first = np.full(leaves + len(tree.child) - 1, LAST, np.int64)
    for leaf in range(leaves):
        for i in tree.members[leaf]:
            if i >= 0:
                first[leaf] = min(first[leaf], rank[i])
    for group in range(len(tree.child) - 1):
        for node in range(tree.child[group], tree.child[group + 1]):
            first[leaves + group] = min(first[leaves + group], first[node])
    return first


@kernel
def fill_nearest_lists(tree, rank, first, begin, stop, d2, ends):
    """Fill in the k first edges at positions begin..stop-1: squared distances (n, k), ascending, and the
    other ends (n, k), -1 where there are no more."""
    k = d2.shape[1]
    space = np.empty(DEPTH, np.int64), np.empty(DEPTH), np.empty(max(LEAF, FAN))
    lists = np.empty(k), np.empty(k, np.int32), np.empty(k, np.int64)
    _fill_nearest_lists(tree, rank, first, begin, stop, d2, ends, space, lists)


@kernel
def _fill_nearest_lists(tree, rank, first, begin, stop, d2, ends, space, lists):
    nodes, gaps, out = space
    near, other, numbers = lists
    k, leaves, root = d2.shape[1], len(tree.members), len(first) - 1
    for i in range(begin, stop):
        near[:], other[:], numbers[:] = FAR, -1, LAST
        bound, last = FAR, LAST
        nodes[0], gaps[0] = root, 0.0
        held = 1
        while held > 0:
            held -= 1
            node, gap = nodes[held], gaps[held]
            if gap > bound or (gap == bound and first[node] > last):
                continue
            if node >= leaves:
                held = push_children(tree, node - leaves, tree.X, tree.X, i, bound, nodes, gaps, held, out)
                continue
            mask = squares_to_rows(tree.X, i, tree.rows, node, bound, out)
            while mask != 0:
                place = first_place(mask)
                mask &= mask - 1
                square, j = out[place], tree.members[node, place]
                if square > bound or j == i or (square == bound and rank[j] >= last):
                    continue
                number = rank[j]
                at = k - 1
                while at > 0 and (
                    near[at - 1] > square or (near[at - 1] == square and numbers[at - 1] > number)
                ):
                    near[at], other[at], numbers[at] = near[at - 1], other[at - 1], numbers[at - 1]
                    at -= 1
                near[at], other[at], numbers[at] = square, j, number
                bound, last = near[k - 1], numbers[k - 1]
        for e in range(k):
            d2[i, e], ends[i, e] = near[e], other[e]


@kernel
def fill_lists_by_leaf(tree, rank, first, begin, stop, d2, ends):
    """Fill lists as `fill_nearest_lists` for leaves begin..stop-1, by one search for all rows of a leaf.

    Faster for few features, where the rows of a leaf need the same leaves around them.
    """
    k = d2.shape[1]
    space = np.empty(DEPTH, np.int64), np.empty(DEPTH), np.empty(max(LEAF, FAN)), np.empty(LEAF)
    lists = np.empty((LEAF, k)), np.empty((LEAF, k), np.int32), np.empty(LEAF)
    box = np.empty((2, tree.X.shape[1]))
    for leaf in range(begin, stop):
        _fill_lists_of_leaf(tree, rank, first, leaf, d2, ends, space, lists, box[:1], box[1:])


@kernel
def _fill_lists_of_leaf(tree, rank, first, leaf, d2, ends, space, lists, low, high):
    """Fill the lists of the rows of one leaf. space, lists, low, high (1, d): work space."""
    nodes, gaps, out, squares = space
    near, other, bounds = lists  # lists of k rows, and the k-th distances
    X, k, leaves = tree.X, d2.shape[1], len(tree.members)
    near[:], other[:], bounds[:] = FAR, -1, FAR
    low[:], high[:] = np.inf, -np.inf
    rows = 0
    for i in tree.members[leaf]:
        if i < 0:
            break
        rows += 1
        for a in range(X.shape[1]):
            low[0, a], high[0, a] = min(low[0, a], X[i, a]), max(high[0, a], X[i, a])
    # every list ends before (bound, last), or at it
    bound, last = FAR, LAST
    nodes[0], gaps[0], nodes[1], gaps[1] = len(first) - 1, 0.0, leaf, 0.0  # the leaf itself first
    held, own = 2, True
    while held > 0:
        held -= 1
        node, gap = nodes[held], gaps[held]
        if gap > bound or (gap == bound and first[node] > last) or (node == leaf and not own):
            continue
        if node >= leaves:
            held = push_children(tree, node - leaves, low, high, 0, bound, nodes, gaps, held, out)
            continue
        if node == leaf:
            own = False
        mask = gaps_to_rows(low, high, 0, tree.rows, tree.rows, node, bound, out)
        while mask != 0:
            j = tree.members[node, first_place(mask)]
            mask &= mask - 1
            hits = squares_within(X, j, tree.rows, leaf, bounds, squares)
            while hits != 0:
                r = first_place(hits)
                hits &= hits - 1
                if tree.members[leaf, r] == j:
                    continue
                _enter(near, other, r, squares[r], j, rank)
                bounds[r] = near[r, k - 1]
        bound, last = bounds[0], _number(rank, other[0, k - 1])
        for r in range(1, rows):
            if bounds[r] >= bound:
                number = _number(rank, other[r, k - 1])
                if bounds[r] > bound or number > last:
                    bound, last = bounds[r], number
    for r in range(rows):
        i = tree.members[leaf, r]
        for e in range(k):
            d2[i, e], ends[i, e] = near[r, e], other[r, e]


@kernel
def _enter(near, other, r, square, j, rank):
    """Enter row j into list r in the order of (distance, row number), unless the list ends before it."""
    last = near.shape[1] - 1
    number = rank[j]
    at = last + 1
    while at > 0 and (
        near[r, at - 1] > square or (near[r, at - 1] == square and _number(rank, other[r, at - 1]) > number)
    ):
        at -= 1
        if at < last:
            near[r, at + 1], other[r, at + 1] = near[r, at], other[r, at]
    if at <= last:
        near[r, at], other[r, at] = square, j


@kernel
def _number(rank, i):
    """Return the row number at a position, and the largest number for -1."""
    return rank[i] if i >= 0 else LAST


@kernel
def is_used(chain_head, chain_next, chain_other, degree, u, v):
    """Return whether the edge u - v is in an earlier tree: the chains hold the edges at each position."""
    used = False
    if len(chain_next) > 0 and chain_head[u] >= 0:  # no chains with a single tree
        if degree[u] > degree[v]:
            u, v = v, u
        step = chain_head[u]
        while step >= 0 and not used:
            used = chain_other[step] == v
            step = chain_next[step]
    return used


@kernel
def nearest_outside(
    tree, rank, first, part, part_of_node, used, leaf, excluded, bound, key, box, nodes, gaps, out
):
    """Return the first unused edge from the rows of a leaf in part ``excluded`` to another part, if it
    comes before (bound, key).

    part (n,): part of each row; part_of_node (nodes,): the one part of all rows of a node, or -1; used: the
    chains of `is_used`; box (2, d), nodes, gaps, out: room. Returns the edge's squared distance, key, and
    ends; -1 where there is none.
    """
    X, leaves, smallest = tree.X, len(tree.members), LAST
    low, high = box[:1], box[1:]
    low[:], high[:] = np.inf, -np.inf
    for i in tree.members[leaf]:
        if i >= 0 and part[i] == excluded:
            smallest = min(smallest, rank[i])
            for a in range(X.shape[1]):
                low[0, a], high[0, a] = min(low[0, a], X[i, a]), max(high[0, a], X[i, a])
    u = v = np.int32(-1)
    nodes[0], gaps[0] = len(first) - 1, 0.0
    held = 1
    while held > 0:
        held -= 1
        node, gap = nodes[held], gaps[held]
        if gap > bound or part_of_node[node] == excluded:
            continue
        if gap == bound and _key(smallest, first[node]) >= key:
            continue
        if node >= leaves:
            held = push_children(tree, node - leaves, low, high, 0, bound, nodes, gaps, held, out)
            continue
        near = gaps_to_rows(low, high, 0, tree.rows, tree.rows, node, bound, out)
        while near != 0:
            j = tree.members[node, first_place(near)]
            near &= near - 1
            if part[j] == excluded:
                continue
            mask = squares_to_rows(X, j, tree.rows, leaf, bound, out)
            while mask != 0:
                place = first_place(mask)
                mask &= mask - 1
                square, i = out[place], tree.members[leaf, place]
                if square > bound or part[i] != excluded:
                    continue
                other = edge_key(rank, i, j)
                if (square < bound or other < key) and not is_used(used[0], used[1], used[2], used[3], i, j):
                    bound, key, u, v = square, other, i, j
    return bound, key, u, v


@kernel
def _key(a, b):
    return (a << 32) | b if a < b else (b << 32) | a
