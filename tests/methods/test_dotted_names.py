"""Classifiers of scikit-learn and of a user's own module by dotted name."""

import json
import os
import sys

import numpy as np
import processes
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import confml
from confml.config import make_config
from confml.errors import ConfigError, ConfmlError
from confml.methods import registry
from confml.plugins.imports import allow_imports, import_permission, package_version

FOREST = "sklearn.ensemble.RandomForestClassifier"
BAGGING = "sklearn.ensemble.BaggingClassifier"
ONE_VS_REST = "sklearn.multiclass.OneVsRestClassifier"
TREE = "sklearn.tree.DecisionTreeClassifier"
PIPELINE = "sklearn.pipeline.Pipeline"


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X[::2], np.array(["one", "three", "two"])[y[::2]], X[1::2]


def shares_of(X, codes, X_test):
    """Return the shares of the class of the own module, which accepts class numbers."""
    return sys.modules["own_module"].Nearest().fit(X, codes).shares(X_test)


# ---- names, parameters and permission


@pytest.mark.parametrize(
    "name",
    [
        "antigravity.x",
        "own-module.x",
        "this.is.a.name",
        "sklearn.conftest.pytest",
        "sklearn.utils._testing.os.system",
        "sklearn.externals.array_api_compat.torch",
        "sklearn.datasets.tests.test_base.X",
        "sklearn.os.system",
    ],
)
def test_nothing_outside_scikit_learn_is_imported(name):
    with pytest.raises(ConfigError):
        registry.build(name)
    assert not {"antigravity", "this", "sklearn.conftest"} & set(sys.modules)


def test_nothing_is_imported_without_permission(own_module, tmp_path):
    (tmp_path / "own_module.py").write_text("open('imported', 'w').close()")
    bagging = {"name": BAGGING, "estimator": "own_module.Nearest"}
    pipeline = {"name": PIPELINE, "steps": [["nearest", "own_module.Nearest"]]}
    values = {"datasets": ["iris"], "protocol": "holdout", "steps": ["own_module.Doubled"]}
    values |= {"methods": ["own_module.Nearest", bagging, pipeline], "allow-import": ["own_module"]}
    with pytest.raises(ConfigError) as caught:
        make_config(values)
    for message in (
        "method 'own_module.Nearest' needs the import of own_module",
        "step 'own_module.Doubled' needs the import of own_module, and only scikit-learn is",
        "estimator: expected an object implementing",
        "unknown key 'allow-import'",
    ):
        assert message in str(caught.value)
    assert not (tmp_path / "imported").exists() and "own_module" not in sys.modules


def test_a_permission_is_for_its_package_and_its_block(allowed):
    assert registry.build("own_module.Nearest").get_params()["sharpness"] == 1
    for name in ("antigravity.geohash", "own_module_2.Nearest"):
        with pytest.raises(ConfigError, match=f"needs the import of {name.partition('.')[0]}"):
            registry.check(name)
    with allow_imports("fractions"):
        assert import_permission().packages == ("own_module", "fractions")
    assert import_permission().packages == ("own_module",) and "antigravity" not in sys.modules


@pytest.mark.parametrize(
    "name, params, message",
    [
        ("sklearn.ensemble._forest.RandomForestClassifier", {}, f"did you mean '{FOREST}'"),
        ("RandomForestClassifier", {}, f"unknown method 'RandomForestClassifier'; did you mean '{FOREST}'"),
        ("sklearn.svm.SVR", {}, "sklearn.svm.SVR is not a classifier; did you mean 'sklearn.svm.SVC'"),
        ("tcm.nn", {}, "unknown method 'tcm.nn'; did you mean 'tcm-nn'?"),
        ("own_module.Nearst", {}, "the module own_module has no 'Nearst'; did you mean 'Nearest'?"),
        ("own_module.NoFit", {}, "has no fit and no predict and no get_params and no set_params; scikit"),
        ("own_module.Untagged", {}, "not a classifier; an own class needs sklearn.base.ClassifierMixin"),
        ("own_module.Refuses", {}, "Refuses with these parameters raises RuntimeError: no licence"),
        ("own_module.Changes", {}, "cannot be copied with its parameters"),
        ("raises.Nearest", {}, "importing raises raises RuntimeError: no licence; try python -c 'import rai"),
        (FOREST, {"criterion": "ginny"}, "one of entropy, gini, log_loss, got 'ginny'; did you mean 'gini'"),
        (BAGGING, {"estimator__max_depth": 3}, "estimator__max_depth needs the parameter 'estimator'"),
        ("own_module.Nearest", {"sharpnes": 1}, "no parameter 'sharpnes'; did you mean 'sharpness'?"),
        ("own_module.model", {"svc__c": 1}, "no parameter 'svc__c'; did you mean 'svc__C'?"),
    ],
)
def test_wrong_names_and_parameters(own_module, tmp_path, name, params, message):
    (tmp_path / "raises.py").write_text("raise RuntimeError('no licence')")
    with allow_imports(["own_module", "raises"]), pytest.raises(ConfmlError) as caught:
        registry.build(name, params)
    assert message in str(caught.value)


