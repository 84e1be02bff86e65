"""Candidates across two sets in k-d trees, for few features: boxes of nodes exclude most distances.

The same filter as in `_kernels_cross`, with exact distances: pairs of nodes are visited nearest first, and
skipped if the gap between their boxes exceeds the bounds of all their rows. A gap is never above the distance
of two rows inside the boxes, see `wide_tree`.
"""

from typing import NamedTuple

import numpy as np

from confml._jit import kernel
from confml.neighbours.distances import insert
from confml.neighbours.lanes import FAN, LEAF, first_place, gaps_to_rows, squares_to_rows
from confml.neighbours.wide_tree import DEPTH, FAR, WideTree, push_children


class Boxes(NamedTuple):
    """A `WideTree` of `leaves_in_order`, with the box low, high (nodes, d) of each node, its parent (nodes,),
    -1 for the root, and its level (nodes,), 0 for leaves."""

    tree: WideTree
    low: np.ndarray
    high: np.ndarray
    parent: np.ndarray
    level: np.ndarray


@kernel
def boxes_of(tree):
    """Return the `Boxes` of a tree."""
    leaves, root = len(tree.members), len(tree.members) + len(tree.child) - 2
    low, high = np.full((root + 1, tree.X.shape[1]), np.inf), np.full((root + 1, tree.X.shape[1]), -np.inf)
    parent, level = np.full(root + 1, -1), np.zeros(root + 1, np.int64)
    for group in range(len(tree.child) - 1):
        for node in range(tree.child[group], tree.child[group + 1]):
            parent[node], level[leaves + group] = leaves + group, level[node] + 1
            for a in range(tree.X.shape[1]):
                low[node, a] = tree.lows[group, a, node - tree.child[group]]
                high[node, a] = tree.highs[group, a, node - tree.child[group]]
                if parent[node] == root:
                    low[root, a] = min(low[root, a], low[node, a])
                    high[root, a] = max(high[root, a], high[node, a])
    return Boxes(tree, low, high, parent, level)


