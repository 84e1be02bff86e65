"""`StepTransformer`: steps in pipelines of scikit-learn, with data frames and names of features."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import confml
from confml import StepTransformer
from confml.errors import ConfigError


@parametrize_with_checks(
    [StepTransformer(), StepTransformer("impute-mean"), StepTransformer("row-standardise")]
)
def test_contract_of_scikit_learn(estimator, check):
    check(estimator)


def frame():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=["noise", "size", "constant"])
    X["constant"] = 1.0
    return X, np.where(X["size"] > 0, "big", "small")


def test_a_pipeline_equals_the_steps_of_a_prediction():
    X, y = frame()
    model = make_pipeline(StepTransformer("min-max"), confml.TCMNN(k=1)).fit(X[:40], y[:40])
    new = X[40:].reset_index(drop=True)
    found = confml.predict(X[:40].assign(y=y[:40]), new, label="y", steps=["min-max"])
    assert list(model.predict(new)) == list(found["prediction"])
    assert clone(model).get_params()["steptransformer__step"] == "min-max"


def test_names_of_features():
    X, y = frame()
    kept = StepTransformer("sklearn.feature_selection.SelectKBest", {"k": 1}).set_output(transform="pandas")
    assert list(kept.fit_transform(X.drop(columns="constant"), y).columns) == ["size"]
    made = StepTransformer("sklearn.decomposition.PCA", {"n_components": 2}).set_output(transform="pandas")
    assert list(made.fit_transform(X).columns) == [
        "sklearn.decomposition.PCA-0",
        "sklearn.decomposition.PCA-1",
    ]
    scaled = StepTransformer().fit(X.to_numpy())
    assert list(scaled.get_feature_names_out()) == ["x0", "x1", "x2"]


def test_steps_that_change_rows_are_refused():
    X, y = frame()
    with pytest.raises(ConfigError, match="'tomek-links' changes the rows of the training set"):
        StepTransformer("tomek-links").fit(X, y)
    with pytest.raises(ConfigError, match="did you mean 'standardise'"):
        StepTransformer("standardize").fit(X, y)
