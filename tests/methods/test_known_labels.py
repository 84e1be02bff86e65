"""Labels that do not meet the classes of a fitted model or of a list."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from confml import Conformal, OnlineTCMNN, OvOSVM, VennAbers, predict
from confml.errors import ConfmlError, DataError
from confml.methods.sklearn.coded_labels import CodedLabels

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


@pytest.mark.parametrize(
    ("classes", "labels", "message"),
    [
        ([0, 1], ["0", "1"], r"classes are 0, 1 \(numbers\), and .* examples are '0', '1' \(text\)"),
        (["0", "1"], [0, 1], r"classes are '0', '1' \(text\), and .* examples are 0, 1 \(numbers\)"),
        ([0, 1, 2], [True, False], r"classes are 0, 1, 2 \(numbers\), and .* True, False \(truth values\)"),
        (["a", "b"], ["a", "c"], "label 'c' is not one of the classes 'a', 'b'"),
    ],
)
def test_online_learning_names_both_sets_of_labels(classes, labels, message):
    with pytest.raises(ConfmlError, match=message):
        OnlineTCMNN(classes).learn([[0.0], [1.0]], labels)


def test_a_list_of_classes_is_of_one_kind():
    with pytest.raises(ConfmlError, match="classes are text, numbers or truth values, got 0, 1, 'a'"):
        OnlineTCMNN([0, 1, "a"])


def test_weights_of_other_classes_are_refused():
    """Classifiers of other packages get class numbers, and the keys of ``class_weight`` are coded too."""
    X, y = load_iris(return_X_y=True)
    y, message = (
        np.array(["a", "b", "c"])[y],
        r"classes are 'a', 'b', 'c' \(text\), and class_weight has 0, 1",
    )
    with pytest.raises(ConfmlError, match=message):
        OvOSVM(class_weight={0: 1, 1: 2}).fit(X, y)
    with pytest.raises(ConfmlError, match=message):
        CodedLabels(y).code_class_weights(LogisticRegression(class_weight={0: 1, 1: 2}))


def new_labels(labels) -> str | None:
    """Return the score of predictions of iris for new rows with ``labels``."""
    X, y = load_iris(return_X_y=True)
    train = pd.DataFrame(X[::2], columns=list("abcd")).assign(y=y[::2])
    new = pd.DataFrame(X[1::2], columns=list("abcd")).assign(y=labels(y[1::2]))
    return predict(train, new, label="y", method="knn").score


@pytest.mark.parametrize(
    "labels", [str, float, lambda y: y.astype(float).astype(str)], ids=["text", "float", "text of floats"]
)
def test_new_labels_of_another_type_are_the_same_classes(labels):
    kind = labels if not isinstance(labels, type) else lambda y: y.astype(labels)
    assert new_labels(kind).startswith("labels of 75 rows: error rate 4 %")


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (lambda y: np.array(["a", "b", "c"])[y], "here 'a', 'b', 'c', there '0', '1', '2'"),
        (lambda y: y > 0, "here 'False', 'True', there '0', '1', '2'"),
        (lambda y: np.full(len(y), "x"), "here 'x', there '0', '1', '2'"),
    ],
)
def test_new_labels_that_are_no_class_are_refused(labels, names):
    """Without it, the error rate is 100 %."""
    with pytest.raises(DataError, match=f"no label of the new rows is a class of the training rows: {names}"):
        new_labels(labels)


def test_new_rows_of_one_absent_class_are_predicted():
    assert "75 rows have a class that is absent" in new_labels(lambda y: np.full(len(y), 7))
