"""Consistent subsets of the training rows, by adding rows and by dropping them (`select-examples`)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from steps.cases import fitted, training_sets

from confml.methods.knn import KNN
from confml.steps.reduction import ConsistentSubset, SelectExamples


def contradicted(X, y):
    """(m,) bool: rows with an identical one of another class."""
    same = (X[:, None, :] == X[None, :, :]).all(axis=2)
    return (same & (y[:, None] != y)).any(axis=1)


@pytest.mark.parametrize(
    "step",
    [ConsistentSubset, lambda: ConsistentSubset(add="one"), SelectExamples],
    ids=["all", "one", "drop"],
)
@given(training_sets())
@settings(max_examples=60)
def test_a_subset_classifies_the_training_set_like_the_whole(step, training_set):
    X, y, nominal = training_set
    columns = np.flatnonzero(nominal).tolist() or "auto"
    cleaned, labels, kept = fitted(step(), X, y, nominal)
    assert np.array_equal(cleaned, X[kept]) and np.array_equal(labels, y[kept])
    whole = KNN(nominal=columns).fit(X, y).predict(X)
    subset = KNN(nominal=columns).fit(cleaned, labels).predict(X)
    clear = ~contradicted(X, y)
    if step is not SelectExamples:
        assert np.array_equal(subset[clear], whole[clear])
        assert set(labels) == set(y)
    else:
        assert np.sum(subset == y) >= np.sum(whole == y)
    assert np.array_equal(whole[clear], y[clear])


def test_two_far_clusters_need_one_example_each():
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1], 50)
    X = rng.normal(size=(100, 2)) + 100 * y[:, None]
    for step in (ConsistentSubset(), SelectExamples()):
        _, labels, kept = step.fit_training(X, y, rng)
        assert sorted(labels) == [0, 1]
        assert step.fit_metrics_["removed_rows"] == 98 and step.fit_metrics_["kept_rows"] == 2


def test_one_by_one_keeps_fewer():
    rng = np.random.default_rng(8)
    X = rng.random((300, 2))
    y = (X.sum(axis=1) > 1).astype(int)
    kept = {add: len(ConsistentSubset(add).fit_training(X, y, rng)[1]) for add in ("all", "one")}
    assert kept["one"] < 60 < kept["all"]
