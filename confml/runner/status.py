"""`RunStatus`: cells of a run that are done, failed and left, of the whole run and of its shards."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from confml.runner.manifest import manifest_cells, read_manifest
from confml.runner.plan import Cell
from confml.runner.store import Store

SHARDS = "shards"  # kind of the records with the cells of each shard


@dataclass(frozen=True)
class State:
    """Keys of the cells of a plan that are done, failed (and are not retried), and left."""

    done: frozenset[str]
    failed: frozenset[str]
    left: frozenset[str]


def run_state(
    store: Store, cells: Iterable[Cell], retry_failed: bool = False, done_keys: Set[str] = frozenset()
) -> State:
    """Return the state of the cells; damaged records and those of an older format count as left.

    done_keys: keys of cells that are done, whose records are not read again.
    """
    by_key = {cell.key: cell for cell in cells}
    unknown = by_key.keys() - done_keys
    if unknown:
        store.refresh()
        unknown &= store.keys("cells")
    done = frozenset((by_key.keys() & done_keys) | unknown)
    left = by_key.keys() - done
    failed = frozenset() if retry_failed or not left else frozenset(left & store.keys("failures"))
    return State(done, failed, frozenset(left) - failed)


def note_shard(store: Store, shard: str, cells: Sequence[Cell]) -> None:
    """Store the keys of the cells of a shard, such as "3/16", for `RunStatus`."""
    document = {"cells": [cell.key for cell in cells]}
    record = store.read(SHARDS, shard)
    if record is None or record[0] != document:
        store.write(SHARDS, shard, document)


@dataclass(frozen=True)
class RunStatus:
    """State of a run at one time, from its folder alone.

    batches: number of batches in the store. shards: state of each shard that was started, by its name.
    """

    manifest: dict[str, Any]
    cells: list[Cell]
    state: State
    batches: int
    shards: Mapping[str, State]

    @classmethod
    def of(cls, store: Store) -> "RunStatus":
        """Return the status of the run in a store."""
        manifest = read_manifest(store.folder)
        cells = manifest_cells(manifest)
        state = run_state(store, cells)
        shards = {}
        for shard in sorted(store.keys(SHARDS), key=lambda name: [int(part) for part in name.split("/")]):
            record = store.read(SHARDS, shard)
            keys = frozenset(record[0]["cells"] if record else ())
            shards[shard] = State(state.done & keys, state.failed & keys, state.left & keys)
        return cls(manifest, cells, state, store.batches, shards)

    def failures(self, store: Store) -> list[dict[str, Any]]:
        """Return the failed cells with their errors."""
        failed = failures_of(store, self.cells, self.state)
        return [{**cell.as_dict(), "error": error} for cell, error, _ in failed]


def failures_of(store: Store, cells: Iterable[Cell], state: State) -> Iterator[tuple[Cell, str, str]]:
    """Yield the failed cells, each with its error and its traceback."""
    for cell in cells:
        if cell.key in state.failed:
            document, _ = store.read("failures", cell.key) or ({"error": "its record is damaged"}, {})
            yield cell, document["error"], document.get("traceback", "")
