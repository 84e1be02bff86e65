"""Rows with mean 0 and standard deviation 1."""

from __future__ import annotations

import numpy as np
import pytest

from confml.steps.registry import (
    build_step,
)


def test_row_standardise_by_hand():
    rows = np.array([[1.0, 2.0, 3.0], [4.0, 4.0, 10.0]])
    treated = build_step("row-standardise").transform(rows)
    root = np.sqrt(1.5)
    np.testing.assert_allclose(treated, [[-root, 0, root], [-np.sqrt(0.5), -np.sqrt(0.5), np.sqrt(2)]])


def test_row_standardise_gives_mean_0_and_population_sd_1(rng):
    treated = build_step("row-standardise").transform(rng.normal(3, 8, size=(30, 17)))
    np.testing.assert_allclose(treated.mean(axis=1), 0, atol=1e-14)
    np.testing.assert_allclose(treated.std(axis=1), 1)


@pytest.mark.parametrize("value", [0.0, 0.1, -7.3, 1e-200, 1e200])
def test_a_constant_row_becomes_zeros(value):
    # 0.1 added up 256 times is not 25.6: the computed deviation of such a row is not 0.
    treated = build_step("row-standardise").transform(np.full((3, 256), value))
    assert np.array_equal(treated, np.zeros((3, 256)))


def test_row_standardise_treats_a_row_alone_as_among_others(rng):
    X = rng.normal(size=(50, 257))
    step = build_step("row-standardise")
    together = step.transform(X)
    alone = np.concatenate([step.transform(X[i : i + 1]) for i in range(50)])
    assert np.array_equal(together, alone)
    assert np.array_equal(together, step.transform(np.asfortranarray(X)))
