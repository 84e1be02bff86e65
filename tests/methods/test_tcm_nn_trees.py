"""Trees of TCM-NN: rounded rows exclude only rows that the definition does not need."""

from __future__ import annotations

import numpy as np
import pytest
from reference import tcm_nn as naive

from confml.methods.tcm_nn import class_trees
from confml.methods.tcm_nn.neighbour_counter import NeighbourCounter


def spread(rng):
    return rng.normal(size=(300, 4))


def distant_groups(rng):
    """Groups of rows that are all equal in float32."""
    return 1e-4 * rng.normal(size=(300, 4)) + 1e6 * rng.integers(-3, 3, (300, 1))


def one_outlier(rng):
    X = rng.normal(size=(300, 4))
    X[7] = 1e35
    return X


def grid(rng):
    return rng.integers(0, 3, (300, 4)).astype(float)


KINDS = {spread: np.float32, distant_groups: np.float64, one_outlier: np.float32, grid: np.float32}


@pytest.mark.parametrize("made", KINDS)
@pytest.mark.parametrize("largest_error", [-1.0, None, 1e300])
def test_counts_for_both_number_types(made, largest_error, monkeypatch):
    """With a largest error of -1 all trees are in float64, with 1e300 all are in float32."""
    if largest_error is not None:
        monkeypatch.setattr(class_trees, "_LARGE_ERROR", largest_error)
    rng = np.random.default_rng(0)
    X, codes = made(rng), rng.integers(0, 3, 300)
    T = np.vstack([made(rng)[:6], X[:3], X[:1] + 1e3, X[:2] * 1e25])
    counter = NeighbourCounter(X, codes, "tree")
    counts = counter.counts(*counter.lists(3), T, [1, 3])
    for q, k in enumerate([1, 3]):
        greater, equal, alpha = naive.tcm_nn_pseudo_code(X, codes, T, k)
        np.testing.assert_array_equal(counts.alpha[:, :, q], alpha)
        np.testing.assert_array_equal(counts.greater[:, :, q], greater)
        np.testing.assert_array_equal(counts.equal[:, :, q], equal)


@pytest.mark.parametrize("made", KINDS)
@pytest.mark.parametrize("k", [1, 31, 32, 33, 120])
def test_lists_as_long_as_a_leaf_a_class_and_more(made, k):
    """The first limit of a search comes from one leaf of 32 rows, which may hold fewer than k; one class has
    fewer than k rows."""
    rng = np.random.default_rng(2)
    X, codes = made(rng), rng.choice(3, 300, p=[0.6, 0.3, 0.1])
    found = NeighbourCounter(X, codes, "tree").lists(k)
    D = naive.distances(X, X)
    for rows, alike in zip(found, (codes[:, None] == codes, codes[:, None] != codes), strict=True):
        expected = np.sort(np.where(alike & ~np.eye(300, dtype=bool), D, np.inf), axis=1)[:, :k]
        np.testing.assert_array_equal(rows, expected)
