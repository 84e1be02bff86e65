"""Data frames with text, fitted classifiers, labels of other types than the classes, and sample weights."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from confml import TCMNN, Conformal, CrammerSinger, NaiveBayes, OvOSVM, VennAbers, predict
from confml.errors import ConfmlError, DataError
from confml.methods.known_labels import check_known_labels
from confml.methods.sklearn.coded_labels import CodedLabels

WRAPPERS = [Conformal, VennAbers]


@pytest.fixture(scope="module")
def flowers():
    """A frame with a number, a text and a category, and labels that are texts."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 240)
    colours = np.where(rng.random(240) < 0.3 + 0.4 * y, "red", "blue")
    frame = pd.DataFrame({"size": rng.normal(size=240) + y, "colour": colours})
    frame["kind"] = pd.Categorical(np.where(rng.random(240) < 0.5, "u", "v"))
    frame.index = rng.permutation(240)
    return frame, pd.Series(np.where(y, "yes", "no"), index=frame.index)


@pytest.fixture(scope="module")
def classifier(flowers):
    """A pipeline for the frame, fitted to 100 rows."""
    X, y = flowers
    coder = make_column_transformer((OneHotEncoder(), ["colour", "kind"]), (StandardScaler(), ["size"]))
    return make_pipeline(coder, LogisticRegression()).fit(X[:100], y[:100])


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X[::2], y[::2], X[1::2], y[1::2]


# ---- frames


@pytest.mark.parametrize(
    ("wrapper", "settings"), [(Conformal, {}), (Conformal, {"kind": "cross"}), (VennAbers, {})]
)
def test_a_pipeline_codes_the_text_of_a_frame(flowers, wrapper, settings):
    """The coding has no fitted number, so coded numbers give the same scores."""
    X, y = flowers
    coder = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["colour", "kind"]), remainder="passthrough"
    )
    model = wrapper(make_pipeline(coder, LogisticRegression()), random_state=1, **settings)
    model.fit(X[:160], y[:160])
    coded = coder.fit_transform(X)
    expected = wrapper(LogisticRegression(), random_state=1, **settings)
    expected.fit(coded[:160], y[:160].to_numpy(dtype=str))
    (view,), (literal,) = (
        model.confident_predict(X[160:]).values(),
        expected.confident_predict(coded[160:]).values(),
    )
    np.testing.assert_allclose(view.scores, literal.scores, rtol=1e-9)
    assert model.classes_.tolist() == ["no", "yes"] and model.score(X[160:], y[160:]) > 0.6
    with pytest.raises(ValueError, match="yet now missing"):
        model.predict(X[["size", "colour"]])


def test_text_and_sparse_matrices_have_their_remedy(flowers):
    X, y = flowers
    for method in (TCMNN(), Conformal(NaiveBayes())):
        with pytest.raises(ConfmlError, match="columns are text: 'colour', 'kind'; code them in a pipeline"):
            method.fit(X, y)
    sparse = OneHotEncoder().fit_transform(X[["colour"]])
    with pytest.raises(ConfmlError, match="needs a dense array, got a sparse one; OneHotEncoder.sparse"):
        TCMNN().fit(sparse, y)
    assert CrammerSinger().fit(sparse, y).predict(sparse).shape == (240,)  # accepts it


def test_sample_weights_are_refused():
    method, X, y = TCMNN(), np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    with pytest.raises(ConfmlError, match="cannot use sample_weight, because it counts every example once; "):
        method.fit(X, y, sample_weight=np.ones(40))
    assert method.fit(X, y, sample_weight=None).predict(X).shape == (40,)


# ---- fitted classifiers


