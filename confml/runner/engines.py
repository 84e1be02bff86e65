"""Engines: call a function on items in this process, in worker processes or on a dask cluster."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from pathlib import Path
from typing import Any, Protocol

from confml.config.limits import NO_LIMITS, Limits, show_bytes
from confml.errors import ConfmlError
from confml.runner.workers import Worker


class WorkerLost(ConfmlError):
    """The worker of a task died twice, the second time with no other task running."""


class LimitExceeded(ConfmlError):
    """A task exceeded its time limit and its worker was stopped."""


def no_limits(item: Any) -> Limits:
    """Return no limits."""
    return NO_LIMITS


NextItem = Callable[[], Any | None]
Results = Generator[tuple[Any, Any], None, None]


class Engine(Protocol):
    """Runs functions on ``workers`` workers.

    has_limits: whether it can stop an item that exceeds its `Limits`.
    """

    has_limits: bool

    @property
    def workers(self) -> int: ...

    def start(self, function: Callable[[Any], Any], count: int) -> None:
        """Prepare to run ``function`` on about ``count`` items."""

    def stop(self) -> None:
        """Undo `start`; not needed after `run`."""

    def run(
        self,
        next_item: NextItem,
        function: Callable[[Any], Any],
        limits: Callable[[Any], Limits] = no_limits,
    ) -> Results:
        """Call ``function`` on every item that ``next_item`` returns; yield (item, result or exception).

        ``next_item`` returns None if no item is ready or left; it is called again after each result.
        """
        ...


class SerialEngine:
    """Run items one after another in this process; a crash ends the run."""

    workers = 1
    has_limits = False

    def start(self, function: Callable[[Any], Any], count: int) -> None:
        """Do nothing: this process is ready."""

    def stop(self) -> None:
        """Do nothing: nothing was started."""

    def run(
        self, next_item: NextItem, function: Callable[[Any], Any], limits: Callable[[Any], Limits] = no_limits
    ) -> Results:
        while (item := next_item()) is not None:
            try:
                result = function(item)
            except Exception as error:
                result = error
            yield item, result


class LokyEngine:
    """Run items in worker processes on this machine, one item per process at a time.

    If a process dies, its item is run once more after all others, with no other item running: the system may
    have killed the process because all items together needed too much memory.
    """

    has_limits = True

    def __init__(self, workers: int):
        self.workers = workers
        self._idle: list[Worker] = []

    def start(self, function: Callable[[Any], Any], count: int) -> None:
        """Start up to ``count`` workers, which import the module of ``function`` in the background."""
        while len(self._idle) < min(count, self.workers):
            worker = Worker()
            worker.start(function)
            self._idle.append(worker)

    def stop(self) -> None:
        for worker in self._idle:
            worker.stop()
        self._idle = []

    def run(
        self, next_item: NextItem, function: Callable[[Any], Any], limits: Callable[[Any], Limits] = no_limits
    ) -> Results:
        idle, self._idle = self._idle, []
        idle += [Worker() for _ in range(self.workers - len(idle))]
        idle.reverse()
        workers = tuple(idle)
        running: dict[Future, Worker] = {}
        suspects: deque = deque()  # items whose process died once
        alone = False
        try:
            while True:
                while not alone and idle and (item := next_item()) is not None:
                    worker = idle.pop()
                    running[worker.submit(function, item, limits(item))] = worker
                if not running:
                    if not suspects:
                        return
                    alone, item, worker = True, suspects.popleft(), idle.pop()
                    worker.stop()
                    running[worker.submit(function, item, limits(item))] = worker
                for future, worker in _finished(running):
                    del running[future]
                    result = _result_of(future, worker)
                    idle.append(worker)
                    if isinstance(result, WorkerLost) and not alone:
                        suspects.append(worker.item)
                        continue
                    alone = False
                    yield worker.item, result
        finally:
            for worker in workers:
                worker.stop()


def _finished(running: Mapping[Future, Worker]) -> list[tuple[Future, Worker]]:
    """Wait until a future is done or its worker has exceeded its time limit."""
    while True:
        left = [seconds for worker in running.values() if (seconds := worker.seconds_left) is not None]
        done, _ = wait(running, timeout=max(min(left), 0.01) if left else None, return_when=FIRST_COMPLETED)
        late = {future for future, worker in running.items() if (worker.seconds_left or 1.0) <= 0}
        if done or late:
            return [(future, running[future]) for future in running if future in done or future in late]


def _result_of(future: Future, worker: Worker) -> Any:
    """Return the result or error of a future; stop a worker that died, is late or uses too much memory."""
    if not future.done():
        worker.stop()
        return LimitExceeded(worker.limits.timeout_message)
    error = future.exception()
    if error is None:
        result, replace = future.result()
        if replace:
            worker.stop()
        return result
    if isinstance(error, BrokenExecutor):
        worker.stop()
        hint = f"; its memory limit was {show_bytes(worker.limits.memory)}" if worker.limits.memory else ""
        return WorkerLost(
            "its worker process died twice, the second time with no other task running (crashed, killed, or "
            f"out of memory{hint}); use a machine with more memory, or leave this method out"
        )
    return error


class DaskEngine:
    """Run items on a dask cluster, whose workers must see the run's folder under the same path.

    Uses ``client.submit`` and ``as_completed``, because joblib's dask backend hangs if a worker dies. If a
    worker dies, its item is submitted once more.
    """

    has_limits = False

    def __init__(self, scheduler: str):
        try:
            import dask
            from distributed import Client
        except ImportError:
            raise ConfmlError(
                "--scheduler needs the package distributed", hint="pip install 'confml[dask]'"
            ) from None
        dask.config.set({"distributed.scheduler.allowed-failures": 0})
        try:
            if Path(scheduler).is_file():
                self._client = Client(scheduler_file=scheduler, timeout=30)
            else:
                self._client = Client(scheduler, timeout=30)
        except (OSError, ValueError, TimeoutError) as error:
            raise ConfmlError(f"no dask scheduler at {scheduler!r}: {error}") from None

    @property
    def workers(self) -> int:
        return max(1, sum(self._client.nthreads().values()))

    def start(self, function: Callable[[Any], Any], count: int) -> None:
        """Do nothing: the cluster is running."""

    def stop(self) -> None:
        """Do nothing: `run` closes the connection to the cluster."""

    def run(
        self, next_item: NextItem, function: Callable[[Any], Any], limits: Callable[[Any], Limits] = no_limits
    ) -> Results:
        from distributed import as_completed

        running: dict = {}
        tried: dict[int, int] = {}
        finished = as_completed()

        def submit(item):
            tried[id(item)] = tried.get(id(item), 0) + 1
            future = self._client.submit(function, item, pure=False)
            running[future] = item
            finished.add(future)

        try:
            while True:
                while len(running) < self.workers and (item := next_item()) is not None:
                    submit(item)
                if not running:
                    return
                future = next(finished)
                item = running.pop(future)
                try:
                    result = future.result()
                except Exception as error:
                    result = error
                # A result is also lost if its worker dies before the result is fetched.
                if type(result).__name__ in ("KilledWorker", "CancelledError", "FutureCancelledError"):
                    if tried[id(item)] < 2:
                        submit(item)
                        continue
                    result = WorkerLost("its dask worker died twice (killed, or out of memory?)")
                tried.pop(id(item))
                yield item, result
        finally:
            self._client.cancel(list(running))
            self._client.close()


def make_engine(name: str | None, jobs: int, scheduler: str | None = None) -> Engine:
    """Return the engine of a run: loky by default, dask with a scheduler; raise ConfmlError for wrong values.

    scheduler: the address, or the scheduler file, of a dask cluster.
    """
    if jobs < 1:
        raise ConfmlError(f"--jobs must be at least 1, got {jobs}")
    name = name or ("dask" if scheduler else "loky")
    if (name == "dask") != (scheduler is not None):
        raise ConfmlError("engine dask and --scheduler go together")
    if name == "serial":
        return SerialEngine()
    if name == "loky":
        return LokyEngine(jobs)
    if scheduler is not None:
        return DaskEngine(scheduler)
    raise ConfmlError(f"unknown engine '{name}'", hint="there are serial, loky and dask")
