"""Comparisons with a block of rows or boxes, against sums in the order of the features."""

import numpy as np
import pytest

from confml.neighbours import lanes
from confml.neighbours import wide_tree as wide


def sum_of_squares(differences):
    total = 0.0
    for difference in differences:
        total += difference * difference
    return total


def bits(mask):
    return [e for e in range(63) if mask >> (e + 1) & 1]


@pytest.mark.parametrize("d", [1, 3, 9, 17])
@pytest.mark.parametrize("scale", [1e-170, 1.0, 1e150])
def test_vectors_hold_what_plain_sums_give(d, scale):
    rng = np.random.default_rng(d)
    X = np.round(rng.normal(size=(300, d)), 1) * scale
    X = np.ascontiguousarray(X[wide.tree_order(X)])
    tree = wide.wide_tree(X, wide.leaves_in_order(300))
    low, high = X[:5] - 0.1 * scale, X[:5] + 0.1 * scale
    out = np.empty(lanes.LEAF)
    node_rows = {leaf: [i for i in tree.members[leaf] if i >= 0] for leaf in range(len(tree.members))}
    for group in range(len(tree.child) - 1):
        children = range(tree.child[group], tree.child[group + 1])
        node_rows[len(tree.members) + group] = sum((node_rows[c] for c in children), [])
    assert sorted(node_rows[max(node_rows)]) == list(range(300))

    def check(mask, expected, bound):
        assert out[: len(expected)].tolist() == expected
        assert bits(mask) == [e for e, square in enumerate(expected) if square <= bound]

    for leaf in range(len(tree.members)):
        expected = [sum_of_squares(X[3] - X[i]) for i in node_rows[leaf]]
        bound = float(np.median(expected))
        check(lanes.squares_to_rows(X, 3, tree.rows, leaf, bound, out), expected, bound)
        expected = [
            sum_of_squares(np.maximum(0.0, np.maximum(X[i] - high[2], low[2] - X[i])))
            for i in node_rows[leaf]
        ]
        bound = float(np.median(expected))
        mask = lanes.gaps_to_rows(low, high, 2, tree.rows, tree.rows, leaf, bound, out)
        check(mask, expected, bound)
    for group in range(len(tree.child) - 1):
        expected = []
        for child in range(tree.child[group], tree.child[group + 1]):
            own = X[node_rows[child]]
            gap = np.maximum(0.0, np.maximum(own.min(axis=0) - high[2], low[2] - own.max(axis=0)))
            expected.append(sum_of_squares(gap))
        bound = float(np.median(expected))
        mask = lanes.gaps_to_children(low, high, 2, tree.lows, tree.highs, group, bound, out)
        check(mask, expected, bound)
