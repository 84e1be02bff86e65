"""`open_run`: the stored results of a run's folder as input of reports."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path

from confml.config import restore_config
from confml.config.warnings import Warned
from confml.errors import ConfmlError, printable
from confml.report.run.cells import Failure, calls_of
from confml.report.run.results import RunResults
from confml.runner.manifest import DatasetInfo, manifest_cells, manifest_path, read_manifest
from confml.runner.origins import RowOrigins
from confml.runner.plan import Cell
from confml.runner.results import CellResult
from confml.runner.status import failures_of, run_state
from confml.runner.store import Store


class StoredResults(Mapping[str, CellResult]):
    """The finished cells of a plan by key, read when they are used."""

    def __init__(self, store: Store, cells: Iterable[Cell]):
        self._store = store
        self._cells = {cell.key: cell for cell in cells}

    def __getitem__(self, key: str) -> CellResult:
        cell = self._cells[key]
        result = CellResult.read(self._store, cell)
        if result is None:
            raise ConfmlError(
                f"the result of {cell.title} is damaged",
                where=str(self._store.folder),
                hint="run the config again to compute damaged results again",
            )
        return result

    def __contains__(self, key: object) -> bool:  # the one of `Mapping` would read the cell
        return key in self._cells

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells)

    def __len__(self) -> int:
        return len(self._cells)


def open_run(folder: Path | str, done_keys: Set[str] = frozenset()) -> RunResults:
    """Return the results in the folder of a run: finished cells of its current plan, failures, data sets.

    done_keys: keys of cells that are stored and intact. The data are not loaded. Raises ConfmlError if the
    folder contains no run.
    """
    manifest = read_manifest(folder)
    cells = manifest_cells(manifest)
    del manifest["cells"]  # they take as much memory again
    store = Store(folder)
    state = run_state(store, cells, done_keys=done_keys)
    try:
        config = restore_config(manifest["config"])
    except ConfmlError as error:
        message = f"the config in it is damaged: {printable(str(error).splitlines()[0], 200)}"
        where = str(manifest_path(folder))
        hint = "run the config again: finished fits are kept"
        raise ConfmlError(message, where=where, hint=hint) from None
    datasets = {info["name"]: DatasetInfo(**info) for info in manifest["datasets"]}
    origins = {name: RowOrigins.read(store, info.origins) for name, info in datasets.items() if info.origins}
    return RunResults(
        config=config,
        cells=cells,
        results=StoredResults(store, (cell for cell in cells if cell.key in state.done)),
        failures=[
            Failure(cell, error, calls_of(traceback))
            for cell, error, traceback in failures_of(store, cells, state)
        ],
        datasets=datasets,
        warnings=tuple(Warned(**warning) for warning in manifest.get("warnings", ())),
        origins={name: rows for name, rows in origins.items() if rows is not None},
    )


def run_names(folders: Sequence[Path], names: Sequence[str]) -> list[str]:
    """Return a name for each run: that of its config, or of its folder where two have the same."""
    for candidates in (list(names), [folder.resolve().name for folder in folders]):
        if len(set(candidates)) == len(candidates):
            return candidates
    return [f"{name} ({number})" for number, name in enumerate(names, start=1)]
