"""Methods of a user's module, named by their dotted path: their own views, parameters, version and errors."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

import confml
from confml.errors import ConfigError
from confml.methods.registry import build, describe, method_class, version_of


def test_a_subclass_of_method_is_used_as_it_is(allowed):
    name = "own_module.PValues"
    assert method_class(name).__name__ == "PValues"
    assert str(version_of(name)).startswith("7, own_module sha256 ")
    described = describe(name)
    assert described["views"] == ["p-value"] and described["parameters"][0]["about"] == "number of neighbours"
    with pytest.raises(ConfigError, match="a whole number at least 1"):
        build(name, {"k": 0})


def run_of(methods):
    config = {"datasets": ["iris"], "methods": methods, "protocol": "holdout", "figures": []}
    run = confml.run(config, engine="serial", allow_import=["own_module"])
    assert run.failures.empty
    return run


@pytest.mark.parametrize("cls", ["PValues", "PlainPValues"])
def test_runs_and_predictions_have_the_views_of_the_class(own_module, cls):
    name = f"own_module.{cls}"
    pipeline = {"name": "sklearn.pipeline.Pipeline", "steps": [["one", name]], "label": "pipeline"}
    metrics = run_of([name, pipeline, "tcm-nn"]).metrics
    metrics = metrics.query("view == 'p-value' and metric in ['coverage', 'mean_region_size', 'error']")
    values = metrics.pivot_table("value", "method", ["metric", metrics["level"].fillna(0)])
    assert list(values.index) == sorted([name, "sklearn.pipeline.Pipeline", "tcm-nn"])
    assert values.shape[1] == 5 and (values.nunique() == 1).all()  # two metrics at two levels, and the error
    frame = load_iris(as_frame=True).frame
    frame["target"] = np.array(["c", "a", "b"])[frame["target"]]
    answers, expected = (
        confml.predict(frame[::2], frame[1::2], label="target", method=method, allow_import=["own_module"])
        for method in (name, "tcm-nn")
    )
    assert answers[["prediction", "region@0.05"]].equals(expected[["prediction", "region@0.05"]])


def test_own_metrics_margins_paths_and_candidates(own_module):
    methods = [
        {"name": "own_module.PValues", "sweep": {"k": [1, 3]}},
        "own_module.LogPValues",
        {"name": "naive-bayes", "conformal": {"kind": "split", "best-of": ["own_module.LogPValues"]}},
    ]
    metrics = run_of(methods).metrics
    assert metrics.query("metric == 'kept_rows'")["value"].tolist() == [5.0] * 3
    margins = metrics[metrics["method"] == "own_module.LogPValues"]
    assert set(margins["view"].dropna()) - {""} == {"margin"}
