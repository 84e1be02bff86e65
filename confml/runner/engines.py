"""Engines: where tasks run. They know neither tasks nor learning, only functions and their arguments."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
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
                    running[pool.submit(function, item)] = item
                if suspects:
                    item = suspects.popleft()
                    result, pool = self._alone(pool, function, item)
                    yield item, result
                    continue
                if not running:
                    return
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    item = running.pop(future)
                    error = future.exception()
                    if isinstance(error, BrokenExecutor):
                        # Those in flight with it are lost too; the executor fails them at the same moment.
                        suspects.append(item)
                    else:
                        yield item, error if error is not None else future.result()
                if suspects:
                    for future, item in list(running.items()):
                        error = future.exception()
                        if error is None:
                            yield item, future.result()
                        else:
                            suspects.append(item)
                    running.clear()
                    pool = self._pool(fresh=True)
        except BaseException:
            for future in running:
                future.cancel()
            with contextlib.suppress(Exception):
                pool.shutdown(wait=False, kill_workers=True)
            raise

    def _alone(self, pool, function, item):
        """The result of a task that runs with no other beside it, and the pool to go on with."""
        future = pool.submit(function, item)
        error = future.exception()
        if isinstance(error, BrokenExecutor):
            lost = WorkerLost(
                "its worker process died twice (killed, or out of memory?); "
                "try fewer jobs (--jobs 1), or a machine with more memory"
            )
            return lost, self._pool(fresh=True)
        return (error if error is not None else future.result()), pool

    def _pool(self, fresh: bool = False):
        from joblib.externals.loky import get_reusable_executor

        return get_reusable_executor(
            max_workers=self.workers,
            timeout=300,
            kill_workers=fresh,
            reuse=False if fresh else "auto",
            initializer=_ignore_interrupts,
        )


def make_engine(name: str | None, jobs: int) -> Engine:
    """The engine of a run: by default serial for one job and loky for more; ConfmlError for bad values."""
    if jobs < 1:
        raise ConfmlError(f"--jobs must be at least 1, got {jobs}")
    name = name or ("serial" if jobs == 1 else "loky")
    if name == "serial":
        return SerialEngine()
    if name == "loky":
        return LokyEngine(jobs)
    raise ConfmlError(f"unknown engine '{name}'", hint="there are serial and loky")


def _ignore_interrupts() -> None:
    """Ctrl-C reaches the whole process group; only the parent acts on it."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
