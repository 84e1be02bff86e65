"""Engines: where tasks run. They know neither tasks nor learning, only functions and their arguments."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from pathlib import Path
from typing import Any, Protocol

from confml.errors import ConfmlError


class WorkerLost(Exception):
    """The worker that executed a task died twice, the second time while it ran that task alone."""


class Engine(Protocol):
    """Runs functions on ``workers`` workers."""

    workers: int

    def run(
        self, feed: Callable[[], Any | None], function: Callable[[Any], Any]
    ) -> Iterator[tuple[Any, Any]]:
        """Call ``function`` on every item that ``feed`` gives: yields (item, result or exception).

        ``feed`` returns None while nothing is ready (or left); it is asked again after each result.
        """


class SerialEngine:
    """Everything in this process, one after another."""

    workers = 1

    def run(self, feed, function):
        while (item := feed()) is not None:
            try:
                result = function(item)
            except Exception as error:
                result = error
            yield item, result


class LokyEngine:
    """Processes on this machine, at most as many tasks in flight as there are workers.

    When a worker dies, the pool breaks and takes every task in flight with it. Those are run again, each
    alone in a fresh pool, so that the one which kills its worker is found and the others lose nothing.
    """

    def __init__(self, workers: int):
        self.workers = workers

    def run(self, feed, function):
        running: dict[Future, Any] = {}
        suspects: deque = deque()
        pool = self._pool()
        try:
            while True:
                while not suspects and len(running) < self.workers and (item := feed()) is not None:
                    try:
                        running[pool.submit(function, item)] = item
                    except BrokenExecutor:  # it broke since the last result came in
                        suspects.append(item)
                if not suspects:
                    if not running:
                        return
                    finished, _ = wait(running, return_when=FIRST_COMPLETED)
                    if any(isinstance(future.exception(), BrokenExecutor) for future in finished):
                        finished = list(running)  # the others in flight fail at the same moment
                    for future in finished:
                        item, error = running.pop(future), future.exception()
                        if isinstance(error, BrokenExecutor):
                            suspects.append(item)
                        else:
                            yield item, error if error is not None else future.result()
                    continue
                for future, item in running.items():
                    error = future.exception()
                    if isinstance(error, BrokenExecutor):
                        suspects.append(item)
                    else:
                        yield item, error if error is not None else future.result()
                running.clear()
                while suspects:
                    item = suspects.popleft()
                    pool = self._pool(fresh=True)
                    yield item, self._alone(pool, function, item)
        except BaseException:
            for future in running:
                future.cancel()
            with contextlib.suppress(Exception):
                pool.shutdown(wait=False, kill_workers=True)
            raise

    def _alone(self, pool, function, item):
        """The result, or the error, of a task that runs in a fresh pool with no other beside it."""
        future = pool.submit(function, item)
        error = future.exception()
        if isinstance(error, BrokenExecutor):
            return WorkerLost(
                "its worker process died twice (killed, or out of memory?); "
                "try fewer jobs (--jobs 1), or a machine with more memory"
            )
        return error if error is not None else future.result()

    def _pool(self, fresh: bool = False):
        from joblib.externals.loky import get_reusable_executor

        return get_reusable_executor(
            max_workers=self.workers,
            timeout=300,
            kill_workers=fresh,
            reuse=False if fresh else "auto",
            initializer=_ignore_interrupts,
        )


class DaskEngine:
    """Workers of a dask cluster, which must see the run's folder under the same path as this process.

    ``client.submit`` and ``as_completed`` rather than joblib's dask backend, which hangs when a worker dies.
    A task whose worker dies is tried once more elsewhere.
    """

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

    def run(self, feed, function):
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
                while len(running) < self.workers and (item := feed()) is not None:
                    submit(item)
                if not running:
                    return
                future = next(finished)
                item = running.pop(future)
                try:
                    result = future.result()
                except Exception as error:
                    result = error
                # A result is lost, too, where its worker dies before it was fetched.
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
    """The engine of a run: by default serial for one job and loky for more; ConfmlError for bad values.

    scheduler: the address, or the scheduler file, of a dask cluster.
    """
    if jobs < 1:
        raise ConfmlError(f"--jobs must be at least 1, got {jobs}")
    name = name or ("dask" if scheduler else "serial" if jobs == 1 else "loky")
    if (name == "dask") != (scheduler is not None):
        raise ConfmlError("engine dask and --scheduler go together")
    if name == "serial":
        return SerialEngine()
    if name == "loky":
        return LokyEngine(jobs)
    if name == "dask":
        return DaskEngine(scheduler)
    raise ConfmlError(f"unknown engine '{name}'", hint="there are serial, loky and dask")


def _ignore_interrupts() -> None:
    """Ctrl-C reaches the whole process group; only the parent acts on it."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
