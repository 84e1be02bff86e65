"""Compilation of kernels before a run."""

from __future__ import annotations

import warnings

import pytest
from click.testing import CliRunner

import confml
from confml import _jit
from confml.cli import cli
from confml.methods.registry import method_class
from confml.runner import kernels, run
from confml.runner.kernels import compile_all_kernels, name_of


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(_jit, "_folder", [tmp_path / "kernels"])
    return tmp_path / "kernels"


def test_runs_and_doctor_compile_the_kernels_of_wrappers(tmp_path, monkeypatch):
    compiled: list[list[str]] = []
    monkeypatch.setattr(
        run, "compile_all_kernels", lambda kinds, *_, **__: compiled.append([*map(name_of, kinds)])
    )
    method = {"name": "naive-bayes", "venn": "inductive"}
    values = {
        "name": "small",
        "datasets": ["iris"],
        "methods": [method],
        "protocol": "holdout",
        "figures": [],
    }
    confml.run(values, out=tmp_path / "out", engine="serial")
    assert compiled == [["naive-bayes", "venn"]]
    monkeypatch.setattr(
        kernels, "compile_all_kernels", lambda kinds, *_, **__: compiled.append([*map(name_of, kinds)])
    )
    assert CliRunner().invoke(cli, ["doctor", "--warm"]).exit_code == 0
    assert {"conformal", "venn", "tcm-nn", "bayes-error"} < set(compiled[1])


def double(value):
    return 2 * value


def test_a_damaged_kernel_is_compiled_again(empty_cache, capfd):
    assert _jit.kernel(double)(3) == 6
    (stored,) = empty_cache.rglob("*.nbc")
    whole = stored.read_bytes()
    for damaged in (whole[:1000], whole[:-100] + bytes(100), b"", bytes(len(whole)), b"x" * 40):
        stored.write_bytes(damaged)
        again = _jit.kernel(double)
        assert again(3) == 6 and not again.stats.cache_hits
        assert "is damaged and is made again" in capfd.readouterr().err
        assert stored.stat().st_size == len(whole)
    kept = _jit.kernel(double)
    assert kept(3) == 6 and kept.stats.cache_hits and kept(0.5) == 1.0
    assert capfd.readouterr().err == ""


def test_kernels_that_are_stored_at_once_are_not_exchanged(empty_cache):
    """A process with an old index gives its kernel the number of another, whose code is written last."""
    first, second = (_jit.kernel(double)._cache._cache_file for _ in range(2))
    empty_cache.mkdir(exist_ok=True)
    (empty_cache / first._index_name).parent.mkdir(parents=True, exist_ok=True)
    dump = first._dump
    second._load_index = dict

    def late(data):
        if data == "of whole numbers":
            second.save("floats", "of floats")
        return dump(data)

    first._dump = late
    first.save("whole numbers", "of whole numbers")
    new = _jit.kernel(double)._cache._cache_file
    assert new.load("floats") == "of floats" and new.load("whole numbers") == "of whole numbers"


def test_classes_outside_confml_compile_here(empty_cache):
    called = []

    class Own(method_class("knn")):
        name = "own"

        @classmethod
        def compile_kernels(cls):
            called.append(cls)
            warnings.warn("three rows are not enough", stacklevel=1)

    said: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile_all_kernels([Own, method_class("perceptron")], said.append)
    assert called == [Own] and _jit.kernels_are_compiled("own")
    assert said[0] == "compiling kernels of own, once per machine (up to a minute on an idle machine)"
    assert said[1].startswith("compiling kernels of perceptron, once per machine")


@pytest.mark.parametrize(
    ("online", "shapes", "expected"),
    [
        (False, [(398, 30), (250, 2)], set()),
        (True, [(398, 30)], {"tcm-nn-online"}),
        (False, [(398, 30), (2250, 2)], {"tcm-nn-trees"}),
        (False, [(7291, 256)], set()),
        (True, [(10**6, 1), (10**5, 256)], {"tcm-nn-online", "tcm-nn-trees"}),
    ],
)
def test_kernels_that_only_some_data_need(online, shapes, expected):
    tcm_nn, knn = method_class("tcm-nn"), method_class("knn")
    kinds = kernels.kernels_for([tcm_nn, knn, tcm_nn], online, shapes)
    assert kinds[:3] == [tcm_nn, knn, tcm_nn] and {name_of(kind) for kind in kinds[3:]} == expected
    assert len(kinds) == 3 + len(expected) and all(map(kernels.has_kernels, kinds[3:]))
    assert len(kernels.kernels_for([tcm_nn])) == 1 + 2


def test_the_first_run_of_few_rows_leaves_the_kernels_of_other_data(empty_cache, monkeypatch):
    compiled = []
    monkeypatch.setattr(kernels, "_compile", lambda kind: compiled.append(name_of(kind)) or 0.0)
    values = {
        "name": "small",
        "datasets": ["iris"],
        "methods": ["tcm-nn"],
        "protocol": "holdout",
        "figures": [],
    }
    confml.run(values, out=empty_cache.parent / "out", engine="serial")
    assert compiled == ["tcm-nn"]
    config = values | {"protocol": {"kind": "online"}}
    confml.run(config, out=empty_cache.parent / "online", engine="serial")
    assert compiled == ["tcm-nn", "tcm-nn", "tcm-nn-online"]
