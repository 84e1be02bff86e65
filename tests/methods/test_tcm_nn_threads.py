"""TCM-NN in threads: the same bytes for 1, 2 and 16."""

import numpy as np
import pytest

import confml
from confml.methods.tcm_nn.neighbour_counter import ENGINES, BlockSizes, NeighbourCounter


def ties(rng):
    """Rows on a coarse grid, many of them equal."""
    return rng.integers(0, 4, (700, 3)).astype(float), rng.integers(0, 4, (150, 3)).astype(float)


def spread(rng):
    return rng.normal(size=(700, 12)), rng.normal(size=(150, 12))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("made", [ties, spread])
@pytest.mark.parametrize("label_conditional", [False, True])
def test_same_bytes_for_any_number_of_threads(engine, made, label_conditional, monkeypatch):
    """Many small parts, some of them short, and lists that are abandoned and computed again."""
    monkeypatch.setattr("confml.methods.tcm_nn.candidate_lists.ROWS", 37)
    rng = np.random.default_rng(0)
    X, T = made(rng)
    codes = np.r_[np.arange(4), rng.integers(0, 4, len(X) - 4)]
    sizes = BlockSizes(rows=16, columns=24, block=11, spare=1)
    found = []
    for n in (1, 2, 16):
        with confml.threads(n):
            counter = NeighbourCounter(X, codes, engine, sizes)
            lists = counter.lists(3)
            counts = counter.counts(*lists, T, [1, 3], label_conditional)
        found.append([array.tobytes() for array in (*lists, *counts)])
    assert found[0] == found[1] == found[2]
    whole = NeighbourCounter(X, codes, "direct")
    assert [array.tobytes() for array in whole.lists(3)] == found[0][:2]