def test_a_fitted_classifier_is_calibrated_on_all_rows(flowers, classifier):
    X, y = flowers
    model = Conformal(FrozenEstimator(classifier)).fit(X[100:180], y[100:180])
    assert model.fit_metrics_["calibration_rows"] == 80
    shares = classifier.predict_proba(X)
    scores = 1 - shares[np.arange(240), (y == "yes").to_numpy().astype(int)][100:180]
    expected = (1 + (scores[:, None, None] >= 1 - shares[180:] - 1e-12).sum(axis=0)) / 81
    np.testing.assert_allclose(model.predict_p_values(X[180:]), expected)
    venn = VennAbers(FrozenEstimator(classifier)).fit(X[100:], y[100:])
    assert venn.fit_metrics_["calibration_rows"] == 140


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_calibration_part_may_lack_a_class(flowers, classifier, wrapper):
    X, y = flowers
    rows = np.flatnonzero(y == "no")
    model = wrapper(FrozenEstimator(classifier)).fit(X.iloc[rows], y.iloc[rows])
    assert model.classes_.tolist() == ["no", "yes"] and model.predict(X[:5]).shape == (5,)


def test_a_fitted_classifier_that_cannot_be_calibrated(flowers, classifier):
    with pytest.raises(NotFittedError):
        Conformal(FrozenEstimator(make_pipeline(LogisticRegression()))).fit(*flowers)
    with pytest.raises(ConfmlError, match="is only calibrated"):
        Conformal(FrozenEstimator(classifier), kind="cross").fit(*flowers)


# ---- labels of other types


@pytest.mark.parametrize(
    ("classes", "labels", "message"),
    [
        ([0, 1], ["0", "1"], r"C 0, 1 \(numbers\), and L '0', '1' \(text\)"),
        ([0, 1, 2], [True, False], r"C 0, 1, 2 \(numbers\), and L True, False \(truth values\)"),
        ([0, 1, 2], [10, 11], r"C 0, 1, 2 \(numbers\), and L 10, 11"),
    ],
)
def test_kinds_of_labels(classes, labels, message):
    with pytest.raises(ConfmlError, match=message):
        check_known_labels(classes, labels, "C", "L")
    check_known_labels([0, 1], np.array([True, False]), "C", "L")
    check_known_labels([0, 1, 2], np.array([2.0, 7]), "C", "L")


def test_labels_that_the_classifier_cannot_have_are_refused(iris):
    X, y, new, labels = iris
    with pytest.raises(ConfmlError, match="fitted to the classes 0, 1, 2 .*labels of the calibration"):
        Conformal(FrozenEstimator(GaussianNB().fit(X, y))).fit(new, labels.astype(str))


def test_class_weights_have_the_kind_of_the_labels(iris):
    X, y = iris[0], np.array(["a", "b", "c"])[iris[1]]
    weights, message = {0: 1, 1: 2}, r"classes are 'a', 'b', 'c' \(text\), and class_weight has 0, 1"
    with pytest.raises(ConfmlError, match=message):
        OvOSVM(class_weight=weights).fit(X, y)
    with pytest.raises(ConfmlError, match=message):  # classifiers of other packages get class numbers
        CodedLabels(y).code_class_weights(LogisticRegression(class_weight=weights))


@pytest.mark.parametrize(
    ("labels", "score"),
    [
        (lambda y: y.astype(float).astype(str), "75 rows with labels: error rate 4 %"),
        (lambda y: np.full(len(y), 7), "75 rows have a class that is absent"),
        (lambda y: y > 0, None),
    ],
)
def test_labels_of_new_rows(iris, labels, score):
    """Labels of another type are the same classes; without a class in common the error would be 100 %."""
    X, y, new, new_labels = iris
    train = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    rows = pd.DataFrame(new, columns=list("abcd")).assign(y=labels(new_labels))
    if score:
        assert score in predict(train, rows, label="y", method="knn").score
    else:
        message = (
            "no label of the new rows is a class of .*: 'False', 'True', and the classes are '0', '1', '2'"
        )
        with pytest.raises(DataError, match=message):
            predict(train, rows, label="y", method="knn")
