"""Values that JSON does not have, in parameters and in names of folders: runs compute, report and resume."""

import json
import math
import os

import pytest
from config.cases import base
from runner.runs import command, contents, run_serial

import confml
from confml._json import from_json, to_json
from confml.runs import load_settings

CONFIG = """\
name: values
datasets: [{generate: five-gaussians, n: 60, test-n: 20}]
steps: [{name: sklearn.impute.SimpleImputer, missing_values: .nan}]
methods:
  - {name: sklearn.neighbors.KNeighborsClassifier, p: .inf, sweep: {leaf_size: [10, 30]}}
  - {name: sklearn.neighbors.RadiusNeighborsClassifier, radius: .inf, tune: {p: [1, .inf]}, outlier_label: 1}
protocol: {kind: holdout, test-size: 0.3, repeats: 1}
figures: []
"""


def strict(text):
    def refuse(name):
        raise AssertionError(f"{name} is not of JSON")

    return json.loads(text, parse_constant=refuse)


def test_the_pair_of_functions_gives_values_back():
    values = {"a": [1.5, math.inf, -math.inf], "b": {"float": "text"}, "c": "out\udcff\u00e9", "float": 2}
    for ascii in (False, True):
        text = to_json(values, ascii=ascii)
        strict(text.encode())
        assert from_json(text) == from_json(text.encode()) == values
    assert math.isnan(from_json(to_json({"x": (math.nan,)}))["x"][0])
    assert to_json({"x": math.nan}, indent=1) == '{\n "x": {\n  "float": "nan"\n }\n}'


def test_overrides_from_python_may_be_such_values():
    config = base(methods=[{"name": "sklearn.neighbors.KNeighborsClassifier", "p": 2}])
    overrides = {"methods.0.p": math.inf, "name": "true", "levels": [0.1, 0.2]}
    settings = load_settings(config, overrides)
    assert settings.methods[0].given["p"] == math.inf
    assert (settings.name, settings.levels) == ("true", (0.1, 0.2))


@pytest.mark.parametrize("name", ["plain", b"out\xff"])
def test_runs_with_such_values_write_their_report_and_resume(tmp_path, name):
    config, out = tmp_path / "c.yaml", tmp_path / os.fsdecode(name)
    config.write_text(CONFIG)
    first = run_serial(config, out)
    files = contents(out, "*")
    documents = {path.rpartition("/")[2]: strict(files[path]) for path in files if path[-5:] == ".json"}
    assert {"summary.json", "answer.json", "manifest.json"} <= documents.keys()
    again = run_serial(config, out)  # the config, the cells and the data are the same
    assert contents(out, "*") == files and again.stdout == first.stdout
    assert strict(command("status", out, "--json").stdout)["done"] == 4
    assert strict(command("report", out, "--json").stdout) == documents["summary.json"]
    run = confml.load_run(out)
    assert run.manifest["cells"][0]["params"]["p"] == math.inf
    assert math.isnan(run.manifest["config"]["steps"][0]["missing_values"])
    assert set(run.tuning["params"]) == {"radius=inf;outlier_label=1"}
