"""Compilation of kernels before a run, and at once in two processes."""

from __future__ import annotations

import subprocess
import sys
import threading

import processes
import pytest

import confml
from confml import _jit
from confml.runner import warm

VALUES = {"name": "small", "datasets": ["iris"], "protocol": "holdout", "figures": []}


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kernels"))
    (tmp_path / "kernels").mkdir()
    return tmp_path / "kernels"


def double(value):
    return 2 * value


def test_a_kernel_waits_while_another_process_compiles(empty_cache):
    """numba numbers the files of a kernel without a lock: two processes at once would mix them up."""
    pytest.importorskip("fcntl")
    holder = "import fcntl, sys; file = open(sys.argv[1], 'w'); fcntl.lockf(file, fcntl.LOCK_EX)"
    holder += "; print(1, flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", holder, str(empty_cache / "lock")]
    results: list[int] = []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"1\n"
        thread = threading.Thread(target=lambda: results.append(_jit.kernel(double)(3)))
        thread.start()
        thread.join(1.0)
        assert not results
    thread.join()
    assert results == [6] and [*empty_cache.rglob("*.nbc")]
    stored = _jit.kernel(double)
    assert stored(3) == 6 and stored.stats.cache_hits


def test_methods_are_fitted_once_for_the_parameters_that_choose_kernels(empty_cache, tmp_path, monkeypatch):
    fits = []
    monkeypatch.setattr(warm, "_fit", lambda context, data, rows, point: fits.append((context.method, point)))

    def run(name, *methods, **keys):
        config = VALUES | {"methods": [*methods], "baseline": False} | keys
        confml.run(config, out=tmp_path / name, engine="serial")
        return len(fits)

    knn = {"name": "knn", "sweep": {"k": [1, 3]}}
    assert run("first", knn, "sklearn.naive_bayes.GaussianNB") == 1  # other packages run in workers only
    assert run("other-numbers", {"name": "knn", "k": 5}) == 1
    assert run("other-words", {"name": "knn", "distance": "polar"}) == 2
    assert run("steps", "knn", steps=["standardise"]) == 3
    assert run("wrapped", {"name": "knn", "conformal": "split"}) == 4
    assert run("other-steps", "knn", steps=["standardise", "sklearn.decomposition.PCA"]) == 4
    candidates = {"kind": "split", "best-of": ["sklearn.naive_bayes.GaussianNB"]}
    assert run("other-candidates", {"name": "knn", "conformal": candidates}) == 4


PROGRAM = """
import os
from pathlib import Path
import confml
from confml.runner import run

counts = []

def count_compiled(plan=None, say=None, warm=run.warm):
    if plan is not None:
        warm(plan, say)
    counts.append(len([*Path(os.environ["NUMBA_CACHE_DIR"]).rglob("*.nbc")]))

run.warm = count_compiled
methods = [{"name": "naive-bayes", "venn": "inductive"}]
values = {"datasets": ["iris"], "protocol": "holdout", "figures": [], "methods": methods}
confml.run(values, out="out", engine="serial")
count_compiled()
assert len(counts) == 2 and counts[0] == counts[1] > 0, counts
"""


def test_a_run_compiles_nothing_after_its_methods_are_warm(tmp_path, empty_cache):
    processes.assert_program(PROGRAM, cwd=tmp_path)
