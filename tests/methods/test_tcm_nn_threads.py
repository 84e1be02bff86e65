"""TCM-NN in threads: the same bytes for 1, 2 and 16."""

import numpy as np
import pytest

import confml
from confml.methods.tcm_nn.neighbour_counter import ENGINES, NeighbourCounter


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("features", [3, 12])
def test_same_bytes_for_any_number_of_threads(engine, features):
    """Rows on a coarse grid, many of them equal; parts of trees and blocks of products."""
    rng = np.random.default_rng(0)
    X, T = (
        rng.integers(0, 4, (5000, features)).astype(float),
        rng.integers(0, 4, (150, features)).astype(float),
    )
    codes = np.arange(5000) % 2
    results = []
    for n in (1, 2, 16):
        with confml.threads(n):
            counter = NeighbourCounter(X, codes, engine, 11)
            lists = counter.lists(3)
            counts = counter.counts(*lists, T, [1, 3])
        results.append([array.tobytes() for array in (*lists, *counts)])
    assert results[0] == results[1] == results[2]
