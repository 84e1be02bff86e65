"""Spanning trees by searches in a k-d tree, against Kruskal's algorithm on the full graph."""

from __future__ import annotations

import numpy as np
import pytest
from reference import bayes_error as naive

from confml.bayes_error import searched_trees as module
from confml.bayes_error import spanning_trees
from confml.bayes_error._kernels_prim import dense_trees
from confml.bayes_error._kernels_searches import smallest_ranks
from confml.bayes_error.searched_trees import (
    _groups,
    first_of_equals,
    nearest_lists,
    searched_trees,
)
from confml.neighbours import wide_tree as wide


def layered_forests(X, layers):
    """{(i, j): layer} by Kruskal: an edge goes into the first forest in which it closes no circle."""
    groups = [list(range(len(X))) for _ in range(layers)]
    found = {}
    for _, i, j in naive.all_edges(X):
        for t, group in enumerate(groups):
            a, b = group[i], group[j]
            if a != b:
                found[i, j] = t
                groups[t] = [a if g == b else g for g in group]
                break
    return found


def searched(X, layers):
    found = spanning_trees(X, layers)
    assert (found.u < found.v).all()
    edges = dict(zip(zip(found.u.tolist(), found.v.tolist(), strict=True), found.tree.tolist(), strict=True))
    assert len(edges) == found.u.size
    assert (np.diff(found.distance) >= 0).all()
    np.testing.assert_allclose(
        found.distance, np.linalg.norm(np.asarray(X)[found.u] - np.asarray(X)[found.v], axis=1), rtol=1e-9
    )
    return edges


def rows(kind, n, d, rng):
    if kind == "continuous":
        return rng.normal(size=(n, d))
    if kind == "ties":
        return rng.integers(0, 4, size=(n, d)).astype(float)
    if kind == "equal rows":
        return rng.normal(size=(5, d))[rng.integers(0, 5, n)]
    if kind == "clusters":  # far apart, of unlike density
        centres = rng.normal(scale=100, size=(3, d))
        return centres[rng.integers(0, 3, n)] + rng.normal(size=(n, d)) * rng.choice([0.01, 1.0], (n, 1))
    assert kind == "one-hot"
    return np.eye(d)[rng.integers(0, d, n)]


KINDS = ("continuous", "ties", "equal rows", "clusters", "one-hot")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 2, 3, 5, 8, 12])
def test_trees_equal_kruskal_on_the_full_graph(kind, d):
    rng = np.random.default_rng(d)
    for n, scale in ((2, 1.0), (7, 1e-12), (33, 1.0), (58, 1e-12), (47, 1e150)):
        X = rows(kind, n, d, rng) * scale
        for layers in (1, 2, 3):
            assert searched(X, layers) == layered_forests(X, layers)


@pytest.mark.parametrize("n", [1, 2, 3, 15, 16, 17, 18, 31, 33, 128, 129, 145])
def test_sizes_around_leaves_and_groups(n):
    X = np.random.default_rng(n).integers(0, 60, size=(n, 2)).astype(float)
    assert searched(X, 2) == layered_forests(X, 2)


@pytest.mark.parametrize("layers", [1, 3])
def test_all_rows_equal(layers):
    n = 3000
    edges = searched(np.full((n, 4), 7.5), layers)
    assert edges == {(t, i): t for t in range(layers) for i in range(t + 1, n)}


def test_minus_zero_is_zero():
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [0.0, 1.0], [-0.0, 1.0], [3.0, -0.0], [3.0, 0.0]])
    assert searched(X, 1) == layered_forests(X, 1) and searched(X, 2) == layered_forests(X, 2)


def test_a_hub_has_no_edge_left_for_a_second_tree():
    """The edges of the hub are all in the first tree; the second forest leaves it alone."""
    X = np.vstack([np.zeros(4), np.eye(4), -np.eye(4)])
    edges = searched(X, 3)
    assert edges == layered_forests(X, 3)
    assert all(edges[0, j] == 0 for j in range(1, 9))


@pytest.mark.parametrize("kind", KINDS)
def test_larger_sets_equal_prim_on_the_full_matrix(kind):
    """Large enough that parts are searched, and the tree is built anew; rank in another order than rows."""
    rng = np.random.default_rng(11)
    n, d, layers = 1500, 3, 3
    X = rows(kind, n, d, rng) / 1024
    rank = rng.permutation(n)
    u, v, d2, key, layer = dense_trees(X, rank, 0, n, layers)
    order = np.lexsort([key, d2])
    found = searched_trees(X, rank, layers)
    for values, expected in zip(found, (u, v, d2, key, layer), strict=True):
        np.testing.assert_array_equal(values, expected[order])


def test_rows_that_are_left_out_among_equals():
    X = np.repeat([[1.0], [2.0], [3.0]], [7, 1, 4], axis=0)
    order = np.array([5, 0, 11, 3, 7, 2, 9, 1, 4, 10, 8, 6])  # number of each row
    kept, u, v, layer = first_of_equals(X, order, 2)
    assert sorted(order[kept].tolist()) == sorted([0, 2, 3] + [1] + [4, 6, 8])
    ends = sorted(zip(layer.tolist(), order[u].tolist(), order[v].tolist(), strict=True))
    assert ends == sorted([(t, a, i) for t, a in ((0, 0), (1, 2)) for i in (5, 7, 9, 11)]
                          + [(0, 4, 10), (1, 6, 10)])  # fmt: skip


def test_different_rows_with_one_sum_are_told_apart():
    """Rows made so that the sums over their bits agree."""

    def after_first(word):
        word = word * np.uint64(0x9E3779B97F4A7C15)
        return word ^ (word >> np.uint64(29))

    first = np.array([1.0, 1.5, 0.3, 0.7, 0.9, 2.5, 3.5, 7.1, 9.3, 0.1])
    with np.errstate(over="ignore"):
        sums = after_first(first.view(np.uint64))
    second = np.array([2.25]).view(np.uint64) ^ sums[0] ^ sums
    X = np.column_stack([first, second.view(np.float64)])
    X = X[np.isfinite(X).all(axis=1)]
    assert len(X) > 2
    assert np.unique(_groups(np.vstack([X, X]))).size == len(X)
    assert (_groups(np.vstack([X, X]))[: len(X)] == _groups(np.vstack([X, X]))[len(X) :]).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 7, 8, 12, 20])
@pytest.mark.parametrize("by_leaf", [True, False])
def test_neighbour_lists_in_the_total_order(kind, k, by_leaf, monkeypatch):
    monkeypatch.setattr(module, "VERY_FEW_ATTRIBUTES", 4 if by_leaf else 0)
    rng = np.random.default_rng(k)
    n = 150  # ten leaves, in two groups
    X = rows(kind, n, 4, rng)
    X = np.ascontiguousarray(X[wide.tree_order(X)])
    rank = rng.permutation(n)
    tree = wide.wide_tree(X, wide.leaves_in_order(n))
    d2, ends = nearest_lists(tree, rank, smallest_ranks(tree, rank), k)
    for i in range(0, n, 2):
        edges = sorted((sum_of_squares(X[i], X[j]), rank[j], j) for j in range(n) if j != i)[:k]
        assert ends[i].tolist() == [j for _, _, j in edges]
        assert d2[i].tolist() == [w for w, _, _ in edges]


def sum_of_squares(a, b):
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += (x - y) * (x - y)
    return total