# ---- views


def test_labels_are_the_classifiers_own_even_against_its_scores():
    # Without break_ties, SVC's prediction is a vote of pairs, not the class of the largest decision value.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), rng.integers(0, 6, 80)
    X_test = rng.normal(size=(400, 2))
    view = registry.build("sklearn.svm.SVC").fit(X, y).confident_predict(X_test)["margin"]
    assert np.array_equal(view.labels, SVC().fit(X, y).predict(X_test))
    assert not np.array_equal(view.labels, view.classes[view.scores.argmax(axis=1)])


@pytest.mark.parametrize("name", ["Nearest", "Probable", "Backwards", "Margins"])
@pytest.mark.parametrize("labels", [["one", "three", "two"], [-5, 0, 12]])
def test_labels_are_coded(allowed, iris, capfd, name, labels):
    """Against the class itself with the class numbers."""
    X, y, X_test = iris
    codes = np.unique(y, return_inverse=True)[1]
    method = registry.build(f"own_module.{name}").fit(X, np.array(labels)[codes])
    (view,) = method.confident_predict(X_test).values()
    assert capfd.readouterr().out == ""
    shares = shares_of(X, codes, X_test)
    assert view.labels.tolist() == [labels[code] for code in shares.argmax(axis=1)]
    expected = {"Nearest": np.eye(3)[shares.argmax(axis=1)], "Margins": np.log(shares)}
    assert np.array_equal(view.scores, expected.get(name, shares))
    assert view.kind == {"Nearest": "vote", "Margins": "margin"}.get(name, "probability")


@pytest.mark.parametrize("name", ["OneColumn", "Margins"])
def test_two_classes(allowed, iris, name):
    X, y, X_test = iris
    y = np.where(y == "one", "yes", "no")
    method = registry.build(f"own_module.{name}").fit(X, y)
    (view,) = method.confident_predict(X_test).values()
    second = shares_of(X, (y == "yes").astype(int), X_test)[:, 1]
    assert np.array_equal(view.labels == "yes", second > 0.5)
    if name == "OneColumn":
        np.testing.assert_allclose(view.scores, np.column_stack([1 - second, second]), rtol=1e-9)
        np.testing.assert_array_equal(method.predict_proba(X_test), view.scores)
    else:
        odds = np.log(second) - np.log(1 - second)
        np.testing.assert_allclose(view.scores, np.column_stack([-odds / 2, odds / 2]), rtol=1e-9)
        np.testing.assert_allclose(method.decision_function(X_test), odds, rtol=1e-9)


@pytest.mark.parametrize(
    "name, message",
    [
        ("TooFew", r"predict_proba of TooFew has the shape \(75, 2\), expected 3 columns"),
        ("Fractions", "predict of Fractions has .* not one of the class numbers 0 to 2 that it"),
        ("NotANumber", "predict_proba of NotANumber .* not finite for 75 of 75 examples"),
        ("Arrays", "of Arrays returns ndarray for .*, expected a Prediction"),
    ],
)
def test_predictions_that_are_wrong(allowed, iris, name, message):
    X, y, X_test = iris
    method = registry.build(f"own_module.{name}").fit(X, y)
    with pytest.raises(ConfmlError, match=message):
        method.confident_predict(X_test)


# ---- parameters, copies and seeds


def test_open_keywords_are_accepted(allowed, iris):
    X, y, X_test = iris
    method = registry.build("own_module.Open", {"other": 3})
    assert method.get_params() == {"other": 3, "sharpness": 1.0}
    ((_, views),) = method.evaluate_path(X, y, X_test, [{"another": 4}])
    assert len(views["vote"]) == len(X_test)


