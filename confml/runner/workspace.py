"""Temporary folder of a run: data sets, shared states, chunks of cells, and logs of workers."""

import contextlib
import functools
import json
import os
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from confml.data.dataset import DataSet
from confml.runner.environment import guarded
from confml.runner.lease import Lease, is_abandoned
from confml.runner.store import remove_temporary_files

_ATTEMPTS = 100
_ARRAYS = ("X", "y", "table", "nominal", "train_rows", "test_rows", "groups", "lines", "ids")
_METADATA = ("name", "checksum", "attributes", "table_attributes", "categories", "id_columns", "notes")


class Workspace:
    """Folder ``.work-<random>`` in the run's folder, removed when the run ends.

    The next run removes the workspace of a killed run. Several machines or containers may use one folder: a
    workspace is in use as long as its `Lease` is held. The folder has this name only while it is complete: it
    is made as ``.new-work-<random>`` and renamed to ``.old-work-<random>`` before it is removed.
    """

    def __init__(self, folder: Path, lease: Lease | None = None):
        self.folder = Path(folder)
        self._lease = lease

    @classmethod
    def make(cls, run_folder: Path) -> "Workspace":
        """Remove the workspaces and temporary files of killed runs and return a new workspace."""
        run_folder = Path(run_folder)
        with guarded(run_folder):
            remove_leftovers(run_folder)
            for attempt in range(_ATTEMPTS):
                name = f"work-{secrets.token_hex(8)}"
                new, lease = run_folder / f".new-{name}", None
                new.mkdir()
                try:
                    lease = Lease(new)
                    for part in ("data", "state", "pieces", "logs"):
                        (new / part).mkdir()
                    lease.folder = new.rename(run_folder / f".{name}")
                    return cls(lease.folder, lease)
                except FileNotFoundError:  # a run that began at the same time removed it
                    if lease is not None:
                        lease.release()
                    if attempt == _ATTEMPTS - 1:
                        raise
            raise AssertionError  # the last attempt returns or raises

    def remove(self) -> None:
        old = _set_aside(self.folder)
        if self._lease is not None:
            self._lease.release()
        shutil.rmtree(old, ignore_errors=True)

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
            for name in _ARRAYS:
                values = getattr(data, name)
                if values is not None and not (name == "table" and data.table is data.X):
                    np.save(folder / f"{name}.npy", values, allow_pickle=False)
            about = {name: getattr(data, name) for name in _METADATA}
            (folder / "about.json").write_text(json.dumps(about))
        return folder

    def put_arrays(self, part: str, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        path = self.folder / part / f"{name}.npz"
        with guarded(self.folder):
            with open(path.with_suffix(".tmp"), "wb") as file:
                np.savez(file, allow_pickle=False, **arrays)
            os.replace(path.with_suffix(".tmp"), path)

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


def remove_leftovers(run_folder: Path) -> None:
    """Remove what killed runs and reports left in the folder of a run; what may be in use stays."""
    for folder in run_folder.glob(".work-*"):
        if is_abandoned(folder):
            shutil.rmtree(_set_aside(folder), ignore_errors=True)
    for folder in run_folder.glob(".new-work-*"):  # a run that is making it tries again
        shutil.rmtree(_set_aside(folder), ignore_errors=True)
    for folder in run_folder.glob(".old-work-*"):
        shutil.rmtree(folder, ignore_errors=True)
    remove_temporary_files(run_folder)


def _set_aside(folder: Path) -> Path:
    """Rename a folder that will be removed, so that nobody takes what is left of it for a workspace."""
    old = folder.with_name(f".old-work-{secrets.token_hex(8)}")
    try:
        return folder.rename(old)
    except OSError:  # another run did it, or removing it will not work either
        return old


@functools.lru_cache(maxsize=4)
def open_dataset(folder: Path) -> DataSet:
    """Return a data set that `Workspace.put_dataset` wrote, with read-only memory-mapped arrays."""
    arrays: dict[str, Any] = {}
    with guarded(folder):
        about = json.loads((folder / "about.json").read_text())
        checksum = about.pop("checksum")
        for name in _ARRAYS:
            path = folder / f"{name}.npy"
            arrays[name] = np.load(path, mmap_mode="r", allow_pickle=False) if path.exists() else None
    if arrays["table"] is None:
        arrays["table"] = arrays["X"]
    data = DataSet(**arrays, **about)
    data.__dict__["checksum"] = checksum  # known; computing it would read all arrays
    return data
