"""Transformers of scikit-learn and of a user's own module as steps, and steps as transformers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import confml
from confml import StepTransformer
from confml.config import restore_config
from confml.errors import ConfigError, ConfmlError
from confml.report.tables.notes import step_notes
from confml.steps.registry import build_pipeline

PCA_NAME, SCALER = "sklearn.decomposition.PCA", "sklearn.preprocessing.StandardScaler"
SELECT = "sklearn.feature_selection.SelectKBest"


def examples(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 4)) * [1, 10, 100, 1]
    X[:, 0] += 0.1 * X[:, 2]
    return X, rng.integers(0, 3, 40)


def fitted(specs, X, y, nominal=None, seed=1):
    pipeline = build_pipeline(specs)
    X_after, y_after, remaining = pipeline.fit_training(X, y, np.random.default_rng(seed), nominal)
    assert np.array_equal(y_after, y) and np.array_equal(remaining, np.arange(len(y)))
    assert X_after.flags.c_contiguous and X_after.dtype == np.float64
    return pipeline, X_after


@pytest.mark.parametrize("solver", ["full", "randomized"])
def test_a_transformer_is_fitted_to_the_training_part(solver):
    """Its seed is that of the run."""
    (X, y), (X_test, _) = examples(), examples(1)
    specs = [(SCALER, {}), (PCA_NAME, {"n_components": 2, "svd_solver": solver})]
    pipeline, after = fitted(specs, X, y, seed=5)
    seed = int(np.random.default_rng(5).integers(2**31))
    expected = make_pipeline(StandardScaler(), PCA(2, svd_solver=solver, random_state=seed)).fit(X)
    assert np.array_equal(after, expected.transform(X))
    assert np.array_equal(pipeline.transform(X_test), expected.transform(X_test))
    assert pipeline.columns_ is None and pipeline.nominal_.tolist() == [False, False]


def test_codes_of_categories_are_kept():
    X, y = examples()
    X[:, 1] = np.arange(len(X)) % 3
    nominal = np.array([False, True, False, False])
    numbers = np.ascontiguousarray(X[:, ~nominal])
    pipeline, after = fitted([(SCALER, {})], X, y, nominal)
    assert np.array_equal(after[:, 1], X[:, 1]) and np.array_equal(pipeline.nominal_, nominal)
    assert np.array_equal(after[:, ~nominal], StandardScaler().fit_transform(numbers))
    pipeline, after = fitted([(PCA_NAME, {"n_components": 2, "svd_solver": "full"})], X, y, nominal)
    expected = np.column_stack([PCA(2, svd_solver="full").fit(numbers).transform(numbers), X[:, 1]])
    assert pipeline.nominal_.tolist() == [False, False, True] and np.array_equal(after, expected)
    assert np.array_equal(pipeline.transform(X[:5]), after[:5])
    pipeline, after = fitted([(SELECT, {"k": 2})], X, y, nominal)
    chosen = SelectKBest(k=2).fit(X[:, ~nominal], y).get_support(indices=True)
    columns = sorted([1, *np.flatnonzero(~nominal)[chosen]])
    assert pipeline.columns_.tolist() == columns and np.array_equal(after, X[:, columns])


def test_missing_values_are_imputed():
    X, y = examples()
    X[3, 1] = np.nan
    _, after = fitted([("sklearn.impute.SimpleImputer", {"strategy": "median"})], X, y)
    assert np.array_equal(after, SimpleImputer(strategy="median").fit_transform(X))


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (SELECT, f"{SELECT} makes training examples conform better"),
        (SCALER, f"{SCALER} is fitted to the training rows but not to the new rows"),
        ("own_module.Doubled", "step own_module.Doubled is not imported here, so it is unknown"),
        ("sklearn.preprocessing.Normalizer", None),
    ],
)
def test_notes_name_the_steps(step, message):
    config = {"datasets": ["wine-sklearn"], "methods": ["tcm-nn"], "protocol": "holdout", "steps": [step]}
    notes = step_notes(restore_config({"name": "n", **config}))
    assert len(notes) == bool(message) and all(message in note for note in notes)


@pytest.mark.parametrize(
    "name, message",
    [
        ("sklearn.PCA", "has no 'sklearn.PCA'; did you mean 'sklearn.decomposition.PCA'?"),
        ("sklearn.svm.SVC", "sklearn.svm.SVC has no transform"),
        ("own_module.Words", "step 'own_module.Words' returns values that are not numbers"),
        ("own_module.OneRow", "step 'own_module.OneRow' returns the shape"),
        ("own_module.Infinite", "step 'own_module.Infinite' returns values that are not finite; scale"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_wrong_steps(allowed, name, message):
    with pytest.raises(ConfmlError) as caught:
        fitted([(name, {})], *examples())
    assert message in str(caught.value)


def test_steps_in_a_run(allowed, tmp_path):
    """The version of the own module is in the manifest, and another parameter makes other cells."""
    config = {"datasets": [{"generate": "five-gaussians", "n": 60, "test-n": 30}], "methods": ["knn"]}
    config |= {"protocol": "fixed-split", "figures": []}
    keys = set()
    for components in (2, 1):
        steps = ["own_module.Doubled", {"name": PCA_NAME, "n-components": components}]
        run = confml.run({**config, "steps": steps}, out=tmp_path / str(components), engine="serial")
        assert run.manifest["provenance"]["packages"]["own_module"].startswith("sha256 ")
        assert run.manifest["config"]["steps"][1] == {"name": PCA_NAME, "n_components": components}
        keys |= {cell["key"] for cell in run.manifest["cells"]}
    assert run.failures.empty and len(keys) == 2 * len(run.manifest["cells"])


# ---- steps in pipelines of scikit-learn


@parametrize_with_checks([StepTransformer(), StepTransformer("impute-mean")])
def test_contract_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture
def frame():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["noise", "size"])
    return X, np.where(X["size"] > 0, "big", "small")


def test_a_pipeline_equals_the_steps_of_a_prediction(frame):
    X, y = frame
    model = make_pipeline(StepTransformer("min-max"), confml.TCMNN(k=1)).fit(X[:40], y[:40])
    new = X[40:].reset_index(drop=True)
    predicted = confml.predict(X[:40].assign(y=y[:40]), new, label="y", steps=["min-max"])
    assert list(model.predict(new)) == list(predicted["prediction"])


def test_names_of_features(frame):
    X, y = frame
    for step, params, names in ((SELECT, {"k": 1}, ["size"]), (PCA_NAME, {}, ["pca0", "pca1"])):
        transformer = StepTransformer(step, params).set_output(transform="pandas")
        assert list(transformer.fit_transform(X, y).columns) == names
    assert list(StepTransformer().fit(X.to_numpy()).get_feature_names_out()) == ["x0", "x1"]
    with pytest.raises(ConfigError, match="'tomek-links' changes the rows of the training set"):
        StepTransformer("tomek-links").fit(X, y)