def test_class_weights_are_by_label(allowed, iris):
    X, y, _ = iris
    method = registry.build("own_module.Nearest", {"class_weight": {"one": 2, "two": 3, "absent": 4}})
    assert method.fit(X, y).estimator_.class_weight == {0: 2, 2: 3}
    assert method.estimator.class_weight == {"one": 2, "two": 3, "absent": 4}


def test_an_estimator_of_a_module_is_copied(allowed, iris):
    X, y, X_test = iris
    method = registry.build("own_module.model", {"svc__C": 3}).fit(X, y)
    model = sys.modules["own_module"].model
    assert model.get_params()["svc__C"] == 1 and not hasattr(model[-1], "classes_")
    expected = clone(model).set_params(svc__C=3).fit(X, y)
    assert np.array_equal(method.predict(X_test), expected.predict(X_test))


def test_a_pipeline_from_names(allowed, iris):
    X, y, X_test = iris
    steps = [["scale", "sklearn.preprocessing.StandardScaler"], ["svc", "sklearn.svm.SVC"]]
    method = registry.build(PIPELINE, {"steps": steps, "svc__C": 3}).fit(X, y)
    expected = make_pipeline(StandardScaler(), SVC(C=3))
    assert np.array_equal(method.predict(X_test), expected.fit(X, y).predict(X_test))
    assert method.codes_ is None  # scikit-learn's own classifiers get the labels
    steps[1][1] = "own_module.Nearest"
    assert registry.build(PIPELINE, {"steps": steps}).fit(X, y).codes_ is not None


def test_chance_comes_from_the_run(iris):
    X, y, X_test = iris

    def scores(name, params, seed):
        method = registry.build(name, params)
        ((_, views),) = method.evaluate_path(X, y, X_test, [{}], np.random.default_rng(seed))
        return next(iter(views.values())).scores

    trees = {"estimator": "sklearn.ensemble.ExtraTreesClassifier", "estimator__n_estimators": 5}
    for name, params in [(FOREST, {"n_estimators": 5}), (ONE_VS_REST, trees)]:
        assert np.array_equal(scores(name, params, 1), scores(name, params, 1))
        assert not np.array_equal(scores(name, params, 1), scores(name, params, 2))
    seeded = {"n_estimators": 5, "random_state": 7}
    assert np.array_equal(scores(FOREST, seeded, 1), scores(FOREST, seeded, 2))


# ---- versions and runs


def test_the_version_is_that_of_the_source(allowed):
    first = registry.version_of("own_module.Nearest")
    assert first.startswith("1, scikit-learn ") and ", own_module sha256 " in first
    assert "own_module sha256" in registry.version_of(BAGGING, {"estimator": "own_module.Nearest"})
    assert "own_module" not in registry.version_of(BAGGING)
    assert "own_module" in registry.version_of(BAGGING, {}, [["own_module.Nearest"]])
    assert package_version("numpy.ndarray") == ("numpy", np.__version__)


RUN = """\
name: own
datasets: [wine-sklearn]
methods:
  - {name: own_module.Probable, sweep: {sharpness: [1, 4]}}
  - {name: own_module.Probable, label: conformal, sharpness: 2, conformal: split}
  - {name: own_module.model, tune: {svc__C: [1, 10]}}
  - {name: own_module.FailsInFit}
protocol: {kind: holdout, repeats: 1, inner-folds: 2}
figures: []
"""


def test_a_run_in_worker_processes(own_module, tmp_path):
    """The command as installed, whose search path has no current folder."""
    (tmp_path / "own.yaml").write_text(RUN)
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(confml.__file__))}

    def run(*arguments):
        return processes.confml(*arguments, env=environment, cwd=tmp_path, path_has_folder=False)

    allow = ("own.yaml", "--out", "out", "--allow-import", "own_module")
    done = run("run", *allow, "--jobs", "2")
    assert done.returncode == 1, done.stderr
    assert "own_module.FailsInFit r0: RuntimeError: no licence" in done.stderr
    manifest = json.loads((tmp_path / "out" / ".run/manifest.json").read_text())
    assert manifest["provenance"]["packages"]["own_module"].startswith("sha256 ")
    metrics = (tmp_path / "out" / "metrics.csv").read_text()
    assert run("report", "out").returncode == 0  # the stored cells need no import
    assert (tmp_path / "out" / "metrics.csv").read_text() == metrics
    with open(tmp_path / "own_module.py", "a") as source:
        source.write("\n# changed\n")
    assert "6 fits in out: 1 done, 0 failed, 5 left" in run("run", "--dry-run", *allow).stdout
