"""Engines: every item comes back once, whatever becomes of the workers."""

import gc
import os
import subprocess
import sys
import time

import processes
import pytest
from runner.items import all_ended, results_of, work

from confml.errors import ConfmlError
from confml.runner.engines import JoblibEngine, LimitExceeded, SerialEngine, WorkerLost, make_engine
from confml.runner.limits import Limits

SQUARES = [("square", n) for n in range(8)]
linux = pytest.mark.skipif(sys.platform != "linux", reason="the fork server is used on Linux only")


@pytest.fixture(scope="module", autouse=True)
def no_semaphores_left():
    """The system keeps those of an executor until it is collected, also after the process of the tests."""
    yield
    gc.collect()


@pytest.fixture
def run(tmp_path):
    def run(engine, items, limits=None):
        engine.start((), tmp_path, engine.workers)
        return results_of(engine, items, limits)

    return run


@pytest.mark.parametrize("name", ["serial", "joblib"])
def test_results_and_errors_come_back(name, run):
    results = run(make_engine(name, 2, forkserver=True), [*SQUARES, ("raise", 7)])
    assert isinstance(results.pop(("raise", 7)), RuntimeError)
    assert results == {item: item[1] ** 2 for item in SQUARES}


def test_results_that_cannot_be_sent_are_errors_of_their_items(run):
    results = run(JoblibEngine(1, False), [("unwritable", 6), ("exit", 7), ("square", 3)])
    assert isinstance(results["unwritable", 6], Exception) and "pickle" in str(results["unwritable", 6])
    assert isinstance(results["exit", 7], SystemExit) and results["exit", 7].args == (7,)
    assert results["square", 3] == 9


IMPORTED = """
import pathlib
from asked import imported
from confml.methods.version_space.kernel_svm import KernelSVM
from confml.runner.engines import JoblibEngine
from confml.runner.run import _modules

if __name__ == "__main__":
    engine, items = JoblibEngine(1, True), iter(["sklearn.svm", "sklearn.cluster"])
    engine.start(_modules([], [KernelSVM]), pathlib.Path("."), 1)
    print(*engine.run(lambda: next(items, None), imported))
"""


@linux
def test_workers_begin_with_the_modules_that_fits_import(tmp_path):
    (tmp_path / "asked.py").write_text("import sys\ndef imported(name): return name in sys.modules\n")
    (tmp_path / "study.py").write_text(IMPORTED)
    folder = tmp_path / "working"
    folder.mkdir()
    (folder / "random.py").write_text("raise SystemExit('the working folder is searched')\n")
    command = [sys.executable, "../study.py"]
    printed = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    assert printed == "('sklearn.svm', True) ('sklearn.cluster', False)\n"


SIGNAL_FOR_ANOTHER_THREAD = """
import pathlib, signal, threading, time
from confml.runner.engines import JoblibEngine

def interrupt():
    time.sleep(1.5)
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background ignores it
items = iter([60])
engine = JoblibEngine(1, True)
engine.start([], pathlib.Path("."), 1)
threading.Thread(target=interrupt, daemon=True).start()
try:
    for _ in engine.run(lambda: next(items, None), time.sleep):
        raise SystemExit("the item was not interrupted")
except KeyboardInterrupt:
    pass
"""


@linux
def test_a_signal_for_another_thread_ends_the_wait(tmp_path):
    """The kernel may give it to any thread, and only the main thread handles it."""
    processes.assert_program(SIGNAL_FOR_ANOTHER_THREAD, cwd=tmp_path)


