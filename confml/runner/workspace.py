"""Temporary folder of a run: data sets, shared states, chunks of cells, and logs of workers."""

import contextlib
import functools
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from confml._json import from_json, to_json
from confml._outputs import WORK, create_temporary, open_atomically, remove_abandoned_files, write_atomically
from confml.data.dataset import DataSet
from confml.data.memory import is_sparse
from confml.runner.environment import guarded

_ARRAYS = ("X", "y", "table", "nominal", "train_rows", "test_rows", "groups", "lines", "ids")
_SPARSE = ("data", "indices", "indptr")  # arrays of a CSR matrix X
_METADATA = ("name", "checksum", "attributes", "table_attributes", "categories", "id_columns", "notes")


class Workspace:
    """Folder ``.confml-<machine>-<random>.work`` in the run's folder, removed when the run ends.

    The next run on the machine removes the workspace of a killed run. Several machines and commands may use
    one folder of a run: a workspace is in use as long as the file of the same name beside it is locked.
    """

    def __init__(self, folder: Path, lock: tuple[Path, BinaryIO] | None = None):
        self.folder = Path(folder)
        self._lock = lock

    @classmethod
    def make(cls, run_folder: Path) -> "Workspace":
        """Remove the workspaces and temporary files of killed runs and return a new workspace."""
        run_folder = Path(run_folder)
        with guarded(run_folder):
            remove_abandoned_files(run_folder, inner=True)
            path, file = create_temporary(run_folder)
            folder = path.with_name(path.name + WORK)
            for part in ("data", "state", "pieces", "logs"):
                (folder / part).mkdir(parents=True)
            return cls(folder, (path, file))

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._lock is not None:
            path, file = self._lock
            path.unlink(missing_ok=True)
            file.close()

    @property
    def logs(self) -> Path:
        """Folder for what worker processes print."""
        return self.folder / "logs"

    def keep_logs(self, folder: Path) -> bool:
        """Move logs that are not empty into ``folder``; return whether there are some."""
        logs = [path for path in self.logs.glob("*") if path.stat().st_size]
        with contextlib.suppress(OSError):  # a full disk stops the run for another reason
            for path in logs:
                folder.mkdir(exist_ok=True)
                path.rename(folder / path.name)
        return bool(logs)

    def put_dataset(self, data: DataSet) -> Path:
        """Write a data set for the workers and return the folder, which `open_dataset` reads."""
        folder = self.folder / "data" / data.checksum
        with guarded(self.folder):
            folder.mkdir(parents=True, exist_ok=True)
            arrays = {name: getattr(data, name) for name in _ARRAYS}
            if is_sparse(data.X):
                arrays |= {"X": None} | {f"X.{part}": getattr(data.X, part) for part in _SPARSE}
            for name, values in arrays.items():
                if values is not None and not (name == "table" and data.table is data.X):
                    with open_atomically(folder / f"{name}.npy", durable=False) as file:
                        np.save(file, values, allow_pickle=False)
            about = {name: getattr(data, name) for name in _METADATA}
            write_atomically(folder / "about.json", to_json(about).encode(), durable=False)
        return folder

    def put_arrays(self, part: str, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        path = self.folder / part / f"{name}.npz"
        with guarded(self.folder), open_atomically(path, durable=False) as file:
            np.savez(file, allow_pickle=False, **arrays)

    def has(self, part: str, name: str) -> bool:
        """Return whether arrays of this name are stored; raise EnvironmentFault without a workspace."""
        with guarded(self.folder):
            (self.folder / part).stat()
        return (self.folder / part / f"{name}.npz").exists()

    def get_arrays(self, part: str, name: str) -> dict[str, np.ndarray]:
        with guarded(self.folder), np.load(self.folder / part / f"{name}.npz", allow_pickle=False) as stored:
            return {key: stored[key] for key in stored.files}

    def drop(self, part: str, name: str) -> None:
        with guarded(self.folder):
            (self.folder / part / f"{name}.npz").unlink(missing_ok=True)


@functools.lru_cache(maxsize=4)
def open_dataset(folder: Path) -> DataSet:
    """Return a data set that `Workspace.put_dataset` wrote, with read-only memory-mapped arrays."""
    arrays: dict[str, Any] = {}
    with guarded(folder):
        about = from_json((folder / "about.json").read_bytes())
        checksum = about.pop("checksum")
        for name in _ARRAYS:
            path = folder / f"{name}.npy"
            arrays[name] = np.load(path, mmap_mode="r", allow_pickle=False) if path.exists() else None
        if arrays["X"] is None:
            from scipy.sparse import csr_matrix

            parts = [np.load(folder / f"X.{part}.npy", mmap_mode="r", allow_pickle=False) for part in _SPARSE]
            arrays["X"] = csr_matrix(tuple(parts), shape=(len(arrays["y"]), len(about["attributes"])))
    if arrays["table"] is None:
        arrays["table"] = arrays["X"]
    data = DataSet(**arrays, **about)
    data.__dict__["checksum"] = checksum  # known; computing it would read all arrays
    return data
