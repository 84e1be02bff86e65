"""Compilation of kernels before a run, in this process and in several."""

from __future__ import annotations

import warnings

import pytest

from confml import _jit
from confml.methods.registry import method_class
from confml.runner import kernels
from confml.runner.kernels import compile_all_kernels
from confml.steps.registry import step_class

KINDS = ("perceptron", "winnow")


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(_jit, "_folder", [tmp_path / "kernels"])
    return tmp_path / "kernels"


def test_several_processes_compile_what_one_does(empty_cache, new_interpreters):
    said: list[str] = []
    kinds = [method_class(name) for name in KINDS]
    compile_all_kernels([step_class("standardise"), *kinds], said.append, jobs=2)
    assert all(_jit.kernels_are_compiled(name) for name in KINDS)
    assert len(list(empty_cache.rglob("*.nbc"))) > len(KINDS)
    assert said[0] == "compiling kernels of perceptron, winnow, once per machine, in 2 processes"
    compile_all_kernels(kinds, said.append, jobs=2)
    assert len(said) == 2 and said[1].startswith("compiled in ")


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
        compile_all_kernels([Own, method_class("perceptron")], said.append, jobs=2)
    assert called == [Own] and _jit.kernels_are_compiled("own")
    assert said[0] == "compiling kernels of own, once per machine (up to a minute on an idle machine)"
    assert said[1].startswith("compiling kernels of perceptron, once per machine")


def test_kernels_that_failed_in_a_process_are_compiled_here(empty_cache, monkeypatch):
    def broken(function, kinds, jobs):
        assert len(kinds) == jobs == 2
        yield None
        raise RuntimeError("the process died")

    monkeypatch.setattr(kernels, "each", broken)
    said: list[str] = []
    compile_all_kernels([method_class("winnow"), method_class("perceptron")], said.append, jobs=2)
    assert _jit.kernels_are_compiled("winnow") and _jit.kernels_are_compiled("perceptron")
    assert any(one.startswith("compiling kernels of winnow, once per machine (") for one in said)
