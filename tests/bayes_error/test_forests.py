"""Spanning trees by searches in a k-d tree and by products, against Kruskal's algorithm on the full graph."""

import numpy as np
import pytest
from reference import bayes_error as naive

from confml.bayes_error import forests
from confml.bayes_error.crossings import spanning_trees
from confml.bayes_error.points import Points


@pytest.fixture(autouse=True)
def searches(monkeypatch):
    monkeypatch.setattr(forests, "MANY_ROWS", 0)


def layered_forests(X, layers):
    """{(i, j): layer} by Kruskal."""
    return {(i, j): t for t, tree in enumerate(naive.orthogonal_forests(X, layers)) for _, i, j in tree}


def searched(X, layers):
    graph = spanning_trees(X, layers)
    assert (graph.u < graph.v).all() and (np.diff(graph.distance) >= 0).all()
    edges = dict(zip(zip(graph.u.tolist(), graph.v.tolist(), strict=True), graph.tree.tolist(), strict=True))
    assert len(edges) == graph.u.size
    np.testing.assert_allclose(graph.distance, np.linalg.norm(X[graph.u] - X[graph.v], axis=1), rtol=1e-9)
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
    assert kind == "one-hot"  # with zeros of both signs
    return np.eye(d)[rng.integers(0, d, n)] + rng.choice([0.0, -0.0], (n, d))


KINDS = ("continuous", "ties", "equal rows", "clusters", "one-hot")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 2, 3, 5, 12])
@pytest.mark.parametrize("many_rows, block", [(0, 4096), (10**9, 4096), (10**9, 5)])  # searches or products
def test_trees_equal_kruskal_on_the_full_graph(kind, d, many_rows, block, monkeypatch):
    monkeypatch.setattr(forests, "MANY_ROWS", many_rows)
    monkeypatch.setattr(forests, "BLOCK", block)
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


def test_a_hub_has_no_edge_left_for_a_second_tree():
    """The edges of the hub are all in the first tree; the second forest leaves it alone."""
    X = np.vstack([np.zeros(4), np.eye(4), -np.eye(4)])
    edges = searched(X, 3)
    assert edges == layered_forests(X, 3)
    assert all(edges[0, j] == 0 for j in range(1, 9))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layers", [1, 3])
def test_larger_sets_and_graphs_between_two_sets_equal_prim(kind, layers, monkeypatch):
    """Large enough that parts are searched; row numbers in another order than rows."""
    rng = np.random.default_rng(11)
    X = rows(kind, 1500, 3, rng) / 1024
    points = Points.of(X, rng.integers(0, 3, 1500).clip(0, 1), 2)
    for a, b in ((0, 0), (1, 1), (0, 1)):
        ranges = points.range(a), points.range(b)
        forest = forests.forest(points, *ranges, layers)
        with monkeypatch.context() as patch:
            patch.setattr(forests, "MANY_ROWS", 10**9)
            expected = forests.forest(points, *ranges, layers)
        for values, literal_values in zip(forest, expected, strict=True):
            np.testing.assert_array_equal(values, literal_values)
