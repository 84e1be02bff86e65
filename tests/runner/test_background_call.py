"""Work of the main process while it waits for its workers."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from confml.runner.run import BackgroundCall


def test_it_is_called_once_when_every_worker_has_an_item():
    calls = []
    waiting = BackgroundCall(lambda: calls.append(threading.current_thread().name), workers=2)
    waiting.handed_out(True)
    waiting.end()
    assert not calls
    for something in (True, True, False):
        waiting.handed_out(something)
    waiting.end()
    assert calls == ["meanwhile"]


def test_it_is_called_if_there_are_fewer_items_than_workers():
    calls = []
    waiting = BackgroundCall(lambda: calls.append(1), workers=8)
    waiting.handed_out(True)
    waiting.handed_out(False)
    waiting.end()
    assert calls == [1]


@pytest.mark.parametrize("workers, calls", [(0, 0), (1, 1), (2, 1)])
def test_errors_of_the_function_are_ignored(workers, calls):
    called = []

    def fail():
        called.append(threading.current_thread().name)
        raise ZeroDivisionError

    waiting = BackgroundCall(fail, workers)
    waiting.handed_out(True)
    waiting.handed_out(False)
    waiting.end()
    assert called == calls * ["meanwhile"]


def test_without_a_function_no_thread_is_started():
    threads = threading.active_count()
    waiting = BackgroundCall(None, workers=1)
    waiting.handed_out(True)
    assert threading.active_count() == threads
    waiting.end()


def test_a_config_with_figures_is_checked_without_scipy_stats():
    code = (
        "import sys; from confml.report.figures import known_figures; known_figures(); "
        "print('scipy.stats' in sys.modules, 'matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
