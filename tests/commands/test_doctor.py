"""``confml doctor``: versions, threads, caches and data."""

import json

import numpy as np
from command_line import command

import confml
from confml import _jit


def test_it_shows_versions_caches_and_data(tmp_path, monkeypatch):
    monkeypatch.setenv("CONFML_DATA", str(tmp_path))
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    shown = command("doctor")
    document = json.loads(command("doctor", "--json").stdout)
    assert document["confml"] == confml.__version__ and document["packages"]["numpy"] == np.__version__
    assert document["threads"]["OPENBLAS_NUM_THREADS"] == "3"
    assert document["kernel cache"] == str(_jit.cache_dir())
    assert document["kernels compiled"] == len([*_jit.cache_dir().rglob("*.nbc")])
    data = document["data"]
    assert str(tmp_path) in data["folders"] and data["present"] + len(data["missing"]) == data["cards"]
    for key in document:
        assert f"\n{key}: " in "\n" + shown.stdout
    assert "OPENBLAS_NUM_THREADS 3" in shown.stdout
