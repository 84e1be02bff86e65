"""Trees of TCM-NN: boxes exclude only rows that the definition does not need."""

from __future__ import annotations

import numpy as np
import pytest
from reference import tcm_nn as naive

from confml.methods.tcm_nn.neighbour_counter import NeighbourCounter


def spread(rng):
    return rng.normal(size=(300, 4))


def distant_groups(rng):
    return 1e-4 * rng.normal(size=(300, 4)) + 1e6 * rng.integers(-3, 3, (300, 1))


def one_outlier(rng):
    X = rng.normal(size=(300, 4))
    X[7] = 1e35
    return X


def grid(rng):
    return rng.integers(0, 3, (300, 4)).astype(float)


KINDS = (spread, distant_groups, one_outlier, grid)


@pytest.mark.parametrize("made", KINDS)
def test_counts_near_and_far(made):
    rng = np.random.default_rng(0)
    X, codes = made(rng), rng.integers(0, 3, 300)
    T = np.vstack([made(rng)[:6], X[:3], X[:1] + 1e3, X[:2] * 1e25])
    counter = NeighbourCounter(X, codes, "tree")
    counts = counter.counts(*counter.lists(3), T, [1, 3])
    for q, k in enumerate([1, 3]):
        for values, expected in zip(
            (counts.greater, counts.equal, counts.alpha),
            naive.tcm_nn_pseudo_code(X, codes, T, k),
            strict=True,
        ):
            np.testing.assert_array_equal(values[:, :, q], expected)


@pytest.mark.parametrize("made", KINDS)
@pytest.mark.parametrize("k", [1, 15, 16, 17, 120])
def test_lists_as_long_as_a_leaf_a_class_and_more(made, k):
    """A leaf has 16 rows; one class has fewer than k rows."""
    rng = np.random.default_rng(2)
    X, codes = made(rng), rng.choice(3, 300, p=[0.6, 0.3, 0.1])
    lists = NeighbourCounter(X, codes, "tree").lists(k)
    D = naive.distances(X, X)
    for rows, alike in zip(lists, (codes[:, None] == codes, codes[:, None] != codes), strict=True):
        expected = np.sort(np.where(alike & ~np.eye(300, dtype=bool), D, np.inf), axis=1)[:, :k]
        np.testing.assert_array_equal(rows, expected)
