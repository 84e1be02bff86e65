"""Engines: every item comes back once, whatever becomes of the workers."""

import gc
import os
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from confml.errors import ConfmlError
from confml.runner.engines import JoblibEngine, LimitExceeded, SerialEngine, WorkerLost, make_engine
from confml.runner.limits import NO_LIMITS, Limits


def work(item):
    """Squares a number; misbehaves on request."""
    kind, value = item
    if kind == "random":
        time.sleep(0.5)  # so that every worker takes one
        return os.getpid(), random.random(), np.random.random()
    if kind == "hang":
        with open(value, "a") as file:
            file.write("once\n")
        time.sleep(600)
    if kind == "allocate":
        return np.ones(value * 10**6, dtype=np.uint8).nbytes
    if kind == "environment":
        print("printed")
        return dict(os.environ)
    if kind == "unwritable":
        return threading.Lock()
    if kind == "exit":
        sys.exit(value)
    if kind == "leave-child":  # a copy of this process holds its connection open
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
        os._exit(1)
    if kind == "kill-parent":
        if not os.path.exists(value):
            open(value, "w").close()
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(30)
    if kind == "raise":
        raise RuntimeError(f"no {value}")
    if kind == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "die-once" and not os.path.exists(value):
        open(value, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return value if isinstance(value, str) else value * value


@pytest.fixture
def run(tmp_path):
    """Run items on an engine; return the result of each item."""

    def results_of(engine, items, limits=NO_LIMITS, modules=()):
        feed = iter(items)
        engine.start(modules, tmp_path)
        return dict(engine.run(lambda: next(feed, None), work, lambda item: limits))

    return results_of


@pytest.fixture(scope="module", autouse=True)
def no_semaphores_left():
    """The system keeps those of an executor until it is collected, also after the process of the tests."""
    yield
    gc.collect()


linux = pytest.mark.skipif(sys.platform != "linux", reason="the fork server is used on Linux only")


def start_of(name, forkserver):
    return pytest.param(lambda: make_engine(name, 2, forkserver=forkserver), id=f"{name}-{forkserver}")


@pytest.mark.parametrize(
    "make", [start_of("serial", False), start_of("joblib", True), start_of("joblib", False)]
)
def test_results_and_errors_come_back(make, run):
    items = [("square", n) for n in range(6)] + [("raise", 7)]
    results = run(make(), items)
    assert [results["square", n] for n in range(6)] == [n * n for n in range(6)]
    assert isinstance(results["raise", 7], RuntimeError)


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
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    assert found == "('sklearn.svm', True) ('sklearn.cluster', False)\n"


SIGNAL_FOR_ANOTHER_THREAD = """
import pathlib, signal, sys, threading, time
from confml.runner.engines import JoblibEngine

def interrupt():
    time.sleep(1.5)
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background ignores it
items = iter([60])
engine = JoblibEngine(1, True)
engine.start([], pathlib.Path(sys.argv[1]), 1)
threading.Thread(target=interrupt, daemon=True).start()
try:
    for _ in engine.run(lambda: next(items, None), time.sleep):
        raise SystemExit("the item was not interrupted")
except KeyboardInterrupt:
    print("interrupted")
"""


@linux
def test_a_signal_for_another_thread_ends_the_wait(tmp_path):
    """The kernel may give it to any thread, and only the main thread handles it."""
    done = subprocess.run(
        [sys.executable, "-c", SIGNAL_FOR_ANOTHER_THREAD, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert done.stdout == "interrupted\n", done.stderr


@linux
def test_a_task_that_kills_its_worker_is_found_and_the_rest_is_done(tmp_path, run):
    """A killed worker costs at most a retry."""
    items, mark = [("square", n) for n in range(8)], str(tmp_path / "mark")
    items[2:2] = [("die", 0), ("die-once", mark), ("die", 1)]
    results = run(JoblibEngine(2, True), items)
    assert results["die-once", mark] == mark
    assert isinstance(results["die", 0], WorkerLost) and isinstance(results["die", 1], WorkerLost)
    assert all(results["square", n] == n * n for n in range(8))


@linux
def test_a_time_limit_is_final_and_shows_where_the_item_was(tmp_path, run):
    mark = str(tmp_path / "runs")
    results = run(JoblibEngine(2, True), [("hang", mark), ("die", 0), ("square", 3)], Limits(timeout=1.5))
    assert isinstance(results["die", 0], WorkerLost)  # a crash is no timeout
    assert isinstance(results["hang", mark], LimitExceeded) and results["square", 3] == 9
    assert "took longer than its limit of 1.5 s" in str(results["hang", mark])
    assert "in work" in results["hang", mark].__notes__[0]
    with open(mark) as file:
        assert file.read() == "once\n"


@linux
def test_a_memory_limit_holds_for_one_item(run):
    items = [("allocate", 400), ("allocate", 100)]
    results = run(JoblibEngine(1, True), items, Limits(memory=300 * 10**6))
    assert isinstance(results["allocate", 400], MemoryError) and results["allocate", 100] == 100 * 10**6


def test_results_that_cannot_be_sent_are_errors_of_their_items(run):
    items = [("unwritable", 6), ("exit", 7), ("square", 3)]
    results = run(JoblibEngine(1, False), items)
    assert isinstance(results["unwritable", 6], Exception) and "pickle" in str(results["unwritable", 6])
    assert isinstance(results["exit", 7], SystemExit) and results["exit", 7].args == (7,)
    assert results["square", 3] == 9


@linux
def test_workers_draw_different_numbers(run):
    results = run(JoblibEngine(3, True), [("random", n) for n in range(3)]).values()
    assert len({one[0] for one in results}) == 3
    assert len({one[1] for one in results}) == len({one[2] for one in results}) == 3


@linux
def test_a_dead_worker_is_noticed_though_its_child_lives(run):
    started = time.monotonic()
    results = run(JoblibEngine(1, True), [("leave-child", 0), ("square", 2)])
    assert isinstance(results["leave-child", 0], WorkerLost) and results["square", 2] == 4
    assert time.monotonic() - started < 25


@linux
def test_the_server_of_workers_may_die(tmp_path, run):
    items = [("kill-parent", str(tmp_path / "mark")), ("square", 2), ("square", 3)]
    results = run(JoblibEngine(2, True), items)
    assert results["kill-parent", str(tmp_path / "mark")] == str(tmp_path / "mark")
    assert (results["square", 2], results["square", 3]) == (4, 9)


@linux
def test_workers_have_the_environment_of_the_call_and_write_to_their_log(tmp_path, monkeypatch, run, capfd):
    monkeypatch.setenv("OF_THE_CALL", "1")
    before = dict(os.environ)
    results = run(JoblibEngine(1, True), [("environment", 0)])
    assert results["environment", 0] == before == dict(os.environ)
    (log,) = tmp_path.glob("*.log")
    assert log.read_text() == "printed\n" and capfd.readouterr() == ("", "")


def test_items_that_become_ready_later_are_run():
    ready, found = [("square", 1)], []
    for item, result in SerialEngine().run(lambda: ready.pop() if ready else None, work):
        found.append(result)
        if len(found) < 4:
            ready.append(("square", item[1] + 1))
    assert found == [1, 4, 9, 16]


def test_which_engine():
    assert isinstance(make_engine(None, 1), JoblibEngine) and isinstance(make_engine(None, 2), JoblibEngine)
    assert isinstance(make_engine("serial", 1), SerialEngine)
    with pytest.raises(ConfmlError, match="--jobs must be at least 1, got 0"):
        make_engine(None, 0)
    with pytest.raises(ConfmlError, match="unknown engine 'dask'; write joblib, serial, or the address"):
        make_engine("dask", 2)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no process groups")
def test_a_worker_whose_main_process_was_killed_while_it_started_ends(tmp_path):
    program = """
import multiprocessing, os, signal, sys, time
from pathlib import Path
from joblib.externals.loky import ProcessPoolExecutor
from confml.runner.worker import begin_worker

def begin_late(folder):
    os.kill(multiprocessing.parent_process().pid, signal.SIGKILL)
    while os.getppid() == multiprocessing.parent_process().pid:
        time.sleep(0.05)
    (folder / "worker").write_text(str(os.getpid()))
    begin_worker(folder / "log", dict(os.environ))
    time.sleep(60)

if __name__ == "__main__":
    ProcessPoolExecutor(1, initializer=begin_late, initargs=(Path(sys.argv[1]),)).submit(os.getpid).result()
"""
    (tmp_path / "main.py").write_text(program)
    subprocess.run([sys.executable, str(tmp_path / "main.py"), str(tmp_path)], timeout=60)
    while not (tmp_path / "worker").exists() or not (tmp_path / "worker").read_text():
        time.sleep(0.05)
    worker = int((tmp_path / "worker").read_text())
    for _ in range(100):
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    os.kill(worker, signal.SIGKILL)
    raise AssertionError("the worker is still there after 10 s")
