"""Calibration of a fitted classifier with labels of another kind."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

from confml import Conformal, VennAbers
from confml.errors import ConfmlError

WRAPPERS = [Conformal, VennAbers]


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize(
    "labels",
    [
        lambda y: y.astype(str),
        lambda y: np.array(["a", "b", "c"])[y],
        lambda y: y + 10,
        lambda y: y.astype(bool),
    ],
    ids=["text", "letters", "other numbers", "truth values"],
)
def test_labels_that_the_classifier_cannot_have_are_refused(wrapper, labels):
    X, y = load_iris(return_X_y=True)
    classifier = GaussianNB().fit(X[::2], y[::2])
    with pytest.raises(
        ConfmlError, match=r"fitted to the classes 0, 1, 2 .*labels of the calibration examples are"
    ):
        wrapper(FrozenEstimator(classifier)).fit(X[1::2], labels(y[1::2]))


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_calibration_part_without_a_known_class_works(wrapper):
    X, y = load_digits(return_X_y=True)
    classifier = GaussianNB().fit(X[::2], y[::2])
    rows = np.flatnonzero(y != 3)[1::2]
    model = wrapper(FrozenEstimator(classifier)).fit(X[rows], y[rows])
    assert model.classes_.tolist() == list(range(10))
    assert len(model.predict(X[:5])) == 5


def test_numbers_and_truth_values_of_two_classes_are_the_same_labels():
    X, y = load_iris(return_X_y=True)
    y = y > 0
    classifier = GaussianNB().fit(X[::2], y[::2].astype(int))
    by_truth = Conformal(FrozenEstimator(classifier)).fit(X[1::2], y[1::2]).predict_p_values(X)
    by_number = Conformal(FrozenEstimator(classifier)).fit(X[1::2], y[1::2].astype(int)).predict_p_values(X)
    assert np.array_equal(by_truth, by_number)
