"""Methods by name: scikit-learn's classifiers under their dotted names, other packages' methods, messages."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.discovery import all_estimators

from confml._seeds import derived_generator
from confml.errors import ConfigError, ConfmlError
from confml.methods import registry
from confml.methods.base import Method
from confml.methods.sklearn.names import find_classifier
from confml.methods.sklearn.sklearn_method import SklearnMethod
from confml.plugins.registry import PluginRegistry

FOREST = "sklearn.ensemble.RandomForestClassifier"
BAGGING = "sklearn.ensemble.BaggingClassifier"
ONE_VS_REST = "sklearn.multiclass.OneVsRestClassifier"
TREE = "sklearn.tree.DecisionTreeClassifier"


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X[::2], y[::2], X[1::2]


@pytest.fixture(scope="module")
def two_classes(iris):
    X, y, X_test = iris
    return X, np.where(y == 1, "b", "a"), X_test


# ---- views


def test_probabilities(iris):
    X, y, X_test = iris
    method = registry.build(FOREST, {"n_estimators": 7, "random_state": 1}).fit(X, y)
    forest = RandomForestClassifier(7, random_state=1).fit(X, y)
    (view,) = method.confident_predict(X_test).values()
    assert view.kind == "probability"
    assert np.array_equal(view.scores, forest.predict_proba(X_test))
    assert np.array_equal(view.labels, forest.predict(X_test))
    assert np.array_equal(method.predict(X_test), forest.predict(X_test))
    assert np.array_equal(method.predict_proba(X_test), forest.predict_proba(X_test))
    assert np.array_equal(method.classes_, forest.classes_)
    assert method.n_features_in_ == 4


def test_the_margin_of_two_classes_is_the_decision_value(two_classes):
    X, y, X_test = two_classes
    method = registry.build("sklearn.svm.LinearSVC", {"random_state": 0}).fit(X, y)
    values = LinearSVC(random_state=0).fit(X, y).decision_function(X_test)
    view = method.confident_predict(X_test)["margin"]
    assert np.array_equal(view.scores, np.column_stack([-values / 2, values / 2]))
    assert np.array_equal(view.confidence, np.abs(values))
    assert np.array_equal(view.labels, np.where(values > 0, "b", "a"))
    assert np.array_equal(method.decision_function(X_test), values)


def test_labels_are_the_classifiers_own_even_against_its_scores():
    # Without break_ties, SVC's prediction is a vote of pairs, not the class of the largest decision value.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), rng.integers(0, 6, 80)
    X_test = rng.normal(size=(400, 2))
    view = registry.build("sklearn.svm.SVC").fit(X, y).confident_predict(X_test)["margin"]
    assert np.array_equal(view.labels, SVC().fit(X, y).predict(X_test))
    assert not np.array_equal(view.labels, view.classes[view.scores.argmax(axis=1)])


def test_scores_that_are_no_numbers_are_an_error():
    class Broken(RandomForestClassifier):
        def predict_proba(self, X):
            return super().predict_proba(X) * np.nan

    method = SklearnMethod(Broken(3)).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ConfmlError, match="predict_proba of Broken .* not finite for 2 of 2 examples"):
        method.confident_predict([[0.0], [1.0]])


# ---- the contract


def test_parameters_and_clones_are_the_classifiers(iris):
    X, y, X_test = iris
    method = registry.build(BAGGING, {"estimator": TREE, "estimator__max_depth": 2, "random_state": 4})
    assert method.get_params()["estimator__max_depth"] == 2
    copy = clone(method).set_params(estimator__max_depth=1, n_estimators=3)
    assert copy.get_params()["estimator__max_depth"] == 1
    assert method.get_params()["estimator__max_depth"] == 2 and method.get_params()["n_estimators"] == 10
    method.fit(X, y)
    arrived = pickle.loads(pickle.dumps(method))
    assert np.array_equal(arrived.predict(X_test), method.predict(X_test))
    with pytest.raises(ValueError, match="not fitted"):
        clone(method).predict(X_test)
    assert "BaggingClassifier" in repr(method)


def test_a_path_sets_the_classifiers_parameters(iris):
    X, y, X_test = iris
    grid = [{"max_depth": 1}, {"max_depth": None, "n_estimators": 3}]
    method = registry.build(FOREST, {"n_estimators": 5, "random_state": 2})
    path = list(method.evaluate_path(X, y, X_test, grid, np.random.default_rng(0)))
    assert [point for point, _ in path] == grid
    for (_, views), forest in zip(
        path, [RandomForestClassifier(5, max_depth=1), RandomForestClassifier(3)], strict=True
    ):
        expected = forest.set_params(random_state=2).fit(X, y).predict_proba(X_test)
        assert np.array_equal(views["probability"].scores, expected)


def test_chance_comes_from_the_run(iris):
    X, y, X_test = iris

    def scores(name, params, seed):
        method = registry.build(name, params)
        ((_, views),) = method.evaluate_path(X, y, X_test, [{}], np.random.default_rng(seed))
        return next(iter(views.values())).scores

    for name, params in [
        (FOREST, {"n_estimators": 5}),
        (ONE_VS_REST, {"estimator": "sklearn.ensemble.ExtraTreesClassifier", "estimator__n_estimators": 5}),
    ]:
        assert np.array_equal(scores(name, params, 1), scores(name, params, 1))
        assert not np.array_equal(scores(name, params, 1), scores(name, params, 2))
    given = {"n_estimators": 5, "random_state": 7}
    assert np.array_equal(scores(FOREST, given, 1), scores(FOREST, given, 2))
    seed = int(derived_generator(np.random.default_rng(1), {}).integers(2**31))
    forest = RandomForestClassifier(5, random_state=seed).fit(X, y)
    assert np.array_equal(scores(FOREST, {"n_estimators": 5}, 1), forest.predict_proba(X_test))


# ---- names


def test_every_classifier_of_scikit_learn_has_its_name():
    for name, cls in all_estimators("classifier"):
        assert find_classifier(".".join([*cls.__module__.split(".")[:2], name])) is cls


@pytest.mark.parametrize(
    "name, message",
    [
        ("sklearn.ensemble.RandomForestClasifier", f"did you mean '{FOREST}'"),
        ("sklearn.ensemble._forest.RandomForestClassifier", f"did you mean '{FOREST}'"),
        ("RandomForestClassifier", f"unknown method 'RandomForestClassifier'; did you mean '{FOREST}'"),
        ("sklearn.svm.SVR", "sklearn.svm.SVR is not a classifier; did you mean 'sklearn.svm.SVC'"),
        ("os.system", "needs the import of os, and only scikit-learn is allowed; if you trust it, add"),
        ("", "unknown method ''; there are"),
    ],
)
def test_names_that_are_no_methods(name, message):
    for function in (registry.check, registry.build, registry.describe, registry.version_of):
        with pytest.raises(ConfigError) as caught:
            function(name)
        assert message in str(caught.value)


def test_nothing_outside_scikit_learn_is_imported():
    program = """
