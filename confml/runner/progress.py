"""Progress of a run on stderr: a bar on a terminal, and regular lines in a log."""

import contextlib
import sys
import time

from confml.errors import printable
from confml.runner.pace import Pace


class Progress:
    """Base class, which prints only failures; used with ``--quiet``.

    tracebacks: whether failures are printed with their tracebacks.
    """

    tracebacks = False

    def of(self, tasks: int, cells: int) -> contextlib.AbstractContextManager:
        """Return a context in which ``tasks`` tasks for ``cells`` cells are computed."""
        return contextlib.nullcontext()

    def advance(self, tasks: int, cells: int) -> None:
        """Add numbers of finished tasks and stored cells."""

    def failed(self, message: str, traceback: str = "") -> None:
        """Print the failure of a cell."""
        text = f"failed: {message}"
        self._print(printable(f"{text}\n{traceback.rstrip()}" if self.tracebacks and traceback else text))

    def _print(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


class LogProgress(Progress):
    """Print a line every ``seconds``, more often after each tenth of the tasks, and at the end."""

    def __init__(self, seconds: float = 30.0):
        self._seconds = seconds

    @contextlib.contextmanager
    def of(self, tasks: int, cells: int):
        self._tasks, self._cells, self._done, self._stored = tasks, cells, 0, 0
        self._started = self._printed = time.monotonic()
        self._tenth, self._pace = 0, Pace()
        noun = "task" if tasks == 1 else "tasks"
        print(
            f"{cells} {'cell' if cells == 1 else 'cells'} to compute in {tasks} {noun}",
            file=sys.stderr,
            flush=True,
        )
        yield

    def advance(self, tasks: int, cells: int) -> None:
        self._done += tasks
        self._stored += cells
        now = time.monotonic()
        spent = now - self._started
        self._pace.note(spent, self._done)
        tenth = 10 * self._done // max(self._tasks, 1)
        wait = self._seconds if tenth == self._tenth else self._seconds / 10
        if now - self._printed < wait and self._done < self._tasks:
            return
        self._tenth, self._printed = tenth, now
        each, tasks_left = self._pace.seconds_per_task(spent, self._done), self._tasks - self._done
        remaining = f", about {duration(each * tasks_left)} left" if each is not None and tasks_left else ""
        done = f"{self._done}/{self._tasks} tasks, {self._stored}/{self._cells} cells"
        print(f"{done}, {duration(spent)}{remaining}", file=sys.stderr, flush=True)


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

        self._stored, self._cells = 0, cells
        columns = (
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("tasks,"),
            TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
        )  # fmt: skip
        with RichProgress(*columns, console=Console(stderr=True), transient=True) as self._bar:
            self._task = self._bar.add_task(f"0/{cells} cells", total=tasks)
            yield

    def advance(self, tasks: int, cells: int) -> None:
        self._stored += cells
        self._bar.update(self._task, advance=tasks, description=f"{self._stored}/{self._cells} cells")

    def _print(self, text: str) -> None:
        self._bar.console.print(text, markup=False, highlight=False)


def progress_for(quiet: bool, verbose: bool = False, tracebacks: bool = False) -> Progress:
    """Return the progress for this stderr: a bar on a terminal, else lines; verbose: a line per task."""
    if quiet:
        found = Progress()
    elif verbose:
        found = LogProgress(seconds=0.0)
    else:
        found = BarProgress() if sys.stderr.isatty() else LogProgress()
    found.tracebacks = tracebacks
    return found


def duration(seconds: float) -> str:
    """Return a time as ``45 s``, ``3 min 05 s`` or ``2 h 07 min``."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return (
        f"{hours} h {minutes:02} min"
        if hours
        else f"{minutes} min {seconds:02} s"
        if minutes
        else f"{seconds} s"
    )
