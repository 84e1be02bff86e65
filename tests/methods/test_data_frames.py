"""Data frames with text, fitted classifiers, labels of other types than the classes, and sample weights."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from confml import TCMNN, Conformal, CrammerSinger, NaiveBayes, OvOSVM, VennAbers, predict
from confml.errors import ConfmlError, DataError
from confml.methods.known_labels import check_known_labels
from confml.methods.sklearn.coded_labels import CodedLabels

# The coding has no fitted number, so coded numbers give the same scores.
CODER = make_column_transformer(
    (OneHotEncoder(sparse_output=False), ["colour", "kind"]), remainder="passthrough"
)
MODEL = make_pipeline(CODER, LogisticRegression())


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
def frozen(flowers):
    """A classifier that is fitted to 100 rows."""
    X, y = flowers
    return FrozenEstimator(clone(MODEL).fit(X[:100], y[:100]))


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X[::2], y[::2], X[1::2], y[1::2]


# ---- frames


@pytest.mark.parametrize(
    ("wrapper", "settings"), [(Conformal, {}), (Conformal, {"kind": "cross"}), (VennAbers, {})]
)
def test_a_pipeline_codes_the_text_of_a_frame(flowers, wrapper, settings):
    X, y = flowers
    coded, codes = clone(CODER).fit_transform(X), (y == "yes").to_numpy(int)
    model = wrapper(MODEL, random_state=1, **settings).fit(X[:160], y[:160])
    expected = wrapper(LogisticRegression(), random_state=1, **settings).fit(coded[:160], codes[:160])
    (view,) = model.confident_predict(X[160:]).values()
    (literal,) = expected.confident_predict(coded[160:]).values()
    np.testing.assert_allclose(view.scores, literal.scores, rtol=1e-9)
    assert model.classes_.tolist() == ["no", "yes"] and model.score(X[160:], y[160:]) > 0.6
    with pytest.raises(ValueError, match="yet now missing"):
        model.predict(X[["size", "colour"]])


def test_text_sparse_matrices_and_weights_have_their_remedy(flowers):
    X, y = flowers
    for method in (TCMNN(), Conformal(NaiveBayes())):
        with pytest.raises(ConfmlError, match="columns are text: 'colour', 'kind'; code them in a pipeline"):
            method.fit(X, y)
    with pytest.raises(ConfmlError, match="cannot use sample_weight"):
        TCMNN().fit(X[["size"]], y, sample_weight=np.ones(240))
    assert TCMNN().fit(X[["size"]], y, sample_weight=None).predict(X[["size"]]).shape == (240,)
    sparse = OneHotEncoder().fit_transform(X[["colour"]])
    with pytest.raises(ConfmlError, match="needs a dense array, got a sparse one; OneHotEncoder.sparse"):
        TCMNN().fit(sparse, y)
    assert CrammerSinger().fit(sparse, y).predict(sparse).shape == (240,)  # accepts it


# ---- fitted classifiers


def test_a_fitted_classifier_is_calibrated_on_all_rows(flowers, frozen):
    X, y = flowers
    model = Conformal(frozen).fit(X[100:180], y[100:180])
    assert model.fit_metrics_["calibration_rows"] == 80
    scores = 1 - frozen.predict_proba(X)
    calibrated = scores[np.arange(240), (y == "yes").to_numpy(int)][100:180]
    expected = (1 + (calibrated[:, None, None] >= scores[180:] - 1e-12).sum(axis=0)) / 81
    np.testing.assert_allclose(model.predict_p_values(X[180:]), expected)
    assert VennAbers(frozen).fit(X[100:], y[100:]).fit_metrics_["calibration_rows"] == 140


@pytest.mark.parametrize("wrapper", [Conformal, VennAbers])
def test_a_calibration_part_may_lack_a_class(flowers, frozen, wrapper):
    X, y = flowers
    model = wrapper(frozen).fit(X[y == "no"], y[y == "no"])
    assert model.classes_.tolist() == ["no", "yes"] and model.predict(X[:5]).shape == (5,)


def test_a_fitted_classifier_that_cannot_be_calibrated(flowers, frozen):
    with pytest.raises(NotFittedError):
        Conformal(FrozenEstimator(LogisticRegression())).fit(*flowers)
    with pytest.raises(ConfmlError, match="is only calibrated"):
        Conformal(frozen, kind="cross").fit(*flowers)


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


def test_labels_of_new_rows_of_another_type_are_the_same_classes(iris):
    X, y, new, labels = iris
    train, rows = pd.DataFrame(X).assign(y=y), pd.DataFrame(new).assign(y=labels.astype(float).astype(str))
    assert "75 rows with labels: error rate 4 %" in predict(train, rows, label="y", method="knn").score
    with pytest.raises(DataError, match="no label of the new rows is a class of .*: 'False', 'True'"):
        predict(train, rows.assign(y=labels > 0), label="y", method="knn")
