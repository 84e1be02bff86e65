"""Engines: call a function on items in this process, in worker processes of joblib or on a dask cluster."""

import contextlib
import logging
import pickle
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any

from joblib.externals.loky import FIRST_COMPLETED, wait

from confml._processes import START
from confml.config.limits import NO_LIMITS, Limits
from confml.errors import ConfmlError
from confml.runner.contained import stdout_on_stderr
from confml.runner.dask_calls import call_alone, set_allowed_failures
from confml.runner.environment import EnvironmentFault
from confml.runner.slots import Slot, WorkerLost

ENGINES = ("joblib", "serial", "dask")
WINDOW = 2  # items per dask worker that are submitted at a time
_ASK_SECONDS = 1.0  # between two questions for the number of dask workers
# Longest wait for a worker. A signal that another thread gets, or that comes just before the wait, does not
# end the wait: it is handled after it.
_WAIT_SECONDS = 1.0


class LimitExceeded(ConfmlError):
    """A task exceeded its time limit and its worker was stopped."""


def no_limits(item: Any) -> Limits:
    """Return no limits."""
    return NO_LIMITS


NextItem = Callable[[], Any | None]
Results = Generator[tuple[Any, Any], None, None]


class Engine(ABC):
    """Runs functions on ``workers`` workers.

    name: the value of ``--engine``. has_limits: whether it can stop an item that exceeds its `Limits`.
    shares_processors: whether an item may use the processors of idle workers.
    """

    name: str
    workers = 1
    has_limits = False
    shares_processors = False

    def start(self, modules: Sequence[str], count: int) -> None:  # noqa: B027  (optional)
        """Prepare to run about ``count`` items with functions of ``modules``."""

    def stop(self) -> None:  # noqa: B027  (optional)
        """Undo `start`; not needed after `run`."""

    @abstractmethod
    def run(
        self, next_item: NextItem, function: Callable[[Any], Any], limits: Callable[[Any], Limits] = no_limits
    ) -> Results:
        """Call ``function`` on every item that ``next_item`` returns; yield (item, result or exception).

        ``next_item`` returns None if no item is ready or left; it is called again after each result.
        """


class SerialEngine(Engine):
    """Run items one after another in this process; a crash ends the run."""

    name = "serial"

    def run(
        self, next_item: NextItem, function: Callable[[Any], Any], limits: Callable[[Any], Limits] = no_limits
    ) -> Results:
        while (item := next_item()) is not None:
            try:
                with stdout_on_stderr():
                    result = function(item)
            except Exception as error:
                result = error
            yield item, result


class JoblibEngine(Engine):
    """Run items in worker processes of joblib on this machine, one executor of one worker for each job.

    If a process dies, its item is run once more after all others, with no other item running: the system may
    have killed the process because all items together needed too much memory. here: whether the processes may
    be forks of this one. start: how they start (`confml._processes`).
    """

    name = "joblib"
    has_limits = True
    shares_processors = True

    def __init__(self, workers: int, here: bool = False, start: type[Any] = START):
        self.workers = workers
        self._here, self._start = here, start
        self._processes: Any = None
        self._slots: list[Slot] = []

    def start(self, modules: Sequence[str], count: int) -> None:
        """Start up to ``count`` workers, which import ``modules`` in the background."""
        if self._processes is None:
            self._processes = self._start(modules, self._here)
            self._processes.start()
        while len(self._slots) < min(count, self.workers):
            self._slots.append(Slot(self._processes))
            self._slots[-1].start()

    def stop(self) -> None:
        slots, self._slots = self._slots, []
        for slot in slots:
            slot.stop()
        if self._processes is not None:
            self._processes.stop()
            self._processes = None

    def run(
        self, next_item: NextItem, function: Callable[[Any], Any], limits: Callable[[Any], Limits] = no_limits
    ) -> Results:
        self.start([function.__module__], 0)
        assert self._processes is not None  # made by `start`
        self._slots += [Slot(self._processes) for _ in range(self.workers - len(self._slots))]
        idle = self._slots[::-1]
        running: list[Slot] = []
        suspects: deque = deque()  # items whose process died once
        alone = False
        try:
            while True:
                while not alone and idle and (item := next_item()) is not None:
                    running.append(idle.pop())
                    running[-1].submit(function, item, limits(item))
                if not running:
                    if not suspects:
                        return
                    alone, item, slot = True, suspects.popleft(), idle.pop()
                    slot.stop()
                    running.append(slot)
                    slot.submit(function, item, limits(item))
                for slot, result in _finished(running):
                    running.remove(slot)
                    idle.append(slot)
                    if isinstance(result, WorkerLost) and not alone:
                        suspects.append(slot.item)
                        continue
                    alone = False
                    yield slot.item, result
        finally:
            self.stop()


def _finished(running: Sequence[Slot]) -> list[tuple[Slot, Any]]:
    """Wait until a slot returns a result, dies or exceeds its time limit; return (slot, result) pairs."""
    while True:
        left = [seconds for slot in running if (seconds := slot.seconds_left) is not None]
        futures = {slot.future: slot for slot in running}
        done, _ = wait(futures, max(min([*left, _WAIT_SECONDS]), 0.01), FIRST_COMPLETED)
        finished = [(slot, slot.result()) for future, slot in futures.items() if future in done]
        for slot in running:
            if slot.future not in done and (slot.seconds_left or 1.0) <= 0:
                slot.stop()
                finished.append((slot, LimitExceeded(slot.limits.timeout_message)))
        if finished:
            return finished


