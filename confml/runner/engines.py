"""Engines: call a function on items in this process, in worker processes of joblib or on a dask cluster."""

import contextlib
import logging
import multiprocessing
import os
import pickle
import platform
import queue
import signal
import sys
import time
import warnings
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from joblib.externals.loky import BrokenProcessPool, ProcessPoolExecutor

from confml import _jit
from confml.errors import ConfmlError
from confml.runner.dask_calls import call_alone
from confml.runner.environment import EnvironmentFault
from confml.runner.limits import NO_LIMITS, Limits
from confml.runner.worker import begin_worker, call, import_modules, stdout_on_stderr

FIRST_MODULES = ("confml.runner.preload", "confml.runner.engines")  # of the fork server
WINDOW = 2  # items per dask worker that are submitted at a time
_ASK_SECONDS = 1.0  # between two questions for the number of dask workers
# Longest wait for a result. A signal that another thread gets, or that comes just before the wait, does not
# end the wait: it is handled after it.
_WAIT_SECONDS = 1.0
_ATTEMPTS = 6  # to start a worker
_LOST = (BrokenProcessPool, ConnectionError, EOFError)  # the worker or the fork server was killed
_TAIL = 15_000  # bytes at the end of what a worker has written that are shown with an error


class WorkerLost(ConfmlError):
    """The worker of a task died repeatedly, the last time with no other task running."""


class LimitExceeded(ConfmlError):
    """A task exceeded its time limit and its worker ended."""


Results = Generator[tuple[Any, Any], None, None]


class Engine(ABC):
    """Runs functions on ``workers`` workers.

    name: joblib, serial or dask. window: number of items that are submitted at a time. has_limits: whether
    it can stop an item that exceeds its `Limits`. shares_processors: whether an item may use the processors
    of idle workers.
    """

    name: str
    workers = 1
    has_limits = False
    shares_processors = False

    @property
    def window(self) -> int:
        return self.workers

    def start(self, modules: Sequence[str], logs: Path, count: int = 0) -> None:  # noqa: B027  (optional)
        """Prepare to run about ``count`` items with functions of ``modules``.

        logs: folder for what workers print.
        """

    def stop(self) -> None:  # noqa: B027  (optional)
        """End all workers; not needed after `run`."""

    @abstractmethod
    def submit(self, function: Callable[[Any], Any], item: Any, limits: Limits) -> Any:
        """Call ``function(item)`` in a worker and return its future."""

    @abstractmethod
    def result(self, future: Any) -> Any:
        """Return the result of a finished future or its exception, `WorkerLost` if its worker ended."""

    def run(
        self,
        next_item: Callable[[], Any],
        function: Callable[[Any], Any],
        limits: Callable[[Any], Limits] = lambda item: NO_LIMITS,
    ) -> Results:
        """Call ``function`` on every item that ``next_item`` returns; yield (item, result or exception).

        ``next_item`` returns None if no item is ready or left; it is called again after each result. An item
        whose worker dies is run once more after all others, with no other item running: the system may have
        killed the worker because all items together needed too much memory.
        """
        # The loop has a frame of its own: Python 3.11 skips a `finally` if Ctrl-C comes at a `continue`.
        try:
            yield from self._results(next_item, function, limits)
        finally:
            self.stop()

    def _results(
        self, next_item: Callable[[], Any], function: Callable[[Any], Any], limits: Callable[[Any], Limits]
    ) -> Results:
        running: dict[Any, Any] = {}  # item of each future
        finished: queue.SimpleQueue = queue.SimpleQueue()
        lost: deque = deque()  # items whose worker died once
        alone = False

        def submit(item: Any) -> None:
            future = self.submit(function, item, limits(item))
            running[future] = item
            future.add_done_callback(finished.put)

        while True:
            while not alone and len(running) < self.window and (item := next_item()) is not None:
                submit(item)
            if not running:
                if not lost:
                    return
                alone = True
                submit(lost.popleft())
            try:
                future = finished.get(timeout=_WAIT_SECONDS)
            except queue.Empty:
                continue
            item, result = running.pop(future), self.result(future)
            if isinstance(result, WorkerLost) and not alone:
                lost.append(item)
                continue
            alone = False
            yield item, result


class SerialEngine(Engine):
    """Run items one after another in this process; a crash ends the run."""

    name = "serial"

    def submit(self, function: Callable[[Any], Any], item: Any, limits: Limits) -> Future:
        future: Future = Future()
        try:
            with stdout_on_stderr():
                future.set_result(function(item))
        except Exception as error:
            future.set_exception(error)
        return future

    def result(self, future: Future) -> Any:
        return future.exception() or future.result()


