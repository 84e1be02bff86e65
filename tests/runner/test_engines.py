"""Engines: every item comes back once, whatever becomes of the workers."""

import gc
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import processes
import pytest

from confml._forks import Forked
from confml._processes import Spawned
from confml.errors import ConfmlError
from confml.runner.engines import JoblibEngine, SerialEngine, WorkerLost, make_engine


class Unreadable(Exception):
    """An exception that can be pickled and not read again."""

    def __init__(self, one, two):
        super().__init__(f"{one}{two}")


def work(item):
    """Squares a number; misbehaves on request."""
    kind, value = item
    if kind == "random":
        time.sleep(0.5)  # so that every worker takes one
        return os.getpid(), random.random(), np.random.random()
    if kind == "unreadable":
        raise Unreadable(1, value)
    if kind == "unwritable":
        return lambda: value
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


def run(engine, items):
    feed = iter(items)
    return dict(engine.run(lambda: next(feed, None), work))


@pytest.fixture(scope="module", autouse=True)
def no_semaphores_left():
    """The system keeps those of an executor until it is collected, also after the process of the tests."""
    yield
    gc.collect()


linux = pytest.mark.skipif(sys.platform != "linux", reason="forks workers on Linux only")
STARTS = [pytest.param(Forked, marks=linux, id="forked"), pytest.param(Spawned, id="spawned")]


@pytest.mark.parametrize(
    "engine",
    [
        pytest.param(SerialEngine(), id="serial"),
        pytest.param(JoblibEngine(2, start=Forked), marks=linux, id="forked"),
        pytest.param(JoblibEngine(2, start=Spawned), id="spawned"),
    ],
)
def test_results_and_errors_come_back(engine):
    items = [("square", n) for n in range(6)] + [("raise", 7)]
    found = run(engine, items)
    assert [found["square", n] for n in range(6)] == [n * n for n in range(6)]
    assert isinstance(found["raise", 7], RuntimeError)


@linux
def test_the_server_as_a_new_interpreter(new_interpreters):
    assert run(JoblibEngine(2, here=True), [("square", n) for n in range(4)])["square", 3] == 9


IMPORTED = """
from asked import imported
from confml.methods.version_space.kernel_svm import KernelSVM
from confml.runner.engines import JoblibEngine
from confml.runner.run import _modules

engine, items = JoblibEngine(1), iter(["sklearn.svm", "sklearn.cluster"])
engine.start(_modules([KernelSVM]), 1)
print(*engine.run(lambda: next(items, None), imported))
"""


def test_workers_begin_with_the_modules_that_fits_import(tmp_path):
    (tmp_path / "asked.py").write_text("import sys\ndef imported(name): return name in sys.modules\n")
    command = [sys.executable, "-c", IMPORTED]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert found == "('sklearn.svm', True) ('sklearn.cluster', False)\n"


FORKS_HERE = """
import os, signal, sys, threading, time
from multiprocessing import util
from confml.runner.engines import JoblibEngine

def state(item):
    return sys.stdin.buffer.read(1), signal.getsignal(signal.SIGTERM) == signal.SIG_DFL, "mark" in sys.modules

def run(function):
    items = iter(range(-4, 0))
    engine = JoblibEngine(2, here=True)
    return [found for _, found in engine.run(lambda: next(items, None), function)]

new, begun = util.spawnv_passfds, []
util.spawnv_passfds = lambda path, args, fds: begun.append(args[-1]) or new(path, args, fds)
sys.modules["mark"] = sys
signal.signal(signal.SIGTERM, lambda number, frame: None)
assert run(state) == 4 * [(b"", True, True)]
assert ["resource_tracker" in code for code in begun] == [True]
threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
assert sorted(run(abs)) == [1, 2, 3, 4] and "_serve" in begun[1] and len(begun) == 2
"""


@linux
def test_the_server_is_forked_from_a_process_with_one_thread(tmp_path):
    """Its workers have the modules, but neither the input nor the signal handlers of the process."""
    (tmp_path / "input").write_text("not for workers")
    with (tmp_path / "input").open() as given:
        processes.assert_program(FORKS_HERE, stdin=given)


SIGNAL_FOR_ANOTHER_THREAD = """
import signal, threading, time
from confml.runner.engines import JoblibEngine

def interrupt():
    time.sleep(1.5)
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background ignores it
items = iter([60])
engine = JoblibEngine(1, here=True)
engine.start([], 1)
threading.Thread(target=interrupt, daemon=True).start()
try:
    for _ in engine.run(lambda: next(items, None), time.sleep):
        raise SystemExit("the item was not interrupted")
except KeyboardInterrupt:
    print("interrupted")
"""


