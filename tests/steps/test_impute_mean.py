"""Missing values filled with means."""

from __future__ import annotations

import numpy as np

from confml.steps.registry import (
    build_step,
)


def test_impute_mean():
    nan = np.nan
    train = np.array([[1.0, nan, nan], [3.0, 4.0, nan], [nan, 8.0, nan]])
    step = build_step("impute-mean")
    treated, _, _ = step.fit_training(train, np.zeros(3))
    assert np.array_equal(treated, [[1, 6, 0], [3, 4, 0], [2, 8, 0]])
    # A column without any value in training: 0 where it is missing, the value where a test example has one.
    assert np.array_equal(
        step.transform(np.array([[nan, nan, nan], [nan, 1.0, 5.0]])), [[2, 6, 0], [2, 1, 5]]
    )
    assert step.fit_metrics_ == {"imputed_values": 5.0}
