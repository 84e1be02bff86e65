"""Functions of worker processes: their start, and calls within limits of time and memory."""

import contextlib
import ctypes
import faulthandler
import gc
import importlib
import multiprocessing
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from confml.runner.limits import Limits

_WATCH_SECONDS = 1.0


def begin_worker(log: Path, environment: Mapping[str, str]) -> None:
    """Prepare a process before its first call.

    log: file for what the process prints. environment: environment variables. The
    process is the leader of a process group, so that it can be killed with its children.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process handles Ctrl-C
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)
    threading.Thread(target=_end_with_parent, name="watch-parent", daemon=True).start()
    try:
        file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    except OSError:  # the disk is full, which also stops the run
        file = os.dup(2)
    for number in (1, 2):
        os.dup2(file, number)
    os.close(file)
    os.environ.clear()
    os.environ.update(environment)
    random.seed()  # differs between workers, as does that of numpy
    np.random.seed()
    gc.set_threshold(700, 10, 10)  # not that of the command: a method's garbage may hold large arrays
    gc.enable()
    gc.freeze()  # the collector does not write to pages that workers share


def _end_with_parent() -> None:
    """End this process and its children soon after the main process."""
    parent = multiprocessing.parent_process()
    assert parent is not None  # this is a worker
    if os.getppid() == parent.pid:  # a worker that joblib starts itself has no pipe for `join`
        while os.getppid() == parent.pid:
            time.sleep(_WATCH_SECONDS)
    else:
        with contextlib.suppress(ValueError):  # no pipe: joblib's main process ended before this check
            parent.join()
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def import_modules(names: Sequence[str]) -> int:
    """Import modules, without those that tasks will fail to import; return the number of this process."""
    for name in names:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    return os.getpid()


def call(function: Callable[[Any], Any], item: Any, limits: Limits) -> Any:
    """Return ``function(item)``.

    After the time limit the process writes its traceback into its log and ends, also inside compiled code.
    """
    if limits.timeout is not None:
        faulthandler.dump_traceback_later(limits.timeout, exit=True, file=2)
    try:
        with _memory_limit(limits.memory):
            return function(item)
    finally:
        faulthandler.cancel_dump_traceback_later()
        _flush()


@contextlib.contextmanager
def _memory_limit(memory: int | None) -> Iterator[None]:
    """Limit the address space of this process to ``memory`` bytes more than it has.

    Larger allocations raise MemoryError.
    """
    if memory is None:
        yield
        return
    import resource

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = pages * resource.getpagesize() + memory
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard < 0 else min(limit, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@contextlib.contextmanager
def stdout_on_stderr() -> Iterator[None]:
    """Write to stderr what this process prints to stdout inside the block, libraries in C included."""
    with contextlib.redirect_stdout(sys.stderr), contextlib.ExitStack() as end:
        with contextlib.suppress(OSError):  # there is no stdout
            before = os.dup(1)
            end.callback(os.close, before)
            end.callback(os.dup2, before, 1)
            os.dup2(2, 1)
        end.callback(_flush)
        yield


def _flush() -> None:
    """Write what Python and libraries in C have buffered for stdout."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
    with contextlib.suppress(OSError, TypeError, AttributeError):
        ctypes.CDLL(None).fflush(None)
