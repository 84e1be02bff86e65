"""Classifiers of other packages and of a user's own module, by dotted name: permission, labels, messages."""

from __future__ import annotations

import json
import os
import sys

import numpy as np
import processes
import pytest
from reference import own_module
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import confml
from confml.config import make_config
from confml.errors import ConfigError, ConfmlError
from confml.methods import registry
from confml.methods.conformal import Conformal
from confml.methods.sklearn.sklearn_method import SklearnMethod
from confml.plugins.imports import allow_imports, import_permission, package_version

SKLEARN_PIPELINE = "sklearn.pipeline.Pipeline"


@pytest.fixture
def own(tmp_path, monkeypatch):
    """The user's own module in the current folder, which is not on the search path, and its permission."""
    own_module.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one not in ("", str(tmp_path))])
    yield sys.modules.pop("own_module", None)
    sys.modules.pop("own_module", None)


@pytest.fixture
def allowed(own):
    with allow_imports(["own_module"]):
        yield


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X[::2], np.array(["one", "three", "two"])[y[::2]], X[1::2]


# ---- permission


def test_nothing_is_imported_without_permission(own, tmp_path):
    (tmp_path / "own_module.py").write_text("open('imported', 'w').close()")
    values = {"datasets": ["wine-sklearn"], "protocol": "holdout"}
    with pytest.raises(ConfigError) as caught:
        make_config(
            {
                **values,
                "methods": [
                    "own_module.Nearest",
                    {"name": "sklearn.ensemble.BaggingClassifier", "estimator": "own_module.Nearest"},
                    {"name": SKLEARN_PIPELINE, "steps": [["one", "own_module.Nearest"]]},
                ],
                "steps": ["own_module.Doubled"],
                "allow-import": ["own_module"],
            }
        )
    text = str(caught.value)
    assert text.count("method 'own_module.Nearest' needs the import of own_module") == 1
    assert "step 'own_module.Doubled' needs the import of own_module, and only scikit-learn is" in text
    assert 'add --allow-import own_module (in Python: allow_import=["own_module"])' in text
    assert "estimator: expected an object implementing" in text and "--allow-import own_module allows" in text
    assert "unknown key 'allow-import'" in text
    assert not (tmp_path / "imported").exists() and "own_module" not in sys.modules


def test_a_permission_is_for_its_package_and_its_block(allowed):
    assert registry.build("own_module.Nearest").get_params()["sharpness"] == 1
    with pytest.raises(ConfigError, match="needs the import of antigravity"):
        registry.check("antigravity.geohash")
    with pytest.raises(ConfigError, match="needs the import of own_module_2"):
        registry.check("own_module_2.Nearest")
    with allow_imports("fractions"):
        assert import_permission().packages == ("own_module", "fractions")
    assert import_permission().packages == ("own_module",)
    assert "antigravity" not in sys.modules


@pytest.mark.parametrize(
    "name, message",
    [
        ("own_module.Nearst", "the module own_module has no 'Nearst'; did you mean 'Nearest'?"),
        ("own_module.NoFit", "has no fit and no predict and no get_params and no set_params; scikit-learn's"),
        (
            "own_module.Untagged",
            "not a classifier; an own class needs sklearn.base.ClassifierMixin",
        ),
        ("own_module.Refuses", "own_module.Refuses with these parameters raises RuntimeError: no licence"),
        ("own_module.Changes", "cannot be copied with its parameters"),
        ("raises.Nearest", "importing raises raises RuntimeError: no licence; try python -c 'import raises'"),
        ("tcm.nn", "unknown method 'tcm.nn'; did you mean 'tcm-nn'?"),
    ],
)
def test_names_that_are_no_classifiers(own, tmp_path, name, message):
    (tmp_path / "raises.py").write_text("raise RuntimeError('no licence')")
    with allow_imports(["own_module", "raises"]):
        for function in (registry.check, registry.build, registry.describe):
            with pytest.raises(ConfmlError) as caught:
                function(name)
                pytest.fail(f"{function} accepts {name}")
            assert message in str(caught.value)


@pytest.mark.parametrize(
    "name, params, message",
    [
        ("own_module.Nearest", {"sharpnes": 1}, "no parameter 'sharpnes'; did you mean 'sharpness'?"),
        ("own_module.model", {"svc__c": 1}, "no parameter 'svc__c'; did you mean 'svc__C'?"),
        ("own_module.model", {"svc__C": -1}, "svc__C must be a float in the range (0.0, inf], got -1"),
        (
            SKLEARN_PIPELINE,
            {},
            "Pipeline needs the parameter 'steps'; give names and classes, as steps: [",
        ),
    ],
)
def test_wrong_parameters(allowed, name, params, message):
    with pytest.raises(ConfigError) as caught:
        registry.check(name, params)
    assert message in str(caught.value)


