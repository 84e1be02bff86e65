"""A run's scratch folder: data sets, shared states and pieces of cells that its workers map into memory."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import socket
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from confml.data.dataset import DataSet

_ARRAYS = ("X", "y", "table", "nominal", "train_rows", "test_rows", "groups", "lines", "ids")
_WORDS = ("name", "checksum", "attributes", "table_attributes", "categories", "id_columns", "notes")


class Workspace:
    """``.work-<host>-<process>`` in the run's folder; removed with the run, a killed run's by the next."""

    def __init__(self, folder: Path):
        self.folder = Path(folder)

    @classmethod
    def make(cls, run_folder: Path) -> Workspace:
        host = socket.gethostname()
        for other in Path(run_folder).glob(f".work-{host}-*"):
            number = other.name.rpartition("-")[2]
            if number.isdigit() and not _alive(int(number)):
                shutil.rmtree(other, ignore_errors=True)
        workspace = cls(Path(run_folder) / f".work-{host}-{os.getpid()}")
        for part in ("data", "state", "pieces"):
            (workspace.folder / part).mkdir(parents=True, exist_ok=True)
        return workspace

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def put_dataset(self, data: DataSet) -> Path:
        """Lay a data set down for the workers: the folder to give to `open_dataset`."""
        folder = self.folder / "data" / data.checksum
        folder.mkdir(parents=True, exist_ok=True)
        for name in _ARRAYS:
            values = getattr(data, name)
            if values is not None and not (name == "table" and data.table is data.X):
                np.save(folder / f"{name}.npy", values, allow_pickle=False)
        about = {name: getattr(data, name) for name in _WORDS}
        (folder / "about.json").write_text(json.dumps(about))
        return folder

    def put_arrays(self, part: str, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        path = self.folder / part / f"{name}.npz"
        with open(path.with_suffix(".tmp"), "wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
        os.replace(path.with_suffix(".tmp"), path)

    def get_arrays(self, part: str, name: str) -> dict[str, np.ndarray]:
        with np.load(self.folder / part / f"{name}.npz", allow_pickle=False) as stored:
            return {key: stored[key] for key in stored.files}

    def drop(self, part: str, name: str) -> None:
        (self.folder / part / f"{name}.npz").unlink(missing_ok=True)


@functools.lru_cache(maxsize=4)
def open_dataset(folder: Path) -> DataSet:
    """A data set that `Workspace.put_dataset` laid down, its arrays mapped read-only."""
    about = json.loads((folder / "about.json").read_text())
    checksum = about.pop("checksum")
    arrays = {}
    for name in _ARRAYS:
        path = folder / f"{name}.npy"
        arrays[name] = np.load(path, mmap_mode="r", allow_pickle=False) if path.exists() else None
    if arrays["table"] is None:
        arrays["table"] = arrays["X"]
    data = DataSet(**arrays, **about)
    data.__dict__["checksum"] = checksum  # known already: no need to read everything for it
    return data


def _alive(process: int) -> bool:
    if os.name != "posix":
        return True  # there, signal 0 would end the process that it asks after
    with contextlib.suppress(ProcessLookupError):
        with contextlib.suppress(PermissionError):
            os.kill(process, 0)
        return True
    return False