@linux
@pytest.mark.parametrize(
    ("workers", "kinds", "lost"),
    [
        (2, ["die", "die-once"], ["die"]),
        (1, ["leave-child"], ["leave-child"]),
        (2, ["kill-parent-once"], []),  # the server of the workers
    ],
)
def test_a_worker_that_dies_costs_its_own_item_at_most(tmp_path, run, workers, kinds, lost):
    started, mark = time.monotonic(), str(tmp_path / "mark")

    def items():
        yield from [(kind, mark) for kind in kinds]
        time.sleep(1)  # workers without their server are lost too
        yield from SQUARES

    results = run(JoblibEngine(workers, True), items())
    assert [kind for kind in kinds if isinstance(results.pop((kind, mark)), WorkerLost)] == lost
    assert results == {item: item[1] ** 2 for item in SQUARES}
    assert time.monotonic() - started < 25


@linux
def test_limits_of_time_and_memory_hold_for_one_item(tmp_path, run):
    mark = tmp_path / "runs"
    items = [("hang", str(mark)), ("die", 0), ("square", 3), ("allocate", 400), ("allocate", 100)]
    results = run(JoblibEngine(2, True), items, Limits(timeout=2.5, memory=300 * 10**6))
    assert isinstance(results["die", 0], WorkerLost)  # a crash is no timeout
    assert isinstance(results["hang", str(mark)], LimitExceeded) and results["square", 3] == 9
    assert "in work" in results["hang", str(mark)].__notes__[0] and mark.read_text() == "once\n"
    assert isinstance(results["allocate", 400], MemoryError) and results["allocate", 100] == 100 * 10**6


@linux
def test_workers_draw_different_numbers(run):
    results = run(JoblibEngine(3, True), [("random", n) for n in range(3)]).values()
    assert all(len(set(numbers)) == 3 for numbers in zip(*results, strict=True))


@linux
def test_workers_have_the_environment_of_the_call_and_write_to_their_log(tmp_path, monkeypatch, run, capfd):
    monkeypatch.setenv("OF_THE_CALL", "1")
    before = dict(os.environ)
    results = run(JoblibEngine(1, True), [("environment", 0)])
    assert results["environment", 0] == before == dict(os.environ)
    (log,) = tmp_path.glob("*.log")
    assert log.read_text() == "printed\n" and capfd.readouterr() == ("", "")


def test_items_that_become_ready_later_are_run():
    ready, results = [("square", 1)], []
    for item, result in SerialEngine().run(lambda: ready.pop() if ready else None, work):
        results.append(result)
        if len(results) < 4:
            ready.append(("square", item[1] + 1))
    assert results == [1, 4, 9, 16]


def test_which_engine():
    assert isinstance(make_engine(None, 1), JoblibEngine) and isinstance(
        make_engine("joblib", 2), JoblibEngine
    )
    assert isinstance(make_engine("serial", 1), SerialEngine)
    for name, jobs, message in ((None, 0, "at least 1, got 0"), ("dask", 2, "unknown engine 'dask'")):
        with pytest.raises(ConfmlError, match=message):
            make_engine(name, jobs)


LATE_WORKER = """
import multiprocessing, os, signal, time
from pathlib import Path
from joblib.externals.loky import ProcessPoolExecutor
from confml.runner.worker import begin_worker

def begin_late():
    os.kill(multiprocessing.parent_process().pid, signal.SIGKILL)
    while os.getppid() == multiprocessing.parent_process().pid:
        time.sleep(0.05)
    Path("worker").write_text(str(os.getpid()))
    Path("worker").rename("worker-began")
    begin_worker(Path("log"), dict(os.environ))
    time.sleep(60)

if __name__ == "__main__":
    ProcessPoolExecutor(1, initializer=begin_late).submit(os.getpid).result()
"""


@linux
def test_a_worker_whose_main_process_was_killed_while_it_started_ends(tmp_path):
    (tmp_path / "main.py").write_text(LATE_WORKER)
    subprocess.run([sys.executable, "main.py"], cwd=tmp_path, timeout=60)
    began, limit = tmp_path / "worker-began", time.monotonic() + 60
    while not began.exists() and time.monotonic() < limit:
        time.sleep(0.05)
    assert all_ended([int(began.read_text())], seconds=10)
