"""`Worker`: a worker process that runs one item at a time.

A worker process ends with its parent: the kernel ends it (Linux), or a thread that watches the parent does.
Each worker has its own executor, so that the death of one process does not affect the items of the others.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

from confml import _jit
from confml.config.limits import Limits

_WATCH_SECONDS = 1.0
_PR_SET_PDEATHSIG = 1


class Worker:
    """A worker process, started at the first item and again after `stop`."""

    def __init__(self) -> None:
        self._pool: Any = None
        self._ready_at: float | None = None
        self.item: Any = None
        self.limits = Limits()

    def start(self, function: Callable[[Any], Any]) -> None:
        """Start the process, which imports the module of ``function``; return immediately."""
        if self._pool is not None:
            return
        from joblib.externals.loky import ProcessPoolExecutor

        self._ready_at = None
        begin = (os.getpid(), str(_jit.cache_dir()))
        # No idle timeout: the kernel ends a process together with the thread that started it.
        pool = ProcessPoolExecutor(max_workers=1, timeout=None, initializer=_begin, initargs=begin)
        self._pool = pool

        def is_ready(future: Future) -> None:
            if self._pool is pool and not future.cancelled() and future.exception() is None:
                self._ready_at = time.monotonic()

        pool.submit(_import, function).add_done_callback(is_ready)

    def submit(self, function: Callable[[Any], Any], item: Any, limits: Limits) -> Future:
        """Run ``function(item)`` within limits; return a future of (result, replace the worker)."""
        self.start(function)
        self.item, self.limits = item, limits
        if self._ready_at is not None:
            self._ready_at = time.monotonic()
        return self._pool.submit(_call, function, item, limits.memory)

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the time limit, not counting the start of the process; None without a limit."""
        if self.limits.timeout is None:
            return None
        if self._ready_at is None:
            return self.limits.timeout
        return self.limits.timeout - (time.monotonic() - self._ready_at)

    def stop(self) -> None:
        """Kill the process and its children."""
        pool, self._pool = self._pool, None
        if pool is not None:
            with contextlib.suppress(Exception):
                pool.shutdown(wait=True, kill_workers=True)


# ---- inside the worker process


def _begin(parent: int, kernels: str) -> None:
    """End this process with its parent, and ignore Ctrl-C, which the parent handles."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(parent)
    _jit.use_cache_dir(kernels)


def _import(function: Callable[[Any], Any]) -> None:
    """Do nothing: the module of ``function`` is imported to call this."""


def _call(function: Callable[[Any], Any], item: Any, memory: int | None) -> tuple[Any, bool]:
    """Return the result of a function within a memory limit, and whether much memory is still in use."""
    before = data_bytes()
    with memory_limit(memory):
        result = function(item)
    return result, memory is not None and data_bytes() - before > memory / 2


def end_with_parent(parent: int) -> None:
    """End this process as soon as its parent process has ended."""
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if not _is_parent(parent):
        os._exit(1)
    threading.Thread(target=_watch, args=(parent,), name="watch-parent", daemon=True).start()


def _watch(parent: int) -> None:
    while _is_parent(parent):
        time.sleep(_WATCH_SECONDS)
    os._exit(1)


def _is_parent(process: int) -> bool:
    return os.name != "posix" or os.getppid() == process


def data_bytes() -> int:
    """Return the bytes of private memory of this process, as RLIMIT_DATA counts them; 0 if unknown."""
    try:
        with open("/proc/self/status", "rb") as status:
            for line in status:
                if line.startswith(b"VmData:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


@contextlib.contextmanager
def memory_limit(memory: int | None) -> Iterator[None]:
    """Limit this process to ``memory`` additional bytes; larger allocations raise MemoryError."""
    if memory is None:
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = data_bytes() + memory
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def limits_memory() -> bool:
    """Return whether this system can limit the memory of a task."""
    return sys.platform == "linux"
