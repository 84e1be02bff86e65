"""Columns with mean 0 and standard deviation 1."""

from __future__ import annotations

import numpy as np

from confml.steps.registry import (
    build_step,
)


def test_standardise_learns_from_training_only():
    step = build_step("standardise")
    train = np.array([[1.0, 10.0], [3.0, 10.0], [5.0, 40.0], [7.0, 40.0]])
    treated, _, _ = step.fit_training(train, np.arange(4))
    np.testing.assert_allclose(treated, np.array([[-3, -1], [-1, -1], [1, 1], [3, 1]]) / [np.sqrt(5), 1])
    np.testing.assert_allclose(step.transform(np.array([[4.0, 55.0]])), [[0, 2]])
