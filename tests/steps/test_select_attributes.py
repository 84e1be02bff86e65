"""Attributes selected by the accuracy of a classifier."""

from __future__ import annotations

import numpy as np

from confml.steps.select_attributes import SelectAttributes


def test_irrelevant_attributes_go():
    rng = np.random.default_rng(4)
    y = np.repeat([0, 1], 60)
    X = np.column_stack([rng.random((120, 4)), y + 0.1 * rng.random(120)])
    step = SelectAttributes()
    step.fit(X, y, rng)
    assert step.kept_columns_.tolist() == [4]
    assert step.transform(X).shape == (120, 1)
    metrics = step.fit_metrics_
    assert metrics["removed_attributes"] == 4 and metrics["kept_attributes"] == 1
    assert metrics["score_after"] == 1 >= metrics["score_before"]


def test_as_many_attributes_are_kept_as_asked():
    X, y = np.zeros((20, 5)), np.arange(20) % 2
    step = SelectAttributes(least=3)
    step.fit(X, y, np.random.default_rng(1))
    assert step.kept_columns_.tolist() == [2, 3, 4]


def test_the_score_never_falls():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(80, 6)), rng.integers(0, 3, 80)
    step = SelectAttributes(method="naive-bayes", folds=3)
    step.fit(X, y, rng)
    assert step.fit_metrics_["score_after"] >= step.fit_metrics_["score_before"]
