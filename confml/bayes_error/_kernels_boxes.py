"""Candidates across two ranges of a k-d order, for few attributes: boxes of cells rule out most distances.

The same filter as in `_kernels_cross`, with exact distances: pairs of cells are visited nearest first. A
pair is skipped if the minimum distance of its boxes exceeds the bound of every row of both cells. A box
distance summed in the order of the attributes is never above a row's distance, rounding included, as every
step of both is monotone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from confml._jit import kernel

CELL = 24
"""Rows at most in the cells whose rows are compared one by one."""
DEPTH = 64
"""Levels of the tree at most."""


class Boxes(NamedTuple):
    """Rows X (n, d), XT (d, n) and their binary tree of ranges: see `boxes_of`."""

    X: np.ndarray
    XT: np.ndarray
    low: np.ndarray
    high: np.ndarray
    first: np.ndarray
    last: np.ndarray
    left: np.ndarray
    right: np.ndarray


@kernel
def nearby_order(X, rows, cell):
    """Reorder the rows (m,) of X: halved recursively at the median of the widest feature, down to cells."""
    order = rows.copy()
    stack = np.empty((DEPTH, 2), np.int64)
    stack[0, 0], stack[0, 1] = 0, order.size
    top = 1
    while top > 0:
        top -= 1
        begin, end = stack[top]
        if end - begin <= cell:
            continue
        widest, most = 0, -1.0
        for a in range(X.shape[1]):
            smallest = largest = X[order[begin], a]
            for i in range(begin + 1, end):
                x = X[order[i], a]
                smallest = x if x < smallest else smallest
                largest = x if x > largest else largest
            width = largest / 2 - smallest / 2
            if width > most:
                widest, most = a, width
        unsorted, values = order[begin:end].copy(), np.empty(end - begin, np.float64)
        for i in range(end - begin):
            values[i] = X[unsorted[i], widest]
        places = np.argsort(values)
        for i in range(end - begin):
            order[begin + i] = unsorted[places[i]]
        middle = begin + (end - begin) // 2
        stack[top, 0], stack[top, 1] = begin, middle
        stack[top + 1, 0], stack[top + 1, 1] = middle, end
        top += 2
    return order


@kernel
def boxes_of(X, start, stop, low, high, first, last, left, right, at):
    """Return the boxes of the range and of its halves down to cells, in preorder from index at; returns the
    next free index.

    low, high (nodes, d); first, last, left, right (nodes,): range and children (-1 at cells) of each node.
    """
    stack = np.empty((DEPTH, 4), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = start, stop, -1, 0
    top = 1
    while top > 0:
        top -= 1
        begin, end, parent, side = stack[top]
        node = at
        at += 1
        if parent >= 0:
            if side == 0:
                left[parent] = node
            else:
                right[parent] = node
        first[node], last[node], left[node], right[node] = begin, end, -1, -1
        for a in range(X.shape[1]):
            smallest = largest = X[begin, a]
            for i in range(begin + 1, end):
                x = X[i, a]
                smallest = x if x < smallest else smallest
                largest = x if x > largest else largest
            low[node, a], high[node, a] = smallest, largest
        if end - begin > CELL:
            middle = begin + (end - begin) // 2
            stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = middle, end, node, 1
            stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2], stack[top + 1, 3] = (
                begin,
                middle,
                node,
                0,
            )
            top += 2
    return at


@kernel
def _box_distance(a_side, p, b_side, q):
    """Return squared distance of the boxes of two nodes."""
    total = 0.0
    for a in range(a_side.low.shape[1]):
        gap = max(a_side.low[p, a] - b_side.high[q, a], b_side.low[q, a] - a_side.high[p, a])
        if gap > 0:
            total += gap * gap
    return total


@kernel
def _row_box_distance(X, i, side, q, enough):
    """Return squared distance of row X[i] to a node's box, or a part of it that is above `enough`."""
    total = 0.0
    for a in range(X.shape[1]):
        gap = max(side.low[q, a] - X[i, a], X[i, a] - side.high[q, a])
        if gap > 0:
            total += gap * gap
            if total > enough:
                break
    return total


@kernel
def _highest(height, offset, side, root, stop):
    """Return the largest value of each node's rows; nodes root..stop-1 are in preorder."""
    most = np.zeros(stop - root, np.float64)
    for node in range(stop - 1, root - 1, -1):
        if side.left[node] >= 0:
            most[node - root] = max(most[side.left[node] - root], most[side.right[node] - root])
        else:
            for i in range(side.first[node], side.last[node]):
                most[node - root] = max(most[node - root], height[i - offset])
    return most


