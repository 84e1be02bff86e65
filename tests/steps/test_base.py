"""Properties of every step: rows, labels, missing values, degenerate inputs."""

from __future__ import annotations

import numpy as np
import pytest

from confml.errors import ConfmlError
from confml.steps.base import Step
from confml.steps.registry import (
    build_step,
    known_steps,
)

NAMES = sorted(known_steps())


@pytest.mark.parametrize("name", ["standardise", "min-max"])
def test_a_column_constant_in_training_becomes_zeros(name):
    step = build_step(name)
    train = np.column_stack([np.full(256, 0.1), np.arange(256.0)])
    treated, _, _ = step.fit_training(train, np.zeros(256))
    assert np.array_equal(treated[:, 0], np.zeros(256))
    assert np.array_equal(step.transform(np.array([[99.0, 1.0]]))[:, 0], [0.0])


@pytest.mark.parametrize("name", ["row-standardise", "standardise", "min-max"])
def test_missing_values_are_an_error_that_says_what_to_do(name):
    train = np.array([[1.0, 2.0], [np.nan, 1.0], [np.nan, np.nan]])
    with pytest.raises(ConfmlError, match=f"'{name}'.*2 of 3 rows.*row 1.*impute-mean"):
        build_step(name).fit_training(train, np.zeros(3))


@pytest.mark.parametrize("name", NAMES)
def test_steps_keep_rows_labels_and_their_input(name, table):
    X, y = table
    before = X.copy()
    X.flags.writeable = False
    step = build_step(name)
    treated, labels, kept = step.fit_training(X, y)
    assert np.array_equal(treated, step.transform(X)[kept])
    assert np.array_equal(labels, y[kept]) and (np.diff(kept) > 0).all()
    if type(step).fit_training is Step.fit_training:  # otherwise it cleans
        assert np.array_equal(kept, np.arange(40))
    columns = step.kept_columns_
    assert treated.shape[1] == (X.shape[1] if columns is None else len(columns))
    assert np.isfinite(treated).all()
    assert np.array_equal(X, before)
    again, _, _ = build_step(name).fit_training(X, y)
    assert np.array_equal(treated, again)


@pytest.mark.parametrize("name", NAMES)
def test_one_training_row_and_no_test_row(name):
    step = build_step(name)
    treated, _, _ = step.fit_training(np.array([[3.0, 5.0]]), np.zeros(1))
    assert treated.shape == (1, 2) and np.isfinite(treated).all()
    assert step.transform(np.empty((0, 2))).shape == (0, 2)
