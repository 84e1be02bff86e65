"""`majority-class` is scikit-learn's DummyClassifier, which also predicts one example at a time."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.dummy import DummyClassifier

from confml.config import make_config
from confml.methods.majority_class import MajorityClass


def test_it_is_the_dummy_classifier():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(50, 3)), rng.choice(["a", "b", "c"], 50, p=[0.2, 0.5, 0.3])
    ours, theirs = MajorityClass().fit(X, y), DummyClassifier(strategy="prior").fit(X, y)
    view = ours.confident_predict(X[:7])["probability"]
    assert np.array_equal(view.scores, theirs.predict_proba(X[:7]))
    assert np.array_equal(view.labels, theirs.predict(X[:7])) and set(view.labels) == {"b"}
    sparse = MajorityClass().fit(csr_array(X), y).confident_predict(csr_array(X[:7]))["probability"]
    assert np.array_equal(sparse.scores, view.scores)


def test_online_it_predicts_by_the_labels_before():
    X, y = np.zeros((5, 1)), np.array([2, 2, 1, 1, 1])
    ((_, views),) = MajorityClass().evaluate_online(X[:1], y[:1], X[1:], y[1:], np.array([1, 2, 3]), [{}])
    expected = [[0, 1, 0], [0, 1, 0], [1 / 3, 2 / 3, 0], [1 / 2, 1 / 2, 0]]
    assert views["probability"].scores == pytest.approx(np.array(expected))
    assert views["probability"].labels.tolist() == [2, 2, 2, 1]


@pytest.mark.parametrize(
    ("values", "methods"),
    [
        ({}, ["knn", "majority-class"]),
        ({"paper": "tcm-nn-table3"}, ["knn"]),
        ({"paper": "tcm-nn-table3", "baseline": True}, ["knn", "majority-class"]),
        ({"baseline": False}, ["knn"]),
        ({"methods": ["majority-class", "knn"]}, ["majority-class", "knn"]),
    ],
)
def test_a_run_adds_it(values, methods):
    config = make_config({"datasets": ["iris"], "methods": ["knn"], "protocol": "holdout", **values})
    assert [entry.name for entry in config.with_baseline().methods] == methods
    assert [entry.name for entry in config.methods] == values.get("methods", ["knn"])