def test_open_keywords_are_accepted(allowed, iris):
    X, y, X_test = iris
    method = registry.build("own_module.Open", {"other": 3})
    assert method.get_params() == {"other": 3, "sharpness": 1.0}
    ((_, views),) = method.evaluate_path(X, y, X_test, [{"another": 4}])
    assert len(views["vote"]) == len(X_test)


# ---- fits and predictions


@pytest.mark.parametrize("name", ["Nearest", "Probable", "Backwards", "Margins"])
@pytest.mark.parametrize("labels", [["one", "three", "two"], [-5, 0, 12]])
def test_labels_are_coded(allowed, iris, capfd, name, labels):
    """Against the class itself with the class numbers."""
    X, y, X_test = iris
    numbers = np.unique(y, return_inverse=True)[1]
    method = registry.build(f"own_module.{name}").fit(X, np.array(labels)[numbers])
    itself = sys.modules["own_module"].Nearest().fit(X, numbers)
    capfd.readouterr()
    (view,) = method.confident_predict(X_test).values()
    assert method.classes_.tolist() == labels
    assert view.labels.tolist() == [labels[code] for code in itself.predict(X_test)]
    expected = {
        "Nearest": np.eye(3)[itself.predict(X_test)],
        "Margins": np.log(itself.shares(X_test)),
    }.get(name, itself.shares(X_test))
    assert np.array_equal(view.scores, expected)
    assert view.kind == {"Nearest": "vote", "Margins": "margin"}.get(name, "probability")
    if view.kind == "probability":
        assert np.array_equal(method.predict_proba(X_test), expected)
    assert np.array_equal(method.predict(X_test), view.labels)
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("name, kind", [("OneColumn", "probability"), ("Margins", "margin")])
def test_two_classes(allowed, iris, name, kind):
    X, y, X_test = iris
    y = np.where(y == "one", "yes", "no")
    method = registry.build(f"own_module.{name}").fit(X, y)
    shares = sys.modules["own_module"].Nearest().fit(X, (y == "yes").astype(int)).shares(X_test)
    view = method.confident_predict(X_test)[kind]
    assert np.array_equal(view.labels == "yes", shares[:, 1] > shares[:, 0])
    if kind == "probability":
        assert np.array_equal(view.scores, np.column_stack([1 - shares[:, 1], shares[:, 1]]))
        assert np.array_equal(method.predict_proba(X_test), view.scores)
    else:
        difference = np.log(shares[:, 1]) - np.log(shares[:, 0])
        assert np.array_equal(view.scores, np.column_stack([-difference / 2, difference / 2]))
        assert np.allclose(method.decision_function(X_test), difference, rtol=1e-15)


@pytest.mark.parametrize(
    "name, message",
    [
        ("TooFew", r"predict_proba of TooFew has the shape \(75, 2\), expected 3 columns"),
        (
            "Fractions",
            "predict of Fractions has .* not one of the class numbers 0 to 2 that it",
        ),
    ],
)
def test_predictions_that_are_wrong(allowed, iris, name, message):
    X, y, X_test = iris
    method = registry.build(f"own_module.{name}").fit(X, y)
    with pytest.raises(ConfmlError, match=message):
        method.confident_predict(X_test)


def test_class_weights_are_by_label(allowed, iris):
    X, y, _ = iris
    method = registry.build("own_module.Nearest", {"class_weight": {"one": 2, "two": 3, "absent": 4}})
    assert method.fit(X, y).estimator_.class_weight == {0: 2, 2: 3}
    assert method.estimator.class_weight == {"one": 2, "two": 3, "absent": 4}


def test_an_estimator_of_a_module_is_copied(allowed, iris):
    X, y, X_test = iris
    method = registry.build("own_module.model", {"svc__C": 3}).fit(X, y)
    own = sys.modules["own_module"].model
    assert own.get_params()["svc__C"] == 1 and not hasattr(own[-1], "classes_")
    expected = clone(own).set_params(svc__C=3).fit(X, y)
    assert np.array_equal(method.predict(X_test), expected.predict(X_test))


def test_a_pipeline_from_names(allowed, iris):
    X, y, X_test = iris
    steps = [["scale", "sklearn.preprocessing.StandardScaler"], ["svc", "sklearn.svm.SVC"]]
    method = registry.build(SKLEARN_PIPELINE, {"steps": steps, "svc__C": 3}).fit(X, y)
    expected = make_pipeline(StandardScaler(), SVC(C=3))
    assert np.array_equal(method.predict(X_test), expected.fit(X, y).predict(X_test))
    assert method.codes_ is None  # scikit-learn's own classifiers get the labels
    steps[1][1] = "own_module.Nearest"
    assert registry.build(SKLEARN_PIPELINE, {"steps": steps}).fit(X, y).codes_ is not None


