"""Kernels that search `ClassTrees`, one k-d tree for each class or part of a class.

All trees share their arrays: first the leaves of all trees are numbered, then all groups, parents after their
children. The children of a group are leaves only, or groups only.

Leaves and boxes hold rows on the scale of the trees, rounded to the number type of the trees, mostly float32.
They only exclude rows: the distances of all others are computed exactly. With the unit roundoff u of the type
and y = scale (x - centre) without rounding, the rounded rows v have

    |v_i - v_q|  <=  (1 + 3 u) |y_i - y_q| + 3 u |y_q|,

because coordinate a of v_i is wrong by at most u |y_ia| <= u |y_ia - y_qa| + u |y_qa|, and subtraction adds a
relative error of u. A sum of d rounded squares has a relative error of at most about (d + 1) u. So the sum
for a row at distance D or nearer is at most

    ((scale D + error_q)^2) factor + floor,   error_q = 4 u |y_q|,   factor = 1 + 2 (d + 32) u,

where ``floor`` covers products below the range of the type, and the other constants all terms in u^2, the
rounding of float64 and that of this bound itself. A gap to a box is never above the sum for a row inside it,
except for what ``factor`` covers, because every step of both is monotone.
"""

import numpy as np

from confml._jit import kernel
from confml.neighbours.distances import insert, squared_distance_of_rows
from confml.neighbours.lanes import WIDE_FAN, WIDE_LEAF, boxes_within, first_place, rows_within
from confml.neighbours.wide_tree import DEPTH, push

FARTHEST = 2.0**127
"""Above any squared distance in the trees and below the infinity of missing rows."""
FARTHEST_QUERY = 2.0**55
"""Length of a rounded row up to which its squared distances stay below `FARTHEST`."""


@kernel
def round_rows(X, centre, scale, unit, values, errors):
    """Fill values (n, d) with the rounded rows of X on the scale of the trees, and errors (n,) with their
    ``error_q``; +inf for rows that are too far away."""
    for i in range(len(X)):
        square = 0.0
        for a in range(X.shape[1]):
            y = (X[i, a] - centre[a]) * scale
            values[i, a] = y
            square += y * y
        length = np.sqrt(square)
        errors[i] = 4.0 * unit * length if length <= FARTHEST_QUERY else np.inf


@kernel
def limit_of(distance, error, trees):
    """Return the largest rounded square of a row at this distance, in the units of the data, or nearer."""
    reach = distance * trees.scale + error
    limit = reach * reach * trees.factor + trees.floor
    return trees.rows.dtype.type(min(limit, FARTHEST))


@kernel
def limit_below(square, error, trees):
    """Return `limit_of` for rows nearer than the root of ``square``; below 0 if there can be none."""
    return limit_of(np.sqrt(square), error, trees) if square > 0.0 else trees.rows.dtype.type(-1.0)


@kernel
def search_space(trees, k):
    """Return work space of searches for the k nearest: nodes and gaps of the stack, gaps of boxes, squared
    distances in a leaf, and the smallest of them."""
    kind = trees.rows.dtype
    stack = np.empty(DEPTH, np.int64), np.empty(DEPTH, kind)
    return *stack, np.empty(WIDE_FAN, kind), np.empty(WIDE_LEAF, kind), np.empty(k, kind)


@kernel
def _leaf_near(values, r, trees, tree, boxes):
    """Return a leaf near row r of the queries: the child with the nearest box in each group."""
    node = trees.roots[tree]
    while node >= len(trees.first):
        group = node - len(trees.first)
        boxes_within(values, r, trees.lows, trees.highs, group, trees.rows.dtype.type(0.0), boxes)
        nearest = 0
        for place in range(1, WIDE_FAN):
            if boxes[place] < boxes[nearest]:
                nearest = place
        node = trees.child[0, group] + nearest
    return node


@kernel
def _limit_in_leaf(values, errors, r, skip, trees, leaf, space):
    """Return a limit that excludes none of the k nearest of row r of the queries: their k-th rounded distance
    in one leaf, as a distance in the units of the data, is at least the k-th distance in the tree.

    skip: a row of the trees that does not count, or -1.
    """
    sums, smallest = space[3], space[4]
    sums[:] = 0.0
    for a in range(values.shape[1]):
        x = values[r, a]
        for e in range(WIDE_LEAF):
            apart = x - trees.rows[leaf, a, e]
            sums[e] += apart * apart
    smallest[:] = np.inf
    last = len(smallest) - 1
    for e in range(WIDE_LEAF):
        if sums[e] < smallest[last] and trees.first[leaf] + e != skip:
            insert(smallest, sums[e])
    if not smallest[last] < FARTHEST:
        return trees.rows.dtype.type(FARTHEST)
    largest = np.sqrt(np.float64(smallest[last]) * trees.factor + trees.floor) + errors[r]
    return limit_of(largest / trees.scale, errors[r], trees)


