"""``confml doctor``: versions, threads, caches and data."""

from __future__ import annotations

import json

import numpy as np
from click.testing import CliRunner

import confml
from confml import _jit
from confml.commands.doctor import doctor
from confml.methods.registry import known_methods, method_class


def test_it_shows_versions_caches_and_data(tmp_path, monkeypatch):
    monkeypatch.setenv("CONFML_DATA", str(tmp_path))
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    shown = CliRunner().invoke(doctor)
    assert shown.exit_code == 0
    found = json.loads(CliRunner().invoke(doctor, ["--json"]).stdout)
    assert found["confml"] == confml.__version__ and found["packages"]["numpy"] == np.__version__
    assert found["threads"]["OPENBLAS_NUM_THREADS"] == "3"
    assert found["kernel cache"] == str(_jit.cache_dir())
    assert {"tcm-nn", "smart-svm", "tomek-links"} <= set(found["kernels compiled"])
    assert not {"naive-bayes", "standardise"} & set(found["kernels compiled"])  # these have none
    data = found["data"]
    assert str(tmp_path) in data["looked in"] and data["found"] + len(data["not found"]) == data["cards"]
    for key in found:
        assert f"\n{key}: " in "\n" + shown.stdout
    assert "OPENBLAS_NUM_THREADS 3" in shown.stdout


def test_warm_compiles_what_is_not_compiled(tmp_path, monkeypatch):
    monkeypatch.setattr(_jit, "_folder", [tmp_path])
    for name, kind in known_methods().items():
        if name != "winnow":
            monkeypatch.setattr(kind, "compile_kernels", lambda: None)
            monkeypatch.setattr(kind, "further_kernels", lambda online, shapes: [])
    compiled = []
    monkeypatch.setattr("confml.steps.registry.known_steps", dict)
    monkeypatch.setattr(method_class("winnow"), "compile_kernels", lambda: compiled.append("winnow"))
    monkeypatch.setattr("joblib.cpu_count", lambda: 1)
    for _ in range(2):
        found = json.loads(CliRunner().invoke(doctor, ["--warm", "--json"]).stdout)
        assert compiled == ["winnow"] and found["kernels compiled"]["winnow"] is True
