"""Methods of a user's module, named by their dotted path: their own views, parameters, version and errors."""

import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris

import confml
from confml.errors import ConfigError, ConfmlError
from confml.methods.registry import build, describe, method_class, version_of
from confml.plugins.imports import allow_imports

OWN = '''
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from confml import TCMNN, Prediction
from confml.methods.base import Method
from confml.plugins.parameters import Integer


class Nearest(Method):
    """Return the p-values of TCM-NN, of a path and with a metric."""

    name = "nearest"
    version = 7
    views = ("p-value",)
    parameters = {"k": Integer("number of neighbours", low=1)}

    def __init__(self, k=1):
        self.k = k

    def prepare(self, X, y, grid=()):
        return {"rows": np.array([len(X)])}

    def evaluate_path(self, X, y, X_test, grid, rng=None, state=None):
        assert state is None or state["rows"][0] == len(X)
        yield from super().evaluate_path(X, y, X_test, grid, rng, state)

    def fit(self, X, y):
        X, codes = self.check_fit_data(X, y)
        self.model_ = TCMNN(k=self.k).fit(X, self.classes_[codes])
        return self

    @property
    def fit_metrics_(self):
        return {"kept_rows": 5.0}

    def confident_predict(self, X, rng=None):
        return {"p-value": Prediction(self.classes_, self.model_.predict_p_values(X), "p-value")}


class Plain(ClassifierMixin, BaseEstimator):
    """The same, without a base class of confml."""

    views = ("p-value",)

    def fit(self, X, y):
        self.model_ = TCMNN().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def confident_predict(self, X, rng=None):
        return {"p-value": Prediction(self.classes_, self.model_.predict_p_values(X), "p-value")}


class Margins(Nearest):
    """Return logarithms of p-values, as margins."""

    name = "margins"
    views = ("margin",)

    def confident_predict(self, X, rng=None):
        return {"margin": Prediction(self.classes_, np.log(self.model_.predict_p_values(X)), "margin")}


class Wrong(Plain):
    """Return something else than predictions."""

    def confident_predict(self, X, rng=None):
        return {"p-value": np.zeros((len(X), 3))}
'''


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Name of a module in the current folder, whose import is allowed."""
    (tmp_path / "own_methods_of_a_test.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    with allow_imports("own_methods_of_a_test"):
        yield "own_methods_of_a_test"
    sys.modules.pop("own_methods_of_a_test", None)


def test_a_subclass_of_method_is_used_as_it_is(own):
    name = f"{own}.Nearest"
    assert method_class(name).__name__ == "Nearest"
    assert str(version_of(name)).startswith(f"7, {own} sha256 ")
    described = describe(name)
    assert described["views"] == ["p-value"] and described["parameters"][0]["about"] == "number of neighbours"
    with pytest.raises(ConfigError, match="a whole number at least 1"):
        build(name, {"k": 0})


def config_of(methods):
    return {"name": "own", "datasets": ["iris"], "methods": methods, "protocol": "holdout", "figures": []}


@pytest.mark.parametrize("cls", ["Nearest", "Plain"])
def test_runs_and_predictions_have_the_views_of_the_class(own, cls):
    name = f"{own}.{cls}"
    pipeline = {"name": "sklearn.pipeline.Pipeline", "steps": [["one", name]], "label": "pipeline"}
    run = confml.run(config_of([name, pipeline, "tcm-nn"]), engine="serial", allow_import=[own])
    assert run.failures.empty
    metrics = run.metrics.query("view == 'p-value' and metric in ['coverage', 'mean_region_size', 'error']")
    values = metrics.pivot_table("value", "method", ["metric", metrics["level"].fillna(0)])
    assert list(values.index) == sorted([name, "sklearn.pipeline.Pipeline", "tcm-nn"])
    assert values.shape[1] == 5 and (values.nunique() == 1).all()  # two metrics at two levels, and the error
    frame = load_iris(as_frame=True).frame
    frame["target"] = np.array(["c", "a", "b"])[frame["target"]]
    answers, expected = (
        confml.predict(frame[::2], frame[1::2], label="target", method=method, allow_import=[own])
        for method in (name, "tcm-nn")
    )
    assert answers[["prediction", "region@0.05"]].equals(expected[["prediction", "region@0.05"]])


def test_own_metrics_margins_paths_and_candidates(own):
    methods = [
        {"name": f"{own}.Nearest", "sweep": {"k": [1, 3]}},
        f"{own}.Margins",
        {"name": "naive-bayes", "conformal": {"kind": "split", "best-of": [f"{own}.Margins"]}},
    ]
    run = confml.run(config_of(methods), engine="serial", allow_import=[own])
    assert run.failures.empty
    assert run.metrics.query("metric == 'kept_rows'")["value"].tolist() == [5.0] * 3
    margins = run.metrics[run.metrics["method"] == f"{own}.Margins"]
    assert set(margins["view"].dropna()) - {""} == {"margin"}


def test_errors_of_the_class_name_it(own):
    frame = load_iris(as_frame=True).frame
    with pytest.raises(ConfmlError, match="Wrong.*expected a Prediction"):
        confml.predict(frame[::2], frame[1::2], label="target", method=f"{own}.Wrong", allow_import=[own])