import sys
from confml.errors import ConfigError
from confml.methods import registry
names = ["antigravity.x", "this.is.a.name", "sklearn.conftest.pytest", "sklearn.utils._testing.os.system",
         "sklearn.externals.array_api_compat.torch", "sklearn.datasets.tests.test_base.X",
         "sklearn.os.system", "sklearn.svm.tests.test_svm", "turtle.Turtle"]
for name in names:
    try:
        registry.build(name)
    except ConfigError:
        continue
    raise SystemExit(f"{name} was accepted")
found = {"antigravity", "this", "turtle", "sklearn.conftest"} & set(sys.modules)
raise SystemExit(f"imported {found}" if found else 0)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# ---- parameters


@pytest.mark.parametrize(
    "name, params, message",
    [
        (
            FOREST,
            {"max_dept": 3},
            "RandomForestClassifier has no parameter 'max_dept'; did you mean 'max_depth'",
        ),
        (FOREST, {"criterion": "ginny"}, "one of entropy, gini, log_loss, got 'ginny'; did you mean 'gini'"),
        (BAGGING, {"estimator": TREE, "estimator__max_depth": -3}, "estimator__max_depth must be an int"),
        (BAGGING, {"estimator__max_depth": 3}, "estimator__max_depth needs the parameter 'estimator'"),
        (ONE_VS_REST, {}, "OneVsRestClassifier needs the parameter 'estimator'"),
        ("knn", {"K": 1}, "method 'knn' has no parameter 'K'; did you mean 'k'"),
    ],
)
def test_wrong_parameters(name, params, message):
    for function in (registry.check, registry.build):
        with pytest.raises(ConfigError) as caught:
            function(name, params)
        assert message in str(caught.value)


# ---- other packages' methods


MODULE = """
from sklearn.dummy import DummyClassifier
from confml.methods.knn import KNN

class Near(KNN):
    '''A neighbour from elsewhere.'''
    name = "near"

class Misnamed(KNN):
    name = "another-name"
"""
ENTRY_POINTS = """
[confml.methods]
near = their_methods:Near
nowhere = their_methods:Missing
raises = their_broken_module:Near
not-a-method = their_methods:DummyClassifier
misnamed = their_methods:Misnamed
knn = their_methods:Near
twice = their_methods:Near
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Two packages of other people that offer methods, good and bad, and a registry that sees them."""
    (tmp_path / "their_methods.py").write_text(MODULE)
    (tmp_path / "their_broken_module.py").write_text("raise RuntimeError('no licence found')")
    for package, version, points in [
        ("their-package", "1.2", ENTRY_POINTS),
        ("other-package", "0.1", "[confml.methods]\ntwice = their_methods:Near\n"),
    ]:
        folder = tmp_path / f"{package.replace('-', '_')}-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
        (folder / "entry_points.txt").write_text(points)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "their_methods", raising=False)
    monkeypatch.setattr(
        registry, "methods", PluginRegistry("method", registry.methods.locations, Method, "confml.methods")
    )


def test_a_method_of_another_package(installed):
    assert "their_methods" not in sys.modules
    assert type(registry.build("near", {"k": 3})).__name__ == "Near"
    card = registry.describe("near")
    assert card["source"] == "their-package 1.2" and card["summary"] == "A neighbour from elsewhere."
    with pytest.raises(ConfigError, match="k must be a whole number"):
        registry.check("near", {"k": 0})
    with pytest.raises(ConfigError, match="did you mean 'near'"):
        registry.check("nearr")


@pytest.mark.parametrize(
    "name, message",
    [
        ("nowhere", "cannot be imported from their_methods:Missing: AttributeError"),
        ("raises", "cannot be imported from their_broken_module:Near: RuntimeError: no licence found"),
        ("not-a-method", "must be a subclass of confml.methods.base.Method with this name"),
        ("misnamed", "with this name, but their_methods:Misnamed is 'another-name'"),
        ("twice", "offered by other-package 0.1 and their-package 1.2"),
    ],
)
def test_a_broken_method_of_another_package(installed, name, message):
    for function in (registry.check, registry.build, registry.describe):
        with pytest.raises(ConfmlError) as caught:
            function(name)
        assert message in str(caught.value) and "their-package 1.2" in str(caught.value)
    assert name in registry.broken_methods() and name not in registry.known_methods()


def test_no_package_replaces_a_method_of_confml(installed):
    assert registry.method_class("knn").__module__ == "confml.methods.knn.knn"
    assert registry.describe("knn")["source"] == "confml"