class _Worker:
    """One executor of joblib with one worker process, which runs one item at a time."""

    def __init__(self, context: Any, log: Path, modules: Sequence[str]):
        self._log, self._log_begin = log, 0
        self.limits = NO_LIMITS
        _jit.cache_dir()  # is set for the worker
        arguments = (log, dict(os.environ))
        self._executor = ProcessPoolExecutor(1, context=context, initializer=begin_worker, initargs=arguments)
        self._process = self._executor.submit(import_modules, modules)

    def submit(self, function: Callable[[Any], Any], item: Any, limits: Limits) -> Future:
        self.limits, self._log_begin = limits, self._log_size()
        return self._executor.submit(call, function, item, limits)

    def error(self) -> ConfmlError:
        """Return the error of an item whose process has ended, with what it has written as a note."""
        text = ""
        with contextlib.suppress(OSError), self._log.open("rb") as file:
            file.seek(max(self._log_begin, self._log_size() - _TAIL))
            text = file.read().decode(errors="replace")
        if self.limits.timeout is not None and "Timeout (" in text:  # written by faulthandler
            error: ConfmlError = LimitExceeded(self.limits.timeout_message)
        else:
            memory = self.limits.memory
            limit = f"; its memory limit was {memory / 10**6:g} MB" if memory else ""
            error = WorkerLost(
                "its worker process died twice, the second time with no other task running (crashed, killed, "
                f"or out of memory{limit}); use a machine with more memory, or leave this method out"
            )
        if text:
            error.add_note(f"Last output of the worker:\n{text}")
        return error

    def _log_size(self) -> int:
        try:
            return self._log.stat().st_size
        except OSError:
            return 0

    def kill(self) -> None:
        """Kill the process and its children."""
        if self._process.done() and self._process.exception() is None and hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.result(), signal.SIGKILL)

    def end(self) -> None:
        """End the process and the threads of its executor."""
        self.kill()
        self._executor.shutdown(kill_workers=True)