class DaskEngine(Engine):
    """Run items on a dask cluster, whose workers must see the run's folder under the same path.

    Uses ``client.submit`` and ``as_completed``, because joblib's dask backend hangs if a worker dies. At most
    `WINDOW` items per worker are submitted at a time, and a worker process runs one at a time, which may use
    all threads of the worker. Workers may come and go. If a worker dies, its items are submitted once more
    with the others; if that worker dies too, twice with no other item running. Raises EnvironmentFault if
    the scheduler is lost.
    """

    name = "dask"

    def __init__(self, scheduler: str):
        try:
            from distributed import Client
        except ImportError:
            raise ConfmlError(
                "--scheduler needs the package distributed", hint="pip install 'confml[dask]'"
            ) from None
        where = {"scheduler_file" if Path(scheduler).is_file() else "address": scheduler}
        try:
            self._client = Client(**where, timeout=30)
        except (OSError, ValueError, TimeoutError) as error:
            raise ConfmlError(f"no dask scheduler at {scheduler!r}: {error}") from None
        # A run says itself that the connection was lost; this logger would print a traceback as well.
        logging.getLogger("distributed.batched").setLevel(logging.WARNING)
        self._scheduler = scheduler
        self._workers, self._asked = 1, -float("inf")
        with contextlib.suppress(Exception):  # a gateway may forbid it: the scheduler then tries three times
            self._client.run_on_scheduler(set_allowed_failures, 0)

    @property
    def workers(self) -> int:  # type: ignore[override]
        """Number of worker processes of the cluster, at least 1, asked for once in a second."""
        if time.monotonic() - self._asked > _ASK_SECONDS:
            with contextlib.suppress(Exception):  # a lost scheduler is noticed by `run`
                self._workers = max(1, len(self._client.nthreads()))
            self._asked = time.monotonic()
        return self._workers

    def run(
        self, next_item: NextItem, function: Callable[[Any], Any], limits: Callable[[Any], Limits] = no_limits
    ) -> Results:
        from distributed import as_completed

        running: dict = {}  # future: (item, number of this try)
        suspects: deque = deque()  # items whose workers died twice
        alone = False
        finished = as_completed()

        def submit(item, number):
            message = pickle.dumps((function, item), protocol=pickle.HIGHEST_PROTOCOL)
            future = self._client.submit(call_alone, message, pure=False)
            running[future] = item, number
            finished.add(future)

        try:
            while True:
                # An adaptive cluster grows if more items wait than it has workers.
                window = WINDOW * self.workers
                while not alone and len(running) < window and (item := next_item()) is not None:
                    submit(item, 1)
                if not running:
                    if not suspects:
                        return
                    alone = True
                    submit(suspects.popleft(), 3)
                future = next(finished)
                item, number = running.pop(future)
                try:
                    result = future.result()
                except KeyboardInterrupt:
                    raise
                except BaseException as error:
                    result = error
                # A result is also lost if its worker dies before the result is fetched.
                if type(result).__name__ in ("KilledWorker", "CancelledError", "FutureCancelledError"):
                    if self._client.status != "running":
                        raise EnvironmentFault(
                            "the connection to the dask scheduler was lost",
                            where=self._scheduler,
                            hint="start it again, then run the same command again: finished cells are kept",
                        )
                    if number == 2:
                        suspects.append(item)
                        continue
                    if number < 4:  # the worker may have been dying when it got the item
                        submit(item, number + 1)
                        continue
                    result = WorkerLost(
                        "its dask worker died four times, twice with no other task running "
                        "(crashed, killed, or out of memory); use workers with more memory, or leave this "
                        "method out"
                    )
                alone = False
                yield item, result
        finally:
            for future in running:
                finished.futures.pop(future, None)
            with contextlib.suppress(Exception):
                if self._client.status == "running":
                    self._client.cancel(list(running))
            log = logging.getLogger("distributed.client")
            level = log.level
            log.setLevel(logging.CRITICAL)  # else the end of an attempt to reconnect prints a traceback
            self._client.close(timeout=5)
            log.setLevel(level)


def make_engine(name: str | None, jobs: int, scheduler: str | None = None, forks: bool = False) -> Engine:
    """Return the engine of a run: worker processes of joblib by default, dask with a scheduler.

    Raises ConfmlError for wrong values. scheduler: the address, or the scheduler file, of a dask cluster.
    forks: whether worker processes may be forks of this process.
    """
    if jobs < 1:
        raise ConfmlError(f"--jobs must be at least 1, got {jobs}")
    name = name or ("dask" if scheduler else "joblib")
    if name == "processes":
        raise ConfmlError("the engine processes is now the engine joblib", hint="use --engine joblib")
    if name not in ENGINES:
        raise ConfmlError(f"unknown engine '{name}'", hint="there are joblib, serial and dask")
    if (name == "dask") != (scheduler is not None):
        raise ConfmlError("engine dask needs --scheduler, and --scheduler needs engine dask")
    if name == "serial":
        return SerialEngine()
    return JoblibEngine(jobs, forks) if scheduler is None else DaskEngine(scheduler)
