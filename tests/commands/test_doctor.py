"""``confml doctor``: versions, threads, caches and data."""

import json

import numpy as np
from click.testing import CliRunner

import confml
from confml import _jit
from confml.commands.doctor import doctor


def test_it_shows_versions_caches_and_data(tmp_path, monkeypatch):
    monkeypatch.setenv("CONFML_DATA", str(tmp_path))
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    shown = CliRunner().invoke(doctor)
    assert shown.exit_code == 0
    found = json.loads(CliRunner().invoke(doctor, ["--json"]).stdout)
    assert found["confml"] == confml.__version__ and found["packages"]["numpy"] == np.__version__
    assert found["threads"]["OPENBLAS_NUM_THREADS"] == "3"
    assert found["kernel cache"] == str(_jit.cache_dir())
    assert found["kernels compiled"] == len([*_jit.cache_dir().rglob("*.nbc")])
    data = found["data"]
    assert str(tmp_path) in data["looked in"] and data["found"] + len(data["not found"]) == data["cards"]
    for key in found:
        assert f"\n{key}: " in "\n" + shown.stdout
    assert "OPENBLAS_NUM_THREADS 3" in shown.stdout
