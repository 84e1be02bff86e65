"""`RunStatus`: cells of a run that are done, failed and left."""

from collections.abc import Set
from dataclasses import dataclass
from typing import Any

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

    @classmethod
    def of(cls, store: Store, known: Set[str] = frozenset()) -> "RunStatus":
        """Return the status of the run in a store. known: keys of cells whose records are not read again."""
        manifest = read_manifest(store.folder)
        cells = manifest_cells(manifest)
        return cls(manifest, cells, run_state(store, cells, known=known))

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
