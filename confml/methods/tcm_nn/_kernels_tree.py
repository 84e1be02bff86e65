"""Kernels of TCM-NN that search one `WideTree` per class, for few features and many examples."""

import numpy as np

from confml._jit import kernel
from confml.methods.tcm_nn._kernels import _ABOVE_ONE, OTHER_PART, can_matter, new_alphas, update_counts
from confml.neighbours.distances import insert, squared_distance_of_rows
from confml.neighbours.lanes import FAN, LEAF, first_place, gaps_to_children, squares_to_rows
from confml.neighbours.wide_tree import DEPTH, FAR, next_leaf


@kernel
def search_tree(Q, tree, first, nearest):
    """Merge the rows of a tree into nearest[r] (K,), ascending squared distances, for rows r of Q.

    first: the row of the tree that is Q[0] if Q are rows of the tree, which do not count for themselves; else
    a negative number. The k-th distance of a row is at most that of the row before it plus the distance of
    the two, because the rows within the one distance of the row before, itself in place of this row, are
    within the sum of both.
    """
    k, root = nearest.shape[1], len(tree.members) + len(tree.child) - 2
    nodes, gaps, squares = np.empty(DEPTH, np.int64), np.empty(DEPTH), np.empty(max(LEAF, FAN))
    for r in range(len(Q)):
        best, limit = nearest[r], min(nearest[r, k - 1], FAR)
        if r > 0:
            step = np.sqrt(squared_distance_of_rows(Q, r - 1, Q, r))
            limit = min(limit, (np.sqrt(nearest[r - 1, k - 1]) + step) ** 2 * _ABOVE_ONE)
        nodes[0], gaps[0] = root, 0.0
        top = 1
        while True:
            leaf, top = next_leaf(tree, Q, r, limit, nodes, gaps, squares, top)
            if leaf < 0:
                break
            mask = squares_to_rows(Q, r, tree.rows, leaf, limit, squares)
            while mask != 0:
                e = first_place(mask)
                mask &= mask - 1
                if squares[e] < best[k - 1] and tree.members[leaf, e] != first + r:
                    insert(best, squares[e])
                    limit = min(limit, best[k - 1])


@kernel
def node_bounds(examples, tree, nodes):
    """Fill nodes (leaves and groups, 5, q) with the bounds of the examples that count in every node."""
    leaves = len(tree.members)
    nodes[:] = -np.inf
    nodes[:, OTHER_PART] = np.inf
    for leaf in range(leaves):
        for t in tree.members[leaf]:
            if t >= 0 and examples.counted[t]:
                _widen(nodes[leaf], examples.bounds[t])
    for group in range(len(tree.child) - 1):
        for node in range(tree.child[group], tree.child[group + 1]):
            _widen(nodes[leaves + group], nodes[node])


@kernel
def _widen(entry, by):
    """Extend a node's bounds to those of a row or a child, ``by`` (5, q)."""
    for q in range(entry.shape[1]):
        for field in range(OTHER_PART):
            entry[field, q] = max(entry[field, q], by[field, q])
        entry[OTHER_PART, q] = min(entry[OTHER_PART, q], by[OTHER_PART, q])


@kernel
def all_alphas(nearest, new, ks):
    """Compute the alphas of all new examples from nearest (b, c, K)."""
    for r in range(len(nearest)):
        new_alphas(nearest[r], r, new, ks)


@kernel
def count_in_tree(tree, nodes, z, examples, new):
    """Update the counts of new examples for the rows of a tree, all of class z, visiting only boxes that
    `can_matter`."""
    leaves, root = len(tree.members), len(nodes) - 1
    waiting, squares = np.empty(DEPTH, np.int64), np.empty(max(LEAF, FAN))
    Q, ks, others = new.Q, examples.ks, examples.others
    for r in range(len(Q)):
        alphas, lowest = new.alphas[r, z], new.lowest[r, z]
        waiting[0], top = root, 1
        while top > 0:
            top -= 1
            node = waiting[top]
            if node < leaves:
                mask = squares_to_rows(Q, r, tree.rows, node, FAR, squares)
                while mask != 0:
                    e = first_place(mask)
                    mask &= mask - 1
                    t, distance = tree.members[node, e], np.sqrt(squares[e])
                    if can_matter(examples.bounds, t, distance, ks, alphas, lowest, others):
                        update_counts(distance, t, examples, new, r)
                continue
            group = node - leaves
            mask = gaps_to_children(Q, Q, r, tree.lows, tree.highs, group, FAR, squares)
            while mask != 0:
                e = first_place(mask)
                mask &= mask - 1
                child = tree.child[group] + e
                if can_matter(nodes, child, np.sqrt(squares[e]), ks, alphas, lowest, others):
                    waiting[top] = child
                    top += 1
