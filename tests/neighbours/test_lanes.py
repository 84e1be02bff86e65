"""Comparisons with a block of rows or boxes, against sums in the order of the features."""

from __future__ import annotations

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
    return [e for e in range(64) if mask >> e & 1]


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
        bounds = np.resize([bound, 0.0, np.inf, -1.0], lanes.LEAF)
        found = bits(lanes.squares_within(X, 3, tree.rows, leaf, bounds, out))
        assert out[: len(expected)].tolist() == expected
        assert [e for e in found if e < len(expected)] == [
            e for e, square in enumerate(expected) if square <= bounds[e]
        ]
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


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 2, 7, 30])
def test_products_of_floats(kind, d):
    """Products less both norms in float32, minus squared distances in float64; small integers are exact."""
    products = lanes.products_above
    rng = np.random.default_rng(d)
    X, T = (rng.integers(-9, 10, size=(n, d)).astype(kind) for n in (128, 64))
    if kind == np.float64:
        X, T = X + rng.normal(size=X.shape), T + rng.normal(size=T.shape)

    def panels(rows):
        return np.ascontiguousarray(rows.reshape(-1, lanes.PANEL, d).transpose(0, 2, 1))

    if kind == np.float32:
        norms, others = (T * T).sum(axis=1) / 2, (X * X).sum(axis=1) / 2
        expected = T @ X.T - norms[:, None] - others
    else:
        norms, others = np.zeros(64), np.zeros(128)
        expected = np.array([[-sum_of_squares(one - other) for other in X] for one in T])
    others[70], expected[:, 70] = np.inf, -np.inf  # a free place
    least, most = (rng.choice(expected[:, :70].ravel(), size=(2, n)) for n in (64, 128))
    masks, values = np.empty((2, lanes.GROUP), np.int64), np.empty((lanes.GROUP, lanes.PANEL), kind)
    for panel, row, limits in ((0, 0, 0), (1, 8, 1), (1, 60, 0)):
        rows, columns = slice(row, row + lanes.GROUP), slice(panel * 64, panel * 64 + 64)
        some = products(panels(T), row, norms, least, panels(X), panel, others, most, limits, masks, values)
        above = [
            expected[rows, columns] > limit for limit in (least[limits, rows, None], most[limits, columns])
        ]
        wanted = [list(np.flatnonzero(on)) for on in np.array(above).reshape(-1, lanes.PANEL)]
        assert [bits(int(mask)) for mask in masks.ravel()] == wanted
        assert some != 0 and np.array_equal(values, expected[rows, columns])
    none = np.full((1, 128), np.inf, kind)
    assert products(panels(T), 4, norms, none, panels(X), 1, others, none, 0, masks, values) == 0
    T[4, 0] = np.nan
    assert products(panels(T), 4, norms, -none, panels(X), 1, others, none, 0, masks, values) != 0
    assert masks[:, 0].tolist() == [0, 0], "a row with NaN passes no limit"
