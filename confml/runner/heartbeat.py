"""Progress that each running process of a run writes into its workspace, for ``confml status``."""

import contextlib
import json
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from confml.runner.documents import fits
from confml.runner.lease import is_abandoned, seconds_since_renewal
from confml.runner.progress import Pace
from confml.runner.store import write_atomically

WRITE_SECONDS = 2.0  # between two writes
_NAME = "progress.json"


@dataclass(frozen=True)
class PartProgress:
    """Progress of one process that computes a run or a part of it.

    part: as ``3/16``, None for the whole run. tasks, cells: to compute; tasks_done, cells_done: of these.
    seconds: since the first task was handed out. seconds_per_task: in the last quarter of the
    time (`Pace`), None before the first task is done.
    """

    host: str
    part: str | None
    engine: str
    workers: int
    tasks: int
    cells: int
    tasks_done: int = 0
    cells_done: int = 0
    failed: int = 0
    seconds: float = 0.0
    seconds_per_task: float | None = None

    @property
    def rate(self) -> float | None:
        """Cells per second; None before the first one."""
        return self.cells_done / self.seconds if self.cells_done and self.seconds > 0 else None

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds until this part is done; None before the first task is done."""
        if self.seconds_per_task is None:
            return None
        return self.seconds_per_task * (self.tasks - self.tasks_done)


class Heartbeat:
    """Writes the `PartProgress` of this process into the workspace of its run, at most every few seconds.

    A file that cannot be written is no reason to stop a run.
    """

    def __init__(
        self,
        folder: Path,
        part: str | None,
        engine: str,
        workers: int,
        tasks: int,
        cells: int,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._path, self._clock, self._started = folder / _NAME, clock, clock()
        self._written, self._pace = -float("inf"), Pace()
        self._progress = PartProgress(platform.node(), part, engine, workers, tasks, cells)
        self.advance(0, 0, 0, workers)

    def advance(self, tasks: int, cells: int, failed: int, workers: int) -> None:
        """Add numbers of finished tasks, stored cells and failed cells."""
        now, old = self._clock(), self._progress
        self._progress = progress = replace(
            old,
            workers=workers,
            tasks_done=old.tasks_done + tasks,
            cells_done=old.cells_done + cells,
            failed=old.failed + failed,
            seconds=now - self._started,
        )
        self._pace.note(progress.seconds, progress.tasks_done)
        if now - self._written < WRITE_SECONDS:
            return
        self._written = now
        each = self._pace.seconds_per_task(progress.seconds, progress.tasks_done)
        progress = replace(progress, seconds_per_task=each)
        with contextlib.suppress(OSError):
            write_atomically(self._path, json.dumps(asdict(progress)).encode(), durable=False)


@dataclass(frozen=True)
class RunningPart:
    """A process that is running. silent: seconds since it renewed the lease of its workspace."""

    progress: PartProgress
    silent: float


def running_parts(run_folder: Path) -> list[RunningPart]:
    """Return the running processes of a run, by part and host; damaged files are left out.

    A process that was killed on another machine counts as running until its lease is over.
    """
    found = []
    for folder in Path(run_folder).glob(".work-*"):
        progress = _read(folder / _NAME)
        if progress is not None and not is_abandoned(folder):
            found.append(RunningPart(progress, seconds_since_renewal(folder)))
    return sorted(found, key=lambda one: (_part_number(one.progress.part), one.progress.host))


def _part_number(part: str | None) -> int:
    return int(part.partition("/")[0]) if part and part.partition("/")[0].isdecimal() else 0


def _read(path: Path) -> PartProgress | None:
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    form: dict[str, Any] = {field.name: int for field in fields(PartProgress)} | {
        "host": str,
        "engine": str,
        "part": (str, None),
        "seconds": (int, float),
        "seconds_per_task": (int, float, None),
    }
    if isinstance(document, dict):
        document.setdefault("seconds_per_task", None)  # the process of an earlier version has none
    return PartProgress(**document) if fits(document, form) and len(document) == len(form) else None
