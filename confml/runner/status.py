"""`RunStatus`: cells of a run that are done, failed and left, and the processes that compute them."""

from collections.abc import Set
from dataclasses import dataclass
from typing import Any

from confml.runner.heartbeat import RunningPart, running_parts
from confml.runner.manifest import manifest_cells, read_manifest
from confml.runner.plan import Cell
from confml.runner.run import State, run_state
from confml.runner.store import Store


@dataclass(frozen=True)
class RunStatus:
    """State of a run at one time, from its folder alone."""

    manifest: dict[str, Any]
    cells: list[Cell]
    state: State
    parts: list[RunningPart]

    @classmethod
    def of(cls, store: Store, known: Set[str] = frozenset()) -> "RunStatus":
        """Return the status of the run in a store. known: keys of cells whose records are not read again."""
        manifest = read_manifest(store.folder)
        cells = manifest_cells(manifest)
        return cls(manifest, cells, run_state(store, cells, known=known), running_parts(store.folder))

    @property
    def unassigned(self) -> int:
        """Number of cells that are left and that no running process computes."""
        assigned = sum(
            part.progress.cells - part.progress.cells_done - part.progress.failed for part in self.parts
        )
        return max(len(self.state.left) - assigned, 0)

    @property
    def rate(self) -> float | None:
        """Cells per second of all running processes together; None if none has stored a cell."""
        rates = [rate for part in self.parts if (rate := part.progress.rate) is not None]
        return sum(rates) if rates else None

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds until no cell is left; None if unknown.

        The time of the running process that ends last, or, with cells that no process computes, the time
        of all cells at the mean rate since the start.
        """
        if not self.state.left:
            return 0.0
        if self.unassigned:
            return len(self.state.left) / self.rate if self.rate else None
        times = [part.progress.seconds_left for part in self.parts]
        known = [seconds for seconds in times if seconds is not None]
        return max(known) if len(known) == len(times) and known else None

    def failures(self, store: Store) -> list[dict[str, Any]]:
        """Return the failed cells with their errors."""
        return [
            {**cell.as_dict(), "error": _error_of(store.read("failures", cell.key))}
            for cell in self.cells
            if cell.key in self.state.failed
        ]


def _error_of(record) -> str:
    error = record[0].get("error") if record else None
    return error if isinstance(error, str) else "its record is damaged"