@linux
def test_a_signal_for_another_thread_ends_the_wait():
    """The kernel may give it to any thread, and only the main thread handles it."""
    done = subprocess.run(
        [sys.executable, "-c", SIGNAL_FOR_ANOTHER_THREAD], capture_output=True, text=True, timeout=50
    )
    assert done.stdout == "interrupted\n", done.stderr


def test_a_killed_worker_costs_at_most_a_retry(tmp_path):
    items = [("square", n) for n in range(8)]
    items.insert(3, ("die-once", str(tmp_path / "mark")))
    found = run(JoblibEngine(2), items)
    assert found["die-once", str(tmp_path / "mark")] == str(tmp_path / "mark")
    assert all(found["square", n] == n * n for n in range(8))


def test_a_task_that_kills_its_worker_is_found_and_the_rest_is_done():
    items = [("square", n) for n in range(8)]
    items.insert(2, ("die", 0))
    items.insert(5, ("die", 1))
    found = run(JoblibEngine(2), items)
    assert isinstance(found["die", 0], WorkerLost) and isinstance(found["die", 1], WorkerLost)
    assert all(found["square", n] == n * n for n in range(8))


@pytest.mark.parametrize("start", STARTS)
def test_results_that_cannot_be_sent_are_errors_of_their_items(start):
    items = [("unreadable", 5), ("unwritable", 6), ("exit", 7), ("square", 3)]
    found = run(JoblibEngine(1, start=start), items)
    assert str(found["unreadable", 5]) == "Unreadable: 15"
    assert isinstance(found["unwritable", 6], RuntimeError) and "function" in str(found["unwritable", 6])
    assert isinstance(found["exit", 7], SystemExit) and found["exit", 7].args == (7,)
    assert found["square", 3] == 9


@linux
def test_forked_workers_draw_different_numbers():
    found = run(JoblibEngine(3), [("random", n) for n in range(3)]).values()
    assert len({one[0] for one in found}) == 3
    assert len({one[1] for one in found}) == len({one[2] for one in found}) == 3


@linux
def test_a_dead_worker_is_noticed_though_its_child_lives():
    started = time.monotonic()
    found = run(JoblibEngine(1), [("leave-child", 0), ("square", 2)])
    assert isinstance(found["leave-child", 0], WorkerLost) and found["square", 2] == 4
    assert time.monotonic() - started < 25


@linux
def test_the_server_of_workers_may_die(tmp_path):
    items = [("kill-parent", str(tmp_path / "mark")), ("square", 2), ("square", 3)]
    found = run(JoblibEngine(2), items)
    assert found["kill-parent", str(tmp_path / "mark")] == str(tmp_path / "mark")
    assert (found["square", 2], found["square", 3]) == (4, 9)


def test_items_that_become_ready_later_are_run():
    ready, found = [("square", 1)], []
    for item, result in JoblibEngine(2).run(lambda: ready.pop() if ready else None, work):
        found.append(result)
        if len(found) < 4:
            ready.append(("square", item[1] + 1))
    assert found == [1, 4, 9, 16]


def test_which_engine():
    assert isinstance(make_engine(None, 1), JoblibEngine) and isinstance(make_engine(None, 2), JoblibEngine)
    assert isinstance(make_engine("serial", 1), SerialEngine)
    with pytest.raises(ConfmlError, match="--jobs must be at least 1, got 0"):
        make_engine(None, 0)
    with pytest.raises(ConfmlError, match="needs --scheduler"):
        make_engine("dask", 2)
    with pytest.raises(ConfmlError, match="unknown engine 'dusk'; there are joblib, serial and dask"):
        make_engine("dusk", 2)
    with pytest.raises(ConfmlError, match="the engine processes is now the engine joblib"):
        make_engine("processes", 2)


def has_compiler(item):
    """Return whether numba has loaded its functions, before this process calls a kernel."""
    return "numba.np.arrayobj" in sys.modules


@linux
def test_forked_workers_have_the_compiler(new_interpreters):
    import confml.methods.tcm_nn  # noqa: F401  the modules that the server imports

    engine = JoblibEngine(1)
    engine.start(["confml.methods.tcm_nn"], 1)
    feed = iter([0])
    assert list(engine.run(lambda: next(feed, None), has_compiler)) == [(0, True)]
