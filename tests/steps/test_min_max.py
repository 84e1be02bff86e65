"""Columns from 0 to 1."""

from __future__ import annotations

import numpy as np

from confml.steps.registry import (
    build_step,
)


def test_min_max_worked_numbers():
    step = build_step("min-max")
    treated, _, _ = step.fit_training(np.array([[7.0], [4.0], [25.0], [-5.0], [10.0]]), np.zeros(5))
    np.testing.assert_allclose(treated[:, 0], [0.4, 0.3, 1.0, 0.0, 0.5])
    np.testing.assert_allclose(step.transform(np.array([[55.0], [-20.0]]))[:, 0], [2.0, -0.5])
