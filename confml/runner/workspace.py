"""Temporary folder of a run: data sets, shared states, and logs of workers."""

import contextlib
import dataclasses
import functools
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import joblib
import numpy as np

from confml._outputs import WORK, create_temporary, remove_abandoned_files
from confml.data.dataset import DataSet
from confml.runner.environment import guarded


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
            for part in ("data", "state", "logs"):
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
        """Write a data set for the workers and return the file, which `open_dataset` reads."""
        path = self.folder / "data" / data.checksum
        values: dict[str, Any] = {field.name: getattr(data, field.name) for field in dataclasses.fields(data)}
        if data.table is data.X:
            del values["table"]
        with guarded(self.folder):
            path.parent.mkdir(exist_ok=True)
            joblib.dump((data.checksum, values), path)
        return path

    def put_state(self, name: str, state: Mapping[str, np.ndarray]) -> None:
        with guarded(self.folder):
            joblib.dump(state, self.folder / "state" / name)

    def get_state(self, name: str) -> dict[str, np.ndarray]:
        with guarded(self.folder):
            return joblib.load(self.folder / "state" / name)


@functools.lru_cache(maxsize=4)
def open_dataset(path: Path) -> DataSet:
    """Return a data set that `Workspace.put_dataset` wrote, with read-only memory-mapped arrays."""
    with guarded(path.parent):
        checksum, values = joblib.load(path, mmap_mode="r")
    data = DataSet(**{"table": values["X"]} | values)
    data.__dict__["checksum"] = checksum  # known; computing it would read all arrays
    return data
