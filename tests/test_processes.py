"""`confml._processes`: independent calls in threads, forks and new interpreters of joblib."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import processes
import pytest
from joblib import Parallel, delayed

from confml._forks import Forked
from confml._processes import START, each

linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")


@pytest.mark.parametrize("jobs", [None, 1, 3])
@pytest.mark.parametrize("threads", [False, True])
def test_results_come_in_the_order_of_the_items(jobs, threads):
    assert list(each(math.sqrt, [4.0, 9.0, 16.0], jobs, threads=threads)) == [2.0, 3.0, 4.0]


@linux
def test_forks_call_functions_that_cannot_be_pickled():
    file = open(os.devnull)  # noqa: SIM115  cannot be pickled
    found = list(each(lambda item: (file.fileno(), item, os.getpid()), [5, 6, 7], 2))
    assert [one[:2] for one in found] == [(file.fileno(), item) for item in (5, 6, 7)]
    assert os.getpid() not in {one[2] for one in found}
    file.close()


def test_new_interpreters_get_the_calls_pickled(new_interpreters):
    assert list(each(math.sqrt, [4.0, 9.0], 2)) == [2.0, 3.0]


@pytest.mark.parametrize("threads", [False, True])
def test_the_error_of_a_call_is_raised(threads):
    with pytest.raises(ValueError, match="domain|nonnegative"):
        list(each(math.sqrt, [1.0, -1.0, 4.0], 2, threads=threads))


def test_the_backend_of_joblib():
    calls = Parallel(n_jobs=2, backend="confml-forks")
    assert calls(delayed(math.sqrt)(one) for one in (4.0, 9.0)) == [2.0, 3.0]


SCRIPT = """
import sys
{start}
import confml
config = {{"name": "script", "datasets": ["wine-sklearn"], "methods": ["naive-bayes"],
          "protocol": {{"kind": "holdout", "repeats": 2}}, "figures": []}}
for number in range({runs}):
    print(len(confml.run(config, out=f"out-{{number}}", jobs=2, engine="joblib").metrics) > 0)
from confml.runner.engines import START
print(START.__name__, sys.modules["multiprocessing"].active_children())
"""
SPAWN = "from confml import _processes; _processes.START = _processes.Spawned"


@pytest.mark.parametrize(
    ("start", "runs"), [("", 2), pytest.param(SPAWN, 1, marks=linux)], ids=["default", "spawn"]
)
def test_runs_in_a_script_without_a_main_guard(tmp_path, start, runs):
    (tmp_path / "script.py").write_text(SCRIPT.format(start=start, runs=runs))
    if start:
        done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True)
    else:
        done = processes.confml(program=tmp_path / "script.py", cwd=tmp_path)
    used = "Spawned" if start else START.__name__
    assert (done.returncode, done.stdout.split()) == (0, [*["True"] * runs, used, "[]"]), done.stderr
    assert done.stderr == ""
    first, second = (
        {path.name: path.read_bytes() for path in (tmp_path / f"out-{n}").glob("*.csv")}
        for n in (0, runs - 1)
    )
    assert {name for name in first if first[name] != second[name]} <= {"timings.csv", "leaderboard.csv"}


def test_a_server_for_linux():
    assert (START is Forked) == (sys.platform == "linux")


OTHER_SYSTEM = """
import joblib, multiprocessing.context, sys
del multiprocessing.context.ForkServerContext  # which Windows does not have
sys.platform = "win32"
from confml import _processes
print(_processes.START.__name__, "confml._forks" in sys.modules)
"""


def test_other_systems_import_nothing_that_needs_linux():
    done = subprocess.run([sys.executable, "-c", OTHER_SYSTEM], capture_output=True, text=True)
    assert done.stdout == "Spawned False\n", done.stderr
