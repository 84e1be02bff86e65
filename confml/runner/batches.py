"""`Batches`: hands out short tasks several at a time, so that a worker is not asked for each."""

import math
from collections.abc import Sequence
from dataclasses import replace

from confml.runner.graph import Schedule
from confml.runner.tasks import Task

SECONDS = 1.0  # of a batch
MOST = 500  # tasks of a batch


class Batches:
    """Batches of the tasks of a schedule that are ready.

    A batch has as many tasks as take about `SECONDS`, by the mean time of the finished tasks of the same
    method and kind, and at most an equal share of the ready tasks for each worker. The tasks are in the order
    of the plan, so that those of one split are together. The first task of a method and kind is alone, and so
    are tasks with limits and those whose batch was lost with its worker.

    threaded: whether the workers are on one machine, so that tasks may use the processors of idle workers.
    With fewer tasks ready than workers idle, each task has an equal share of these as its number of threads.
    A task with a memory limit has one thread.
    """

    def __init__(self, schedule: Schedule, workers: int, threaded: bool = False):
        self._schedule, self._workers = schedule, workers
        self._threaded, self._used = threaded, 0
        self._seconds: dict[tuple[str, str], float] = {}  # mean of one task, later ones weigh more
        self._alone: set[str] = set()

    def next(self) -> tuple[Task, ...] | None:
        """Return the next batch, or None if no task is ready."""
        first = self._schedule.next_task()
        if first is None:
            return None
        batch, left = [first], SECONDS - self._mean(first)
        share = -(-self._schedule.ready // (2 * self._workers))
        while len(batch) < min(share, MOST) and (task := self._schedule.next_task()) is not None:
            left -= self._mean(task)
            if left < 0:
                self._schedule.put_back(task)
                break
            batch.append(task)
        number = self._threads(first)
        self._used += number
        return tuple(replace(task, threads=number) for task in batch) if number > 1 else tuple(batch)

    def ended(self, batch: Sequence[Task]) -> None:
        """Note that a batch has a result, or is lost with its worker."""
        self._used -= batch[0].threads

    def _threads(self, first: Task) -> int:
        """Return the number of threads of each task of a batch, before it runs."""
        if not self._threaded or first.context.limits.memory is not None:
            return 1
        return max(1, (self._workers - self._used) // (self._schedule.ready + 1))

    def took(self, batch: Sequence[Task], seconds: Sequence[float]) -> None:
        """Learn the time of each task of a finished batch."""
        for task, duration in zip(batch, seconds, strict=False):
            kind = _kind(task)
            self._seconds[kind] = (self._seconds.get(kind, duration) + duration) / 2

    def put_back(self, batch: Sequence[Task]) -> None:
        """Make the tasks of a lost batch ready again, each alone."""
        for task in batch:
            self._alone.add(task.identity)
            self._schedule.put_back(task)

    def _mean(self, task: Task) -> float:
        """Return the expected seconds of a task; more than a batch may take for a task that must be alone."""
        alone = bool(task.context.limits) or task.identity in self._alone
        return math.inf if alone else self._seconds.get(_kind(task), math.inf)


def _kind(task: Task) -> tuple[str, str]:
    return task.context.method, task.kind
