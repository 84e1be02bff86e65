"""Data frames with text, pipelines, fitted classifiers and sample weights."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from confml import TCMNN, Conformal, CrammerSinger, NaiveBayes, VennAbers
from confml.errors import ConfmlError


def coder(**settings):
    return make_column_transformer(
        (OneHotEncoder(**settings), ["colour", "kind"]), (StandardScaler(), ["size"])
    )


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


@pytest.mark.parametrize(
    "wrap",
    [
        lambda one: Conformal(one, random_state=1),
        lambda one: Conformal(one, kind="cross", mondrian=True, random_state=1),
        lambda one: VennAbers(one, random_state=1),
        lambda one: VennAbers(one, kind="cross", random_state=1),
    ],
)
def test_a_pipeline_codes_the_text_of_a_frame(flowers, wrap):
    """The coding has no fitted number, so coded numbers give the same scores."""
    X, y = flowers
    steps = make_column_transformer((OneHotEncoder(), ["colour", "kind"]), remainder="passthrough")
    model = wrap(make_pipeline(steps, LogisticRegression())).fit(X[:160], y[:160])
    coded = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["colour", "kind"]), remainder="passthrough"
    ).fit_transform(X)
    expected = wrap(LogisticRegression()).fit(coded[:160], y[:160].to_numpy(dtype=str))
    (found,), (wanted,) = (
        list(one.confident_predict(rows).values())
        for one, rows in ((model, X[160:]), (expected, coded[160:]))
    )
    np.testing.assert_allclose(found.scores, wanted.scores, rtol=1e-9)
    assert model.classes_.tolist() == ["no", "yes"] and model.score(X[160:], y[160:]) > 0.6
    with pytest.raises(ValueError, match="yet now missing"):
        model.predict(X[["size", "colour"]])


def test_text_and_sparse_matrices_have_their_remedy(flowers):
    X, y = flowers
    for method in (TCMNN(), Conformal(NaiveBayes())):
        with pytest.raises(
            ConfmlError, match="these columns are text: 'colour', 'kind'; code them in a pipeline"
        ):
            method.fit(X, y)
    sparse = OneHotEncoder().fit_transform(X[["colour"]])
    with pytest.raises(
        ConfmlError, match="needs a dense array, got a sparse one; OneHotEncoder.sparse_output"
    ):
        TCMNN().fit(sparse, y)


def test_a_fitted_classifier_is_calibrated_on_all_rows(flowers):
    X, y = flowers
    classifier = make_pipeline(coder(), LogisticRegression()).fit(X[:100], y[:100])
    model = Conformal(FrozenEstimator(classifier)).fit(X[100:180], y[100:180])
    assert model.fit_metrics_["calibration_rows"] == 80
    shares = classifier.predict_proba(X)
    own = 1 - shares[np.arange(240), (y == "yes").to_numpy().astype(int)][100:180]
    tests = 1 - shares[180:]
    expected = (1 + (own[:, None, None] >= tests - 1e-12).sum(axis=0)) / 81
    np.testing.assert_allclose(model.predict_p_values(X[180:]), expected)
    assert (
        VennAbers(FrozenEstimator(classifier)).fit(X[100:], y[100:]).fit_metrics_["calibration_rows"] == 140
    )


def test_a_fitted_classifier_may_know_more_classes(flowers):
    X, y = flowers
    classifier = make_pipeline(coder(), LogisticRegression()).fit(X[:100], y[:100])
    rows = np.flatnonzero(y == "no")
    model = Conformal(FrozenEstimator(classifier)).fit(X.iloc[rows], y.iloc[rows])
    assert model.classes_.tolist() == ["no", "yes"] and model.predict_p_values(X[:5]).shape == (5, 2)


def test_a_fitted_classifier_that_cannot_be_calibrated(flowers):
    X, y = flowers
    classifier = make_pipeline(coder(), LogisticRegression())
    with pytest.raises(NotFittedError):
        Conformal(FrozenEstimator(classifier)).fit(X, y)
    frozen = FrozenEstimator(classifier.fit(X, y))
    with pytest.raises(ConfmlError, match="is only calibrated: it has no folds"):
        Conformal(frozen, kind="cross").fit(X, y)
    with pytest.raises(ConfmlError, match="is only calibrated"):
        Conformal(frozen, shift="label").fit(X, y)


@pytest.mark.parametrize("method", [TCMNN(), NaiveBayes(), Conformal(LogisticRegression())])
def test_sample_weights_are_refused(method):
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    with pytest.raises(ConfmlError, match="cannot use sample_weight, because it counts every example once; "):
        method.fit(X, y, sample_weight=np.ones(40))
    assert method.fit(X, y, sample_weight=None).predict(X).shape == (40,)


def test_methods_that_accept_sparse_matrices_get_them():
    X = OneHotEncoder().fit_transform(np.arange(40)[:, None] % 4)
    assert CrammerSinger().fit(X, np.arange(40) % 2).predict(X).shape == (40,)
