"""`Slot`: one executor of joblib with one worker process, which runs one item at a time.

A worker that dies, hangs or exceeds its memory takes down its own slot and no other.
"""

import contextlib
import functools
import os
import pickle
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

from joblib.externals.loky import BrokenProcessPool, ProcessPoolExecutor

from confml._processes import end, executor, leave_pipes_to_worker
from confml.config.limits import Limits, show_bytes
from confml.errors import ConfmlError, printable
from confml.runner.contained import is_spoiled

_ATTEMPTS = 6  # to start a worker


class WorkerLost(ConfmlError):
    """The worker of a task died repeatedly, the last time with no other task running."""


class Slot:
    """A worker process, started at the first item and again after `stop`."""

    def __init__(self, processes: Any) -> None:
        self._processes = processes
        self._executor: ProcessPoolExecutor | None = None
        self._worker: int | None = None
        self._begun: float | None = None
        self.future: Future | None = None
        self.item: Any = None
        self.limits = Limits()

    def start(self) -> None:
        """Start the process; return immediately."""
        if self._executor is None:
            self._worker = self._begun = None
            self._executor = executor(1, self._processes)
            self._executor.submit(os.getpid).add_done_callback(
                functools.partial(self._is_ready, self._executor)
            )

    def _is_ready(self, one: ProcessPoolExecutor, answer: Future) -> None:
        if answer.exception() is None and one is self._executor:
            self._worker, self._begun = answer.result(), time.monotonic()
            leave_pipes_to_worker(one)

    def submit(self, function: Callable[[Any], Any], item: Any, limits: Limits) -> None:
        """Run ``function(item)`` within limits; `result` returns what it returns or raises."""
        self.item, self.limits = item, limits
        message = pickle.dumps((function, item, limits.memory), protocol=pickle.HIGHEST_PROTOCOL)
        for attempt in range(_ATTEMPTS):
            try:
                self.start()
                assert self._executor is not None  # made by `start`
                if self._begun is not None:
                    self._begun = time.monotonic()
                self.future = self._executor.submit(_answer, message)
                return
            except (BrokenProcessPool, ConnectionError, EOFError):  # it, or the fork server, was killed
                self.stop()
                if attempt == _ATTEMPTS - 1:
                    raise
                time.sleep(0.1 * attempt)  # a server that is being killed still takes requests

    def result(self) -> Any:
        """Return the result of the item or its exception, WorkerLost if the process ended before.

        A worker that still holds much memory of a limited item, or has lower limits for good, is stopped.
        """
        assert self.future is not None  # an item was submitted
        try:
            answer = self.future.result()
        except BrokenProcessPool:
            self.stop()
            hint = f"; its memory limit was {show_bytes(self.limits.memory)}" if self.limits.memory else ""
            return WorkerLost(
                "its worker process died twice, the second time with no other task running (crashed, killed, "
                f"or out of memory{hint}); use a machine with more memory, or leave this method out"
            )
        try:
            result, replace = pickle.loads(answer)
        except Exception as error:
            return ConfmlError(f"its result cannot be read: {printable(error)}")
        if replace:
            self.stop()
        return result

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the time limit, not counting the start of the process; None without a limit."""
        if self.limits.timeout is None:
            return None
        if self._begun is None:
            return self.limits.timeout
        return self.limits.timeout - (time.monotonic() - self._begun)

    def stop(self) -> None:
        """Kill the process and its children."""
        stopped, self._executor = self._executor, None
        if stopped is not None:
            end(stopped, self._worker)


def _answer(message: bytes) -> bytes:
    """Return the pickled (result or exception, whether the worker should be replaced) of an item."""
    result, replace = None, False
    try:
        function, item, memory = pickle.loads(message)
        before = data_bytes()
        with memory_limit(memory):
            result = function(item)
        replace = is_spoiled() or (memory is not None and data_bytes() - before > memory / 2)
    except BaseException as error:
        result = error
    try:
        answer = pickle.dumps((result, replace), protocol=pickle.HIGHEST_PROTOCOL)
        if isinstance(result, BaseException):
            pickle.loads(answer)  # some exceptions can be written and not read
        return answer
    except Exception:
        told = RuntimeError(f"{type(result).__name__}: {result}")
        return pickle.dumps((told, replace), protocol=pickle.HIGHEST_PROTOCOL)


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