@kernel
def _largest(tree, values):
    """Return the largest of the rows' values (n,) in each node."""
    leaves = len(tree.members)
    most = np.zeros(leaves + len(tree.child) - 1)
    for i in range(len(values)):
        most[i // LEAF] = max(most[i // LEAF], values[i])
    for group in range(len(tree.child) - 1):
        for node in range(tree.child[group], tree.child[group + 1]):
            most[leaves + group] = max(most[leaves + group], most[node])
    return most


@kernel
def _lower(bound, side, leaf, near):
    """Lower the bounds (nodes,) of a leaf and its ancestors to the largest bound of the leaf's rows."""
    most = 0.0
    for i in range(LEAF * leaf, min(LEAF * (leaf + 1), len(near))):
        most = max(most, near[i, near.shape[1] - 1])
    node, leaves = leaf, len(side.tree.members)
    while most < bound[node]:
        bound[node] = most
        node = side.parent[node]
        if node < 0:
            break
        for child in range(side.tree.child[node - leaves], side.tree.child[node - leaves + 1]):
            most = max(most, bound[child])


@kernel
def candidates(a, b, h_u, h_v, m, limit):
    """Return pairs of rows of two sets that pass the filter, and the filter's own_u, own_v, shortest (see
    `thresholds`).

    a, b: the `Boxes` of the sets; h_u, h_v: the heights of their rows, squared; m: number of witnesses.
    Returns i, j, own_u, own_v, shortest, and whether the lists are complete (not if more than limit pass).
    """
    leaves_a, leaves_b = len(a.tree.members), len(b.tree.members)
    top_u, top_v = _largest(a.tree, h_u), _largest(b.tree, h_v)
    near_u, near_v = np.full((len(h_u), m), np.inf), np.full((len(h_v), m), np.inf)
    # largest own bound of each node's rows
    own_top_u, own_top_v = np.full(len(a.parent), np.inf), np.full(len(b.parent), np.inf)
    shortest = np.inf
    capacity = 4 * (len(h_u) + len(h_v))
    u, v, d2 = np.empty(capacity, np.int32), np.empty(capacity, np.int32), np.empty(capacity)
    found = 0
    complete = True
    nodes_p, nodes_q = np.empty(2 * DEPTH, np.int64), np.empty(2 * DEPTH, np.int64)
    gaps, out, squares = np.empty(2 * DEPTH), np.empty(max(LEAF, FAN)), np.empty(LEAF)
    nodes_p[0], nodes_q[0], gaps[0] = len(a.parent) - 1, len(b.parent) - 1, 0.0
    held = 1
    while held > 0 and complete:
        held -= 1
        p, q, gap = nodes_p[held], nodes_q[held], gaps[held]
        hp, hq = top_u[p], top_v[q]
        alpha, beta = min(own_top_u[p], max(shortest, hp)), min(own_top_v[q], max(shortest, hq))
        bound = min(max(alpha, hq), max(beta, hp), FAR)
        if gap > bound:
            continue
        if p >= leaves_a or q >= leaves_b:  # open the higher one, with the nearest child last
            before = held
            if a.level[p] >= b.level[q]:
                held = push_children(a.tree, p - leaves_a, b.low, b.high, q, bound, nodes_p, gaps, held, out)
                nodes_q[before:held] = q
            else:
                held = push_children(b.tree, q - leaves_b, a.low, a.high, p, bound, nodes_q, gaps, held, out)
                nodes_p[before:held] = p
            continue
        mask = gaps_to_rows(b.low, b.high, q, a.tree.rows, a.tree.rows, p, bound, out)
        while mask != 0:
            place = first_place(mask)
            mask &= mask - 1
            r = LEAF * p + place
            bound = min(max(min(near_u[r, m - 1], max(shortest, h_u[r])), hq), max(beta, h_u[r]), FAR)
            if out[place] > bound:
                continue
            hits = squares_to_rows(a.tree.X, r, b.tree.rows, q, bound, squares)
            while hits != 0:
                w, s = squares[first_place(hits)], LEAF * q + first_place(hits)
                hits &= hits - 1
                if max(w, h_v[s]) < near_u[r, m - 1]:
                    insert(near_u[r], max(w, h_v[s]))
                if max(w, h_u[r]) < near_v[s, m - 1]:
                    insert(near_v[s], max(w, h_u[r]))
                if _passes(r, s, w, near_u, near_v, shortest, h_u, h_v):
                    if found == capacity:
                        # remove those that the bounds now exclude, and grow if that does not help
                        found = _still_passing(u, v, d2, found, near_u, near_v, shortest, h_u, h_v)
                        if 2 * found > capacity:
                            capacity *= 2
                            u, v = np.concatenate((u, u)), np.concatenate((v, v))
                            d2 = np.concatenate((d2, d2))
                    u[found], v[found], d2[found] = r, s, w
                    found += 1
            shortest = min(shortest, max(near_u[r, m - 1], h_u[r]))
        for s in range(LEAF * q, min(LEAF * (q + 1), len(h_v))):
            shortest = min(shortest, max(near_v[s, m - 1], h_v[s]))
        _lower(own_top_u, a, p, near_u)
        _lower(own_top_v, b, q, near_v)
        if found > limit:
            found = _still_passing(u, v, d2, found, near_u, near_v, shortest, h_u, h_v)
            complete = 2 * found <= limit
    found = _still_passing(u, v, d2, found, near_u, near_v, shortest, h_u, h_v)
    return u[:found], v[:found], near_u[:, m - 1].copy(), near_v[:, m - 1].copy(), shortest, complete


@kernel
def _passes(r, s, w, near_u, near_v, shortest, h_u, h_v):
    """Return whether an edge of squared length w passes the bounds of its ends."""
    last = near_u.shape[1] - 1
    alpha = min(near_u[r, last], max(shortest, h_u[r]))
    beta = min(near_v[s, last], max(shortest, h_v[s]))
    return w <= max(alpha, h_v[s]) and w <= max(beta, h_u[r])


@kernel
def _still_passing(u, v, d2, edges, near_u, near_v, shortest, h_u, h_v):
    """Move the edges that pass the bounds to the front; return their number."""
    kept = 0
    for e in range(edges):
        if _passes(u[e], v[e], d2[e], near_u, near_v, shortest, h_u, h_v):
            u[kept], v[kept], d2[kept] = u[e], v[e], d2[e]
            kept += 1
    return kept
