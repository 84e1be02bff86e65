"""Transformers of scikit-learn and of a user's own module as steps, and steps as transformers."""

from __future__ import annotations

import json
import sys

import numpy as np
import pandas as pd
import pytest
from reference import own_module
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import confml
from confml import StepTransformer
from confml.config import make_config, restore_config
from confml.errors import ConfigError, ConfmlError
from confml.plugins.imports import allow_imports
from confml.report.described import describe_all
from confml.report.tables.notes import step_notes
from confml.steps.registry import build_pipeline, check_step, step_class, version_of_step

PCA_NAME, SCALER = "sklearn.decomposition.PCA", "sklearn.preprocessing.StandardScaler"
SELECT, IMPUTE = "sklearn.feature_selection.SelectKBest", "sklearn.impute.SimpleImputer"
ENCODER = "sklearn.preprocessing.TargetEncoder"


@pytest.fixture
def allowed(tmp_path, monkeypatch):
    own_module.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    sys.modules.pop("own_module", None)
    with allow_imports(["own_module"]):
        yield
    sys.modules.pop("own_module", None)


def examples(seed=0, rows=40, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, d)) * [1, 10, 100, 1][:d]
    X[:, 0] += 0.1 * X[:, 2]
    return X, rng.integers(0, 3, rows)


def fitted(specs, X, y, nominal=None, seed=1):
    pipeline = build_pipeline(specs)
    X_after, y_after, kept = pipeline.fit_training(X, y, np.random.default_rng(seed), nominal)
    assert np.array_equal(y_after, y) and np.array_equal(kept, np.arange(len(y)))
    assert X_after.flags.c_contiguous and X_after.dtype == np.float64
    return pipeline, X_after


def test_a_transformer_is_fitted_to_the_training_part():
    (X, y), (X_test, _) = examples(), examples(1)
    pipeline, after = fitted([(SCALER, {}), (PCA_NAME, {"n_components": 2, "svd_solver": "full"})], X, y)
    scaler = StandardScaler().fit(X)
    pca = PCA(2, svd_solver="full").fit(scaler.transform(X))
    assert np.array_equal(after, pca.transform(scaler.transform(X)))
    assert np.array_equal(pipeline.transform(X_test), pca.transform(scaler.transform(X_test)))
    assert pipeline.columns_ is None and pipeline.nominal_.tolist() == [False, False]
    assert pipeline.transform(X_test[:0]).shape == (0, 2)


def test_codes_of_categories_are_kept():
    X, y = examples()
    nominal = np.array([False, True, False, False])
    X[:, 1] = np.arange(len(X)) % 3
    numbers = np.ascontiguousarray(X[:, ~nominal])
    pipeline, after = fitted([(SCALER, {})], X, y, nominal)
    assert np.array_equal(after[:, 1], X[:, 1]) and np.array_equal(pipeline.nominal_, nominal)
    assert np.array_equal(after[:, ~nominal], StandardScaler().fit_transform(numbers))
    assert pipeline.columns_.tolist() == [0, 1, 2, 3]
    pipeline, after = fitted([(PCA_NAME, {"n_components": 2, "svd_solver": "full"})], X, y, nominal)
    assert pipeline.nominal_.tolist() == [False, False, True] and np.array_equal(after[:, 2], X[:, 1])
    assert np.array_equal(after[:, :2], PCA(2, svd_solver="full").fit(numbers).transform(numbers))
    assert np.array_equal(pipeline.transform(X[:5]), after[:5])
    pipeline, after = fitted([(SELECT, {"k": 2})], X, y, nominal)
    chosen = SelectKBest(k=2).fit(numbers, y).get_support(indices=True)
    columns = sorted([1, *np.flatnonzero(~nominal)[chosen]])
    assert pipeline.columns_.tolist() == columns and np.array_equal(after, X[:, columns])
    assert pipeline.nominal_.tolist() == [column == 1 for column in columns]


def test_the_seed_is_that_of_the_run():
    X, y = examples()
    params = {"n_components": 2, "svd_solver": "randomized"}
    seed = int(np.random.default_rng(5).integers(2**31))
    _, after = fitted([(PCA_NAME, params)], X, y, seed=5)
    assert np.array_equal(after, PCA(2, svd_solver="randomized", random_state=seed).fit(X).transform(X))


def test_missing_values_are_imputed():
    X, y = examples()
    X[3, 1] = np.nan
    _, after = fitted([(IMPUTE, {"strategy": "median"})], X, y)
    assert np.array_equal(after, SimpleImputer(strategy="median").fit_transform(X))
    with pytest.raises(ConfmlError, match="NaN|missing"):
        fitted([("standardise", {})], X, y)