class JoblibEngine(Engine):
    """Run items in worker processes of joblib on this machine, one executor of one worker for each job.

    A worker that dies, hangs or exceeds its memory takes down its own executor and no other.

    forkserver: start workers from the fork server of the standard library, which imports modules once for all
    workers and also the main script, as far as that is not under ``if __name__ == "__main__"``. Otherwise
    joblib starts a new interpreter for each worker, without the main script.
    """

    name = "joblib"
    has_limits = True
    shares_processors = True

    def __init__(self, workers: int, forkserver: bool = False):
        self.workers = workers
        self._context = multiprocessing.get_context("forkserver") if forkserver else None
        self._modules: Sequence[str] = ()
        self._logs = Path(os.devnull)
        self._started = 0
        self._idle: list[_Worker] = []
        self._busy: dict[Future, _Worker] = {}

    def start(self, modules: Sequence[str], logs: Path, count: int = 0) -> None:
        """Import ``modules`` in the fork server in the background, and start up to ``count`` workers."""
        self._modules, self._logs = modules, logs
        # On systems without pgrep and psutil joblib warns that it can kill no children, which `kill` does.
        warnings.filterwarnings("ignore", message="Failed to kill subprocesses")
        # joblib replaces a worker that keeps 300 MB after an item.
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given")
        if self._context is not None:
            from multiprocessing.forkserver import ensure_running

            multiprocessing.set_forkserver_preload([*FIRST_MODULES, *modules])
            with _undisturbed():
                ensure_running()
        with contextlib.suppress(*_LOST):  # `submit` tries again
            while len(self._idle) < min(count, self.workers):
                self._idle.append(self._new_worker())

    def _new_worker(self) -> _Worker:
        self._started += 1
        name = f"{platform.node()}-{os.getpid()}-{self._started}.log"
        return _Worker(self._context, self._logs / name, self._modules)

    def submit(self, function: Callable[[Any], Any], item: Any, limits: Limits) -> Future:
        for attempt in range(_ATTEMPTS):
            worker = None
            try:
                worker = self._idle.pop() if self._idle else self._new_worker()
                future = worker.submit(function, item, limits)
                self._busy[future] = worker
                return future
            except _LOST:
                if worker is not None:
                    worker.end()
                if attempt == _ATTEMPTS - 1:
                    raise
                time.sleep(0.1 * attempt)  # a server that is being killed still takes requests
        raise AssertionError  # the last attempt returns or raises

    def result(self, future: Future) -> Any:
        worker, error = self._busy.pop(future), future.exception()
        if isinstance(error, BrokenProcessPool):
            worker.end()
            return worker.error()
        self._idle.append(worker)
        return future.result() if error is None else error

    def stop(self) -> None:
        workers = [*self._idle, *self._busy.values()]
        self._idle, self._busy = [], {}
        for worker in workers:  # at once, also if a signal interrupts the next lines
            worker.kill()
        for worker in workers:
            worker.end()


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Let a process that starts in this block ignore Ctrl-C.

    It does not import modules from the working folder. Workers get the environment as it was before.
    """
    _jit.cache_dir()  # is set for the process
    before = dict(os.environ)
    os.environ["PYTHONSAFEPATH"] = "1"
    handler = None
    with contextlib.suppress(ValueError):  # not the main thread
        handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        if handler is not None:
            signal.signal(signal.SIGINT, handler)


class DaskEngine(Engine):
    """Run items on a dask cluster, whose workers must see the run's folder under the same path.

    Uses ``client.submit``, because joblib's dask backend hangs if a worker dies. At most `WINDOW` items per
    worker are submitted at a time, and a worker process runs one at a time, which may use all threads of the
    worker. Workers may come and go. If a worker dies, the scheduler gives its item to others, three times by
    default. Raises EnvironmentFault if the scheduler is lost.
    """

    name = "dask"

    def __init__(self, scheduler: str):
        try:
            from distributed import Client
        except ImportError:
            raise ConfmlError(
                "a dask cluster needs the package distributed", hint="pip install 'confml[dask]'"
            ) from None
        where = {"scheduler_file" if Path(scheduler).is_file() else "address": scheduler}
        try:
            self._client = Client(**where, timeout=30)
        except (OSError, ValueError, TimeoutError) as error:
            raise ConfmlError(f"no dask scheduler at {scheduler!r}: {error}") from None
        # A run says itself that the connection was lost; these loggers would print a traceback as well.
        logging.getLogger("distributed.batched").setLevel(logging.WARNING)
        self._scheduler = scheduler
        self._workers, self._asked = 1, -float("inf")
        self._running: set[Any] = set()

    @property
    def workers(self) -> int:  # type: ignore[override]
        """Number of worker processes of the cluster, at least 1, asked for once in a second."""
        if time.monotonic() - self._asked > _ASK_SECONDS:
            with contextlib.suppress(Exception):  # a lost scheduler is noticed by `result`
                self._workers = max(1, len(self._client.nthreads()))
            self._asked = time.monotonic()
        return self._workers

    @property
    def window(self) -> int:
        return WINDOW * self.workers  # an adaptive cluster grows if more items wait than it has workers

    def submit(self, function: Callable[[Any], Any], item: Any, limits: Limits) -> Any:
        message = pickle.dumps((function, item), protocol=pickle.HIGHEST_PROTOCOL)
        future = self._client.submit(call_alone, message, pure=False)
        self._running.add(future)
        return future

    def result(self, future: Any) -> Any:
        self._running.discard(future)
        try:
            return future.result()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            # A result is also lost if its worker dies before the result is fetched.
            if type(error).__name__ not in ("KilledWorker", "CancelledError", "FutureCancelledError"):
                return error
        if self._client.status != "running":
            raise EnvironmentFault(
                "the connection to the dask scheduler was lost",
                where=self._scheduler,
                hint="start it again, then run the same command again: finished fits are kept",
            )
        return WorkerLost(
            "its dask workers died repeatedly, in the end with no other task running (crashed, killed, or "
            "out of memory); use workers with more memory, or leave this method out"
        )

    def stop(self) -> None:
        with contextlib.suppress(Exception):
            if self._client.status == "running":
                self._client.cancel(list(self._running))
        log = logging.getLogger("distributed.client")
        level = log.level
        log.setLevel(logging.CRITICAL)  # else the end of an attempt to reconnect prints a traceback
        self._client.close(timeout=5)
        log.setLevel(level)


def make_engine(name: str | None, jobs: int, forkserver: bool = False) -> Engine:
    """Return the engine of a run; raise ConfmlError for wrong values.

    name: joblib (default), serial, or the address or scheduler file of a dask cluster. forkserver: as in
    `JoblibEngine`; ignored where the standard library has no fork server that is safe.
    """
    if jobs < 1:
        raise ConfmlError(f"--jobs must be at least 1, got {jobs}")
    if name == "serial":
        return SerialEngine()
    if name in (None, "joblib"):
        return JoblibEngine(jobs, forkserver and sys.platform == "linux")
    if ":" in name or Path(name).is_file():
        return DaskEngine(name)
    raise ConfmlError(f"unknown engine '{name}'", hint="write joblib, serial, or the address of a cluster")
