"""Columns with mean 0 and standard deviation 1."""

from __future__ import annotations

import numpy as np
import pytest

from confml.steps.registry import (
    build_step,
)


def test_standardise_learns_from_training_only():
    step = build_step("standardise")
    train = np.array([[1.0, 10.0], [3.0, 10.0], [5.0, 40.0], [7.0, 40.0]])
    treated, _, _ = step.fit_training(train, np.arange(4))
    np.testing.assert_allclose(treated, np.array([[-3, -1], [-1, -1], [1, 1], [3, 1]]) / [np.sqrt(5), 1])
    np.testing.assert_allclose(step.transform(np.array([[4.0, 55.0]])), [[0, 2]])


@pytest.mark.parametrize("name", ["standardise", "min-max", "row-standardise"])
@pytest.mark.parametrize("exponent", [-900, -532, 0, 532, 664, 1020])
def test_the_scale_of_the_data_does_not_matter(name, exponent, rng):
    X = np.clip(rng.normal(size=(40, 3)), -3, 3)
    far = np.ldexp(X, exponent)
    treated, _, _ = build_step(name).fit_training(far, np.zeros(40))
    expected, _, _ = build_step(name).fit_training(X, np.zeros(40))
    np.testing.assert_allclose(treated, expected, atol=1e-12)


@pytest.mark.parametrize("name", ["standardise", "min-max", "row-standardise"])
def test_finite_values_become_finite_ones(name):
    largest = np.finfo(float).max
    ends = np.array([[-largest, 0.0], [largest, 0.25], [0.0, 5e-324], [largest, largest]])
    step = build_step(name)
    treated, _, _ = step.fit_training(ends[:3], np.zeros(3))
    assert np.isfinite(treated).all() and np.isfinite(step.transform(ends)).all()
    assert treated[0, 0] < treated[2, 0] or name == "row-standardise"