@pytest.mark.parametrize(
    ("name", "learns", "breaks_exchangeability"),
    [
        (SCALER, True, False),
        (SELECT, True, True),
        ("sklearn.feature_selection.VarianceThreshold", True, False),
        ("sklearn.preprocessing.Normalizer", False, False),
    ],
)
def test_properties(name, learns, breaks_exchangeability):
    step = step_class(name)
    assert (step.learns, step.breaks_exchangeability) == (learns, breaks_exchangeability)
    assert step_class(name) is step and step.name == name
    assert version_of_step(name).startswith("1, scikit-learn ")
    assert not step.divides_groups({}) and not step_class(ENCODER).divides_groups({})


def test_notes_name_the_steps():
    config = {"datasets": ["wine-sklearn"], "methods": ["tcm-nn"], "protocol": "holdout"}
    (note,) = step_notes(make_config({**config, "steps": [SELECT]}))
    assert note.startswith(f"{SELECT} makes training examples conform better")
    (note,) = step_notes(make_config({**config, "steps": [SCALER]}))
    assert f"{SCALER} is fitted to the training rows but not to the new rows" in note
    assert step_notes(make_config({**config, "steps": ["sklearn.preprocessing.Normalizer"]})) == []
    (note,) = step_notes(restore_config({"name": "n", **config, "steps": ["own_module.Doubled"]}))
    assert note.startswith("step own_module.Doubled is not imported here, so it is unknown")


@pytest.mark.parametrize(
    "name, params, message",
    [
        ("sklearn.PCA", {}, "has no 'sklearn.PCA'; did you mean 'sklearn.decomposition.PCA'?"),
        ("sklearn.svm.SVC", {}, "sklearn.svm.SVC has no transform"),
        (PCA_NAME, {"n_component": 2}, "PCA has no parameter 'n_component'; did you mean 'n_components'?"),
        ("antigravity.X", {}, "step 'antigravity.X' needs the import of antigravity, and only scikit-learn"),
    ],
)
def test_wrong_steps(allowed, name, params, message):
    with pytest.raises(ConfigError) as caught:
        check_step(name, params)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "name, message",
    [
        ("own_module.Words", "step 'own_module.Words' returns values that are not numbers"),
        ("own_module.OneRow", "step 'own_module.OneRow' returns the shape"),
        ("own_module.Infinite", "step 'own_module.Infinite' returns values that are not finite; scale"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_wrong_results(allowed, name, message):
    with pytest.raises(ConfmlError, match=message):
        fitted([(name, {})], *examples())


def test_steps_in_a_run(allowed, tmp_path):
    """The version of the own module is in the manifest, and another parameter makes other cells."""
    values = {
        "name": "steps",
        "datasets": [{"generate": "five-gaussians", "n": 60, "test-n": 30}],
        "steps": ["own_module.Doubled", {"name": PCA_NAME, "n-components": 2}],
        "methods": [{"name": "knn", "sweep": {"k": [1, 3]}}],
        "protocol": "fixed-split",
        "figures": [],
    }
    keys = []
    for components in (2, 1):
        values["steps"][1]["n-components"] = components
        run = confml.run(values, out=tmp_path / str(components), jobs=1, engine="serial")
        assert len(run.failures) == 0
        manifest = json.loads((tmp_path / str(components) / ".run/manifest.json").read_text())
        assert manifest["provenance"]["packages"]["own_module"].startswith("sha256 ")
        assert manifest["config"]["steps"][1] == {"name": PCA_NAME, "n_components": components}
        keys.append({cell["key"] for cell in manifest["cells"]})
    assert not keys[0] & keys[1]


def test_descriptions():
    (entry,) = describe_all(PCA_NAME)
    assert entry["type"] == "step" and entry["source"].startswith("scikit-learn ")
    assert entry["parameters"][0]["name"] == "n_components"
    both = describe_all("sklearn.discriminant_analysis.LinearDiscriminantAnalysis")
    assert [entry["type"] for entry in both] == ["method", "step"]


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
    assert clone(model).get_params()["steptransformer__step"] == "min-max"


def test_names_of_features(frame):
    X, y = frame
    kept = StepTransformer(SELECT, {"k": 1}).set_output(transform="pandas")
    assert list(kept.fit_transform(X, y).columns) == ["size"]
    made = StepTransformer(PCA_NAME, {"n_components": 2}).set_output(transform="pandas")
    assert list(made.fit_transform(X).columns) == ["pca0", "pca1"]  # components are no features
    assert list(StepTransformer().fit(X.to_numpy()).get_feature_names_out()) == ["x0", "x1"]


def test_steps_that_change_rows_are_refused(frame):
    with pytest.raises(ConfigError, match="'tomek-links' changes the rows of the training set"):
        StepTransformer("tomek-links").fit(*frame)
