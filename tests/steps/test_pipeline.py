"""Chains of steps."""

from __future__ import annotations

import numpy as np
import pytest

from confml.errors import ConfmlError
from confml.steps.base import Step
from confml.steps.pipeline import StepPipeline
from confml.steps.registry import build_pipeline, build_step


def test_scaling_leaves_codes_alone():
    rng = np.random.default_rng(6)
    X = np.column_stack([rng.integers(0, 4, 30), rng.normal(5, 3, 30), rng.normal(1, 9, 30)]).astype(float)
    nominal, y = np.array([True, False, False]), np.arange(30) % 2
    for name in ("standardise", "min-max", "row-standardise"):
        chain = build_pipeline([(name, {})])
        treated, _, _ = chain.fit_training(X, y, None, nominal)
        plain = build_step(name)
        expected = plain.fit_training(X[:, 1:], y)[0]
        assert np.array_equal(treated[:, 0], X[:, 0]) and np.array_equal(treated[:, 1:], expected)
        assert np.array_equal(chain.transform(X), treated)


def test_missing_codes_become_the_most_frequent():
    X = np.array([[2.0, 1.0], [2.0, np.nan], [np.nan, 3.0], [1.0, 5.0]])
    chain = build_pipeline([("impute-mean", {})])
    treated, _, _ = chain.fit_training(X, np.zeros(4), None, np.array([True, False]))
    np.testing.assert_array_equal(treated, [[2, 1], [2, 3], [2, 3], [1, 5]])


def test_a_chain_knows_what_is_left():
    rng = np.random.default_rng(7)
    y = np.repeat([0, 1], 40)
    X = np.column_stack([rng.random(80), rng.random(80), y, y + 0.01 * rng.random(80)])
    chain = build_pipeline([("min-max", {}), ("select-attributes", {"least": 2}), ("tomek-links", {})])
    treated, _, kept = chain.fit_training(X, y, rng, np.array([False, False, True, False]))
    assert len(chain.columns_) == treated.shape[1] == 2
    assert np.array_equal(chain.nominal_, chain.columns_ == 2)
    assert chain.fit_metrics_["tomek-links.removed_rows"] == 80 - len(kept)


class DropSecond(Step):
    """Keeps every second training row, and says how many went."""

    name = "drop-second"

    def fit_training(self, X, y, rng=None):
        self.removed = len(y) // 2
        kept = np.arange(0, len(y), 2)
        return X[kept], y[kept], kept

    @property
    def fit_metrics_(self):
        return {"removed_rows": float(self.removed)}


class DropAll(Step):
    """Leaves nothing."""

    name = "drop-all"

    def fit_training(self, X, y, rng=None):
        return X[:0], y[:0], np.arange(0)


def test_an_empty_chain_changes_nothing(table):
    X, y = table
    chain = StepPipeline()
    treated, labels, kept = chain.fit_training(X, y)
    assert np.array_equal(treated, X) and np.array_equal(labels, y) and np.array_equal(kept, np.arange(40))
    assert np.array_equal(chain.transform(X), X) and chain.fit_metrics_ == {}


def test_a_chain_applies_its_steps_in_order(table):
    X, y = table
    chain = build_pipeline([("standardise", {}), ("row-standardise", {})])
    treated, _, _ = chain.fit_training(X, y)
    first, _, _ = build_step("standardise").fit_training(X, y)
    assert np.array_equal(treated, build_step("row-standardise").transform(first))
    assert np.array_equal(chain.transform(X), treated)
    other, _, _ = build_pipeline([("row-standardise", {}), ("standardise", {})]).fit_training(X, y)
    assert not np.allclose(treated, other)


def test_a_step_learns_from_the_rows_that_are_left(table):
    X, y = table
    chain = StepPipeline([DropSecond(), build_step("standardise"), DropSecond()])
    treated, labels, kept = chain.fit_training(X, y)
    assert np.array_equal(kept, np.arange(0, 40, 4)) and np.array_equal(labels, y[kept])
    left = X[::2]
    expected = (left - left.mean(axis=0))[:, :4] / left.std(axis=0)[:4]
    np.testing.assert_allclose(treated[:, :4], expected[::2])
    assert len(chain.transform(X)) == 40
    assert chain.fit_metrics_ == {"drop-second.removed_rows": 10.0}


def test_a_chain_that_leaves_no_row_says_which_step_it_was(table):
    with pytest.raises(ConfmlError, match="'drop-all' left none of 40"):
        StepPipeline([DropAll()]).fit_training(*table)