@kernel
def _search(Q, values, errors, r, skip, trees, tree, best, limit, space):
    """Update best (k,), ascending squared distances from Q[r], with the rows of a tree except ``skip``.

    values, errors: the rounded rows of Q. limit: excludes none of the k nearest. space: `search_space`.
    """
    nodes, gaps, boxes = space[0], space[1], space[2]
    k, leaves, error = len(best), len(trees.first), errors[r]
    if error == np.inf:
        for t in range(trees.starts[tree], trees.starts[tree + 1]):
            square = squared_distance_of_rows(Q, r, trees.X, t)
            if square < best[k - 1] and t != skip:
                insert(best, square)
        return
    limit = min(limit, limit_below(best[k - 1], error, trees))
    nodes[0], gaps[0] = trees.roots[tree], 0.0
    held = 1
    while held > 0:
        held -= 1
        if gaps[held] > limit:
            continue
        group = nodes[held] - leaves
        mask = boxes_within(values, r, trees.lows, trees.highs, group, limit, boxes)
        if trees.child[0, group] >= leaves:
            held = push(trees.child[0, group], mask, boxes, nodes, gaps, held)
            continue
        while mask != 0:
            place = first_place(mask)
            mask &= mask - 1
            if boxes[place] > limit:
                continue
            leaf = trees.child[0, group] + place
            near = rows_within(values, r, trees.rows, leaf, limit)
            while near != 0:
                t = trees.first[leaf] + first_place(near)
                near &= near - 1
                square = squared_distance_of_rows(Q, r, trees.X, t)
                if square < best[k - 1] and t != skip:
                    insert(best, square)
                    limit = min(limit, limit_below(best[k - 1], error, trees))


@kernel
def nearest_of_training(start, values, errors, code, trees, nearest):
    """Fill nearest[i, 0], nearest[i, 1] (k,) for rows i of the trees from ``start`` on: distances to the k
    nearest of the own class and of other classes. values, errors: the rounded rows from ``start`` on."""
    space = search_space(trees, nearest.shape[2])
    boxes, farthest = space[2], trees.rows.dtype.type(FARTHEST)
    classes, leaves = len(trees.roots), len(trees.first)
    Q = trees.X[start : start + len(values)]
    gap_of_class = np.empty(classes, trees.rows.dtype)
    leaf = np.searchsorted(trees.first, start, side="right") - 1
    for r in range(len(values)):
        i = start + r
        nearest[i] = np.inf
        own = code[i]
        if leaf + 1 < leaves and i == trees.first[leaf + 1]:
            leaf += 1
        limit = _limit_in_leaf(values, errors, r, i, trees, leaf, space)
        _search(Q, values, errors, r, i, trees, own, nearest[i, 0], limit, space)
        for z in range(classes):
            boxes_within(values, r, trees.lows, trees.highs, trees.roots[z] - leaves, farthest, boxes)
            gap_of_class[z] = min(boxes)
        found = False
        for z in np.argsort(gap_of_class):  # near classes first: they exclude far ones
            if z != own and gap_of_class[z] <= limit_below(nearest[i, 1, -1], errors[r], trees):
                limit = farthest
                if not found:
                    near = _leaf_near(values, r, trees, z, boxes)
                    limit = _limit_in_leaf(values, errors, r, -1, trees, near, space)
                    found = True
                _search(Q, values, errors, r, -1, trees, z, nearest[i, 1], limit, space)
        nearest[i] = np.sqrt(nearest[i])


@kernel
def nearest_of_classes(Q, values, errors, trees, nearest):
    """Fill nearest[r, z] (k,) with the distances of Q[r] to its k nearest of class z."""
    space = search_space(trees, nearest.shape[2])
    for r in range(len(Q)):
        nearest[r] = np.inf
        for z in range(len(trees.roots)):
            leaf = _leaf_near(values, r, trees, z, space[2])
            limit = _limit_in_leaf(values, errors, r, -1, trees, leaf, space)
            _search(Q, values, errors, r, -1, trees, z, nearest[r, z], limit, space)
        nearest[r] = np.sqrt(nearest[r])
