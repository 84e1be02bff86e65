"""Progress of a run on stderr: a bar on a terminal, and regular lines in a log."""

import contextlib
import math
import re
import sys
import threading
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from confml.errors import printable

LONG = 10.0
"""Seconds after which a running task is named."""
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")


class Progress:
    """Base class, which prints only failures; used with ``--quiet``.

    tracebacks: whether failures are printed with their tracebacks, each of them.
    """

    tracebacks = False

    def __init__(self) -> None:
        self._alike: dict[tuple[str, str], tuple[str, int]] = {}  # first cell and number of failures by cause
        self._running: dict[int, tuple[str, float]] = {}  # name and start by the id of a batch

    def of(self, tasks: int, cells: int) -> contextlib.AbstractContextManager:
        """Return a context in which ``tasks`` tasks for ``cells`` cells are computed."""
        return contextlib.nullcontext()

    def advance(self, tasks: int, cells: int) -> None:
        """Add numbers of finished tasks and stored cells."""

    def started(self, batch: Sequence[Any]) -> None:
        """Note tasks that are handed out together."""
        self._running[id(batch)] = (batch[0].cells[0].title, time.monotonic())

    def ended(self, batch: Sequence[Any]) -> None:
        """Note that tasks have ended."""
        self._running.pop(id(batch), None)

    @property
    def longest(self) -> str:
        """The task that runs longest, with its time; "" if none runs for `LONG` seconds."""
        oldest = min(list(self._running.values()), key=lambda entry: entry[1], default=("", math.inf))
        spent = time.monotonic() - oldest[1]
        return f"{oldest[0]} runs for {duration(spent)}" if spent >= LONG else ""

    def failed(self, cell: Any, error: str, traceback: str = "") -> None:
        """Print the failure of a cell; a method's later failures with the same error are counted."""
        key = cell.method, NUMBER.sub("", error)
        first, number = self._alike.get(key, (cell.title, 0))
        self._alike[key] = first, number + 1
        if self.tracebacks or not number:
            shown = f"\n{traceback.rstrip()}" if self.tracebacks and traceback else ""
            self._print(printable(f"failed: {cell.title}: {error}{shown}"))

    def print_counts(self) -> None:
        """Print the numbers of failures that were counted."""
        for first, number in self._alike.values() if not self.tracebacks else ():
            if number > 1:
                fits = "1 more fit" if number == 2 else f"{number - 1} more fits"
                self._print(printable(f"failed: {fits} like {first}, with the same error"))
        self._alike = {}

    def _print(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


class LogProgress(Progress):
    """Print a line every ``seconds`` and at the end, or after each task with 0 seconds."""

    def __init__(self, seconds: float = 30.0):
        super().__init__()
        self._seconds = seconds

    @contextlib.contextmanager
    def of(self, tasks: int, cells: int):
        self._tasks, self._cells, self._done, self._stored = tasks, cells, 0, 0
        self._started, ended = time.monotonic(), threading.Event()
        nouns = "fit" if cells == 1 else "fits", "task" if tasks == 1 else "tasks"
        self._print(f"{cells} {nouns[0]} to compute in {tasks} {nouns[1]}")

        def print_regularly() -> None:
            while not ended.wait(self._seconds or LONG):
                self._print_line()

        thread = threading.Thread(target=print_regularly, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
            if self._seconds:
                self._print_line()

    def advance(self, tasks: int, cells: int) -> None:
        self._done += tasks
        self._stored += cells
        if not self._seconds:
            self._print_line()

    def _print_line(self) -> None:
        spent, left = time.monotonic() - self._started, self._tasks - self._done
        parts = [f"{self._done}/{self._tasks} tasks", f"{self._stored}/{self._cells} fits", duration(spent)]
        if self._done and left:
            parts.append(f"about {duration(spent / self._done * left)} left")
        self._print(", ".join([*parts, *filter(None, [self.longest])]))


class BarProgress(Progress):
    """Draw a bar on a terminal."""

    @contextlib.contextmanager
    def of(self, tasks: int, cells: int):
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as RichProgress
        from rich.text import Text

        self._stored, self._cells, progress = 0, cells, self

        class Bars(RichProgress):
            """The bar, and below it the name of a long task."""

            def get_renderables(self):
                yield from super().get_renderables()
                if text := progress.longest:
                    yield Text(text, no_wrap=True, overflow="ellipsis")

        console = Console(stderr=True)
        bar = BarColumn(max(min(40, console.width - 52), 4))
        columns = (
            TextColumn("{task.description}"), bar, MofNCompleteColumn(), TextColumn("tasks,"),
            TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
        )  # fmt: skip
        with Bars(*columns, console=console, transient=True) as self._bar:
            self._task = self._bar.add_task(f"0/{cells} fits", total=tasks)
            yield

    def advance(self, tasks: int, cells: int) -> None:
        self._stored += cells
        self._bar.update(self._task, advance=tasks, description=f"{self._stored}/{self._cells} fits")

    def _print(self, text: str) -> None:
        self._bar.console.print(text, markup=False, highlight=False)


def progress_for(quiet: bool, verbose: bool = False, tracebacks: bool = False) -> Progress:
    """Return the progress for this stderr: a bar on a terminal, else lines; verbose: a line per task."""
    if quiet:
        progress = Progress()
    elif verbose:
        progress = LogProgress(seconds=0.0)
    else:
        progress = BarProgress() if sys.stderr.isatty() else LogProgress()
    progress.tracebacks = tracebacks
    return progress


def duration(seconds: float) -> str:
    """Return a time as ``0:03:05``."""
    return str(timedelta(seconds=round(seconds)))