def test_conformal_of_any_estimator(own, iris, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    from own_module import Probable

    X, y, X_test = iris
    view = Conformal(Probable(), random_state=1).fit(X, y).confident_predict(X_test)["p-value"]
    assert view.classes.tolist() == ["one", "three", "two"]
    assert (cross_val_score(Conformal(Probable(), random_state=1), X, y, cv=3) > 0.8).all()


# ---- versions and descriptions


def test_the_version_is_that_of_the_source(own, tmp_path):
    with allow_imports(["own_module"]):
        first = registry.version_of("own_module.Nearest")
        assert first.startswith("1, scikit-learn ") and ", own_module sha256 " in first
        bagged = {"estimator": "own_module.Nearest"}
        assert "own_module sha256" in registry.version_of("sklearn.ensemble.BaggingClassifier", bagged)
        assert "own_module" not in registry.version_of("sklearn.ensemble.BaggingClassifier")
        assert "own_module" in registry.version_of(
            "sklearn.ensemble.BaggingClassifier", {}, [["own_module.Nearest"]]
        )
        assert package_version("numpy.ndarray") == ("numpy", np.__version__)


# ---- runs

RUN = """\
name: own
datasets: [wine-sklearn]
steps: [standardise]
methods:
  - {name: own_module.Probable, sweep: {sharpness: [1, 4]}}
  - {name: own_module.Probable, label: conformal, sharpness: 2, conformal: split}
  - {name: own_module.model, tune: {svc__C: [1, 10]}}
  - {name: own_module.FailsInFit}
protocol: {kind: holdout, repeats: 1, inner-folds: 2}
figures: []
"""


def test_a_run_in_worker_processes(own, tmp_path):
    """The command as installed, whose search path has no current folder."""
    (tmp_path / "own.yaml").write_text(RUN)
    folder = os.path.dirname(os.path.dirname(confml.__file__))
    environment = {**os.environ, "PYTHONPATH": folder}

    def run(*arguments):
        return processes.confml(*arguments, env=environment, cwd=tmp_path, path_has_folder=False)

    refused = run("run", "own.yaml", "--out", "out")
    assert refused.returncode == 2 and not (tmp_path / "out").exists()
    assert "own.yaml:5:12: method 'own_module.Probable' needs the import of own_module" in refused.stderr
    done = run("run", "own.yaml", "--out", "out", "--jobs", "2", "--allow-import", "own_module", "--json")
    assert done.returncode == 1, done.stderr
    json.loads(done.stdout)
    assert "own_module.FailsInFit r0: RuntimeError: no licence" in done.stderr
    manifest = json.loads((tmp_path / "out" / ".run/manifest.json").read_text())
    assert manifest["provenance"]["packages"]["own_module"].startswith("sha256 ")
    status = run("run", "--dry-run", "own.yaml", "--out", "out", "--allow-import", "own_module")
    assert "6 fits in out: 5 done, 1 failed, 0 left" in status.stdout
    metrics = (tmp_path / "out" / "metrics.csv").read_text()
    assert run("report", "out").returncode == 0  # the stored cells need no import
    assert (tmp_path / "out" / "metrics.csv").read_text() == metrics
    described = run("describe", "own_module.Probable", "--allow-import", "own_module", "--json")
    assert json.loads(described.stdout)["views"] == ["probability"]
    with open(tmp_path / "own_module.py", "a") as source:
        source.write("\n# changed\n")
    changed = run("run", "--dry-run", "own.yaml", "--out", "out", "--allow-import", "own_module")
    assert "6 fits in out: 1 done, 0 failed, 5 left" in changed.stdout


# ---- packages that may be installed


@pytest.mark.parametrize(
    "name, params",
    [
        ("xgboost.XGBClassifier", {"n_estimators": 5}),
        ("lightgbm.LGBMClassifier", {"n_estimators": 5}),
        ("catboost.CatBoostClassifier", {"n_estimators": 5, "allow_writing_files": False}),
    ],
)
def test_well_known_packages(name, params, iris, capfd):
    package = name.partition(".")[0]
    pytest.importorskip(package, reason=f"needs the package {package}")
    X, y, X_test = iris
    truth = np.array(["one", "three", "two"])[load_iris().target[1::2]]
    with allow_imports([package]):
        method = registry.build(name, params).fit(X, y)
        view = method.confident_predict(X_test)["probability"]
        assert np.mean(view.labels == truth) > 0.85 and capfd.readouterr().out == ""
        assert np.allclose(view.scores.sum(axis=1), 1, atol=1e-5)
        assert f", {package} " in registry.version_of(name)
        some = y != "three"
        view = Conformal(SklearnMethod(method.estimator)).fit(X[some], y[some]).confident_predict(X_test)
        assert view["p-value"].classes.tolist() == ["one", "two"]
        with pytest.raises(ConfigError, match="did you mean 'n_estimators'"):
            registry.check(name, {"n_estimator": 5})
