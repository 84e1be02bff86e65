"""Training rows that are dropped one by one."""

from __future__ import annotations

import numpy as np

from confml.methods.knn import KNN
from confml.steps.reduction import SelectExamples


def test_dropping_examples_leaves_none_that_could_go():
    rng = np.random.default_rng(3)
    X = rng.random((60, 2))
    y = (X[:, 0] + 0.2 * rng.normal(size=60) > 0.5).astype(int)
    cleaned, labels, _ = SelectExamples().fit_training(X, y, rng)
    right = np.sum(KNN().fit(cleaned, labels).predict(X) == y)
    assert right == 60
    for row in range(len(labels)):
        rest = np.arange(len(labels)) != row
        assert np.sum(KNN().fit(cleaned[rest], labels[rest]).predict(X) == y) < right