@kernel
def _note(nearest, i, value):
    """Put a value among the m smallest of row i, kept in ascending order."""
    m = nearest.shape[1]
    if value < nearest[i, m - 1]:
        j = m - 1
        while j > 0 and nearest[i, j - 1] > value:
            nearest[i, j] = nearest[i, j - 1]
            j -= 1
        nearest[i, j] = value


@kernel
def _raise_to_root(bound, node, parent, side, root):
    """Renew the bounds of a cell's ancestors: each the larger of its children's."""
    up = parent[node - root]
    while up >= 0:
        most = max(bound[side.left[up] - root], bound[side.right[up] - root])
        if bound[up - root] == most:
            break
        bound[up - root] = most
        up = parent[up - root]


@kernel
def _parents(side, root, stop):
    parent = np.full(stop - root, -1, np.int64)
    for node in range(root, stop):
        if side.left[node] >= 0:
            parent[side.left[node] - root] = node
            parent[side.right[node] - root] = node
    return parent


@kernel
def candidates(a_side, root_u, stop_u, b_side, root_v, stop_v, h_u, h_v, m, limit):
    """Return pairs across two ranges that pass the filter, and the filter's own_u, own_v, shortest (see
    `thresholds`).

    a_side, b_side: `Boxes`, of which nodes root..stop-1 belong to the ranges; h_u, h_v heights, squared; m
    witnesses. Returns i, j (numbers within the ranges), own_u, own_v, shortest, and whether the lists are
    complete (not if more than limit pass).
    """
    X, XT = a_side.X, b_side.XT
    d = X.shape[1]
    begin_u, begin_v = a_side.first[root_u], b_side.first[root_v]
    na, nb = a_side.last[root_u] - begin_u, b_side.last[root_v] - begin_v
    top_u = _highest(h_u, begin_u, a_side, root_u, stop_u)
    top_v = _highest(h_v, begin_v, b_side, root_v, stop_v)
    parent_u, parent_v = _parents(a_side, root_u, stop_u), _parents(b_side, root_v, stop_v)
    near_u, near_v = np.full((na, m), np.inf), np.full((nb, m), np.inf)
    # largest own bound of each node's rows
    own_top_u, own_top_v = np.full(stop_u - root_u, np.inf), np.full(stop_v - root_v, np.inf)
    shortest = np.inf
    capacity = 4 * (na + nb)
    u, v, d2 = np.empty(capacity, np.int32), np.empty(capacity, np.int32), np.empty(capacity, np.float64)
    found = 0
    complete = True
    stack_p, stack_q = np.empty(8 * DEPTH, np.int64), np.empty(8 * DEPTH, np.int64)
    stack_d = np.empty(8 * DEPTH, np.float64)
    stack_p[0], stack_q[0], stack_d[0] = root_u, root_v, _box_distance(a_side, root_u, b_side, root_v)
    top = 1
    row, active = np.empty(2 * CELL, np.float64), np.empty(2 * CELL, np.int64)
    while top > 0 and complete:
        top -= 1
        p, q, gap = stack_p[top], stack_q[top], stack_d[top]
        hp, hq = top_u[p - root_u], top_v[q - root_v]
        alpha = min(own_top_u[p - root_u], max(shortest, hp))
        beta = min(own_top_v[q - root_v], max(shortest, hq))
        if gap > min(max(alpha, hq), max(beta, hp)):
            continue
        if a_side.left[p] >= 0 or b_side.left[q] >= 0:
            # open the larger one, the nearer half on top of the stack
            rows_p, rows_q = a_side.last[p] - a_side.first[p], b_side.last[q] - b_side.first[q]
            open_p = b_side.left[q] < 0 or (a_side.left[p] >= 0 and rows_p >= rows_q)
            if open_p:
                p1, q1, p2, q2 = a_side.left[p], q, a_side.right[p], q
            else:
                p1, q1, p2, q2 = p, b_side.left[q], p, b_side.right[q]
            g1, g2 = _box_distance(a_side, p1, b_side, q1), _box_distance(a_side, p2, b_side, q2)
            if g1 < g2:
                p1, q1, g1, p2, q2, g2 = p2, q2, g2, p1, q1, g1
            stack_p[top], stack_q[top], stack_d[top] = p1, q1, g1
            stack_p[top + 1], stack_q[top + 1], stack_d[top + 1] = p2, q2, g2
            top += 2
            continue
        # the rows of q that any row of p may need, usually few of them or none
        from_v, to_v = b_side.first[q], b_side.last[q]
        width = 0
        for j in range(from_v, to_v):
            s = j - begin_v
            beta_v = min(near_v[s, m - 1], max(shortest, h_v[s]))
            bound = min(max(alpha, h_v[s]), max(beta_v, hp))
            if gap <= bound and _row_box_distance(b_side.X, j, a_side, p, bound) <= bound:
                active[width] = s
                width += 1
        if width == 0:
            continue
        for i in range(a_side.first[p], a_side.last[p]):
            r = i - begin_u
            bound = min(max(min(near_u[r, m - 1], max(shortest, h_u[r])), hq), max(beta, h_u[r]))
            if gap > bound or _row_box_distance(X, i, b_side, q, bound) > bound:
                continue
            if 2 * width > to_v - from_v:
                for j in range(to_v - from_v):
                    row[j] = 0.0
                for c in range(d):
                    x = X[i, c]
                    column = XT[c]
                    for j in range(to_v - from_v):
                        difference = x - column[from_v + j]
                        row[j] += difference * difference
            else:
                for k in range(width):
                    j = active[k] + begin_v
                    total = 0.0
                    for c in range(d):
                        difference = X[i, c] - b_side.X[j, c]
                        total += difference * difference
                    row[j - from_v] = total
            for k in range(width):
                s = active[k]
                w = row[s + begin_v - from_v]
                if w > bound:
                    continue
                _note(near_u, r, max(w, h_v[s]))
                _note(near_v, s, max(w, h_u[r]))
                alpha_u = min(near_u[r, m - 1], max(shortest, h_u[r]))
                beta_v = min(near_v[s, m - 1], max(shortest, h_v[s]))
                if w <= max(alpha_u, h_v[s]) and w <= max(beta_v, h_u[r]):
                    if found == capacity:
                        # forget those that the bounds now rule out, and grow if that does not help
                        found = _still_passing(u, v, d2, found, near_u, near_v, shortest, h_u, h_v)
                        if 2 * found > capacity:
                            capacity *= 2
                            u2, v2, w2 = (
                                np.empty(capacity, np.int32),
                                np.empty(capacity, np.int32),
                                np.empty(capacity),
                            )
                            for e in range(found):
                                u2[e], v2[e], w2[e] = u[e], v[e], d2[e]
                            u, v, d2 = u2, v2, w2
                    u[found], v[found], d2[found] = r, s, w
                    found += 1
            shortest = min(shortest, max(near_u[r, m - 1], h_u[r]))
        most_p = most_q = 0.0
        for i in range(a_side.first[p], a_side.last[p]):
            most_p = max(most_p, near_u[i - begin_u, m - 1])
        for j in range(from_v, to_v):
            most_q = max(most_q, near_v[j - begin_v, m - 1])
            shortest = min(shortest, max(near_v[j - begin_v, m - 1], h_v[j - begin_v]))
        if most_p < own_top_u[p - root_u]:
            own_top_u[p - root_u] = most_p
            _raise_to_root(own_top_u, p, parent_u, a_side, root_u)
        if most_q < own_top_v[q - root_v]:
            own_top_v[q - root_v] = most_q
            _raise_to_root(own_top_v, q, parent_v, b_side, root_v)
        if found > limit:
            found = _still_passing(u, v, d2, found, near_u, near_v, shortest, h_u, h_v)
            complete = 2 * found <= limit
    found = _still_passing(u, v, d2, found, near_u, near_v, shortest, h_u, h_v)
    return u[:found], v[:found], near_u[:, m - 1].copy(), near_v[:, m - 1].copy(), shortest, complete


@kernel
def _still_passing(u, v, d2, found, near_u, near_v, shortest, h_u, h_v):
    """Move the edges that pass the present bounds to the front; how many they are."""
    m = near_u.shape[1]
    kept = 0
    for e in range(found):
        r, s = u[e], v[e]
        alpha = min(near_u[r, m - 1], max(shortest, h_u[r]))
        beta = min(near_v[s, m - 1], max(shortest, h_v[s]))
        if d2[e] <= max(alpha, h_v[s]) and d2[e] <= max(beta, h_u[r]):
            u[kept], v[kept], d2[kept] = u[e], v[e], d2[e]
            kept += 1
    return kept
