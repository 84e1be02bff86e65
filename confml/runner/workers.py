"""`Worker`: one worker process that runs one item at a time, and how such a process begins and ends.

A worker process never outlives its parent: the kernel ends it (Linux), or a thread that watches the parent.
It has an executor of its own, so that a process that dies takes no other item with it.
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
    """A worker process, which is started when it is first needed and again after it was stopped."""

    def __init__(self) -> None:
        self._pool: Any = None
        self._ready_at: float | None = None
        self.item: Any = None
        self.limits = Limits()

    def start(self, function: Callable[[Any], Any]) -> None:
        """Start the process and have it import the module of ``function``; return at once."""
        if self._pool is not None:
            return
        from joblib.externals.loky import ProcessPoolExecutor

        self._ready_at = None
        begin = (os.getpid(), str(_jit.cache_dir()))
        # No idle timeout: the kernel binds a process to the thread that started it, and this one stays.
        pool = ProcessPoolExecutor(max_workers=1, timeout=None, initializer=_begin, initargs=begin)
        self._pool = pool

        def is_ready(future: Future) -> None:
            if self._pool is pool and not future.cancelled() and future.exception() is None:
                self._ready_at = time.monotonic()

        pool.submit(_import, function).add_done_callback(is_ready)

    def submit(self, function: Callable[[Any], Any], item: Any, limits: Limits) -> Future:
        """Run ``function(item)`` within limits: a future of (result, whether to replace the worker)."""
        self.start(function)
        self.item, self.limits = item, limits
        if self._ready_at is not None:
            self._ready_at = time.monotonic()
        return self._pool.submit(_call, function, item, limits.memory)

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the item's time limit, None without one; the start of the process does not count."""
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
    """Bind this process to its parent, and let only the parent act on Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(parent)
    _jit.use_cache_dir(kernels)


def _import(function: Callable[[Any], Any]) -> None:
    """Do nothing: the module of ``function`` is imported to call this."""


def _call(function: Callable[[Any], Any], item: Any, memory: int | None) -> tuple[Any, bool]:
    """The result of a function within a memory limit, and whether the worker holds on to much of it."""
    before = data_bytes()
    with memory_limit(memory):
        result = function(item)
    return result, memory is not None and data_bytes() - before > memory / 2


def end_with_parent(parent: int) -> None:
    """End this process as soon as the process ``parent``, which started it, has ended."""
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
    """Bytes of private memory of this process, which RLIMIT_DATA counts; 0 where they are not known."""
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
    """Let this process take at most ``memory`` bytes more; an allocation beyond raises MemoryError."""
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
    """Whether this system can limit the memory of a task."""
    return sys.platform == "linux"
