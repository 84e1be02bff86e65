"""``.run/manifest.json``: the config, cells and provenance of a run."""

import hashlib
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from confml._json import from_json, to_json
from confml._outputs import RUN, write_atomically
from confml.config import Config
from confml.config.warnings import Warned
from confml.data.dataset import DataSet
from confml.data.findings import Finding
from confml.errors import ConfmlError, printable
from confml.methods.registry import packages_of
from confml.runner.origins import origins_key
from confml.runner.plan import Cell, Plan
from confml.runner.provenance import now, provenance
from confml.runner.store import FOLDER, Store

FORMAT = 4


def notes_on(data: DataSet) -> list[str]:
    """Return the notes on a data set: those of its loading, and a warning for values too large to square."""
    notes = list(data.notes)
    if np.nanmax(np.abs(data.table), initial=0.0) > 1e150:
        notes.append("values beyond 1e150: squared distances overflow; scale them (steps: [min-max])")
    return notes


@dataclass(frozen=True)
class DatasetInfo:
    """Numbers of a data set that reports use.

    smallest_class, largest_class: rows of the smallest and the largest class. train_rows, test_rows: sizes of
    the provider's parts, None without parts. origins: key of the stored lines
    and identifiers of its rows. audit: code, sentence and remedy of each finding in the data.
    """

    name: str
    rows: int
    attributes: int
    classes: int
    smallest_class: int | None = None
    largest_class: int | None = None
    train_rows: int | None = None
    test_rows: int | None = None
    notes: Sequence[str] = ()
    checksum: str = ""
    origins: str | None = None
    audit: Sequence[Mapping[str, str]] = ()

    @classmethod
    def of(cls, data: DataSet, audit: Sequence[Finding]) -> "DatasetInfo":
        rows_of_classes = np.unique(data.y, return_counts=True)[1]
        return cls(
            name=data.name,
            rows=int(data.X.shape[0]),
            attributes=int(data.X.shape[1]),
            classes=len(data.classes),
            smallest_class=int(rows_of_classes.min()),
            largest_class=int(rows_of_classes.max()),
            train_rows=None if data.train_rows is None else len(data.train_rows),
            test_rows=None if data.test_rows is None else len(data.test_rows),
            notes=notes_on(data),
            checksum=data.checksum,
            origins=origins_key(data),
            audit=[
                {"code": finding.code, "sentence": finding.sentence, "remedy": finding.remedy}
                for finding in audit
            ],
        )


def new_manifest(
    plan: Plan,
    audits: Mapping[str, Sequence[Finding]],
    warnings: Sequence[Warned],
    *,
    jobs: int,
    engine: str,
    shard: str | None,
) -> dict:
    """Return the manifest of a run that begins. audits: of each data set, by name."""
    return {
        "format": FORMAT,
        "name": plan.config.name,
        "started": now(),
        "finished": None,
        "seconds": None,
        "jobs": jobs,
        "engine": engine,
        "shard": shard,
        "seed": plan.config.seed,
        "config": plan.config.as_dict(),
        "datasets": [asdict(DatasetInfo.of(data, audits[name])) for name, data in plan.datasets.items()],
        "warnings": [warning.as_dict() for warning in warnings],
        "provenance": _provenance(plan),
        "cells": [cell.as_dict() for cell in plan.cells],
    }


def _provenance(plan: Plan) -> dict:
    """Return software and machine, with the packages of dotted names and the SHA-256 of external files."""
    about = provenance()
    for step in plan.config.steps:
        about["packages"] |= packages_of(step.name, step.params.values())
    for entry in plan.config.methods:
        values = [*entry.given.values(), *entry.sweep.values(), *entry.tune.values()]
        about["packages"] |= packages_of(entry.name, values)
    files = {file.path: file.sha256 for job in plan.jobs for file in job.files}
    return about | ({"files": files} if files else {})


def manifest_path(folder: Path | str) -> Path:
    """Return the path of the manifest of a run."""
    return Path(folder, RUN, "manifest.json")


def write_manifest(folder: Path, manifest: Mapping) -> None:
    """Write the manifest: JSON with its SHA-256, and with one line per cell, because there may be many."""
    cells = ",\n".join(f"  {to_json(cell, ascii=True)}" for cell in manifest["cells"])
    rest = to_json({name: value for name, value in manifest.items() if name != "cells"}, indent=1, ascii=True)
    text = f'{rest[1:-2]},\n "cells": [\n{cells}\n ]\n}}\n'.encode()
    Path(folder, RUN).mkdir(exist_ok=True)
    write_atomically(manifest_path(folder), _head(text) + b"," + text)


def _head(text: bytes) -> bytes:
    """Return the beginning of a manifest, before the comma and the text whose SHA-256 it has."""
    return f'{{\n "sha256": "{hashlib.sha256(text).hexdigest()}"'.encode()


def is_current(stored: Mapping | None, manifest: Mapping) -> bool:
    """Return whether a stored manifest is of a finished run with the config, data and cells of another."""
    return (
        stored is not None
        and stored["finished"] is not None
        and all(to_json(stored.get(name)) == to_json(manifest.get(name)) for name in _OF_RESULTS)
    )


def origin_of(stored: Mapping | None) -> dict:
    """Return times, engine and provenance of a finished run; empty for any other one."""
    names = ("started", "finished", "seconds", "jobs", "engine", "provenance")
    return {name: stored[name] for name in names} if stored is not None and stored["finished"] else {}


_OF_RESULTS = ("name", "seed", "config", "datasets", "warnings", "cells")


def read_manifest(folder: Path | str) -> dict:
    """Return the manifest of a run's folder; raise ConfmlError if there is none or it is damaged."""
    path = manifest_path(folder)
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        hint = "name a folder that confml run has written"
        raise ConfmlError("no run is in this folder", where=str(folder), hint=hint) from None
    except OSError as error:
        raise ConfmlError(f"cannot be read: {error.strerror or error}", where=str(path)) from None
    head, _, text = content.partition(b",")
    manifest = from_json(content) if head == _head(text) else {}
    if manifest.get("format") != FORMAT:
        message = "the manifest is damaged, or another version of confml wrote it"
        hint = "run the config again: finished fits are kept"
        raise ConfmlError(message, where=str(path), hint=hint)
    return manifest


def stored_manifest(folder: Path) -> dict | None:
    """Return the manifest of a run's folder; None if there is none or it is damaged."""
    try:
        return read_manifest(folder)
    except ConfmlError:
        return None


# Files that a run may leave if it is killed before its manifest is written.
_OWN_NAMES = re.compile(r"\.run|\.confml-.*")


def check_folder(folder: Path, config: Config) -> None:
    """Raise ConfmlError if ``folder`` holds another run or files that confml did not write.

    Another run has a config with another name or with other data sets.
    """
    hint = "choose another folder with --out, or add --force"
    try:
        names = {entry.name for entry in os.scandir(folder)}
    except OSError:  # it does not exist yet, or `Store.make` raises the error
        return
    if not names:
        return
    if not manifest_path(folder).exists():
        foreign = sorted(name for name in names if not _OWN_NAMES.fullmatch(name))
        if foreign:
            message = f"the folder holds files that confml did not write ({printable(foreign[0], 80)}"
            message += f" and {len(foreign) - 1} more)" if len(foreign) > 1 else ")"
            raise ConfmlError(message, where=str(folder), hint=hint)
        return
    try:
        manifest = read_manifest(folder)
    except ConfmlError as error:
        if Path(folder, FOLDER).exists():
            return  # a damaged manifest of confml is written again
        raise ConfmlError(error.message, where=error.where, hint=hint) from None
    if manifest["name"] != config.name:
        message = f"the folder holds the run '{printable(manifest['name'], 80)}', not '{config.name}'"
        raise ConfmlError(message, where=str(folder), hint=hint)
    stored = {info["name"] for info in manifest["datasets"]}
    if stored and not stored & {dataset.name for dataset in config.datasets}:
        message = (
            f"the folder holds a run of '{config.name}' on other data sets ({', '.join(sorted(stored)[:3])})"
        )
        raise ConfmlError(message, where=str(folder), hint=hint)


def changed_keys(stored: Mapping, config: Mapping, without: Collection[str] = ()) -> list[str]:
    """Return the keys whose values differ in two configs as plain values, except those of ``without``."""
    keys = [key for key in {**config, **stored} if key not in without]
    return [key for key in keys if to_json(stored.get(key)) != to_json(config.get(key))]


SETTINGS = ("seed", "protocol", "steps", "noise")
"""Keys of a config whose change leaves no stored result in use."""


def check_same_run(store: Store, config: Config, cells: Sequence[Cell]) -> None:
    """Raise ConfmlError if the folder holds the report of another config with the same name.

    Its cells are all different, and so are seed, protocol, steps or noise: the report of this config would
    replace the other one. A config with other methods, data sets, levels or more repeats continues the run.
    """
    manifest = stored_manifest(store.folder)
    if manifest is None:
        return
    keys = {cell["key"] for cell in manifest["cells"]}
    if not keys or keys & {cell.key for cell in cells} or not store.keys("cells"):
        return
    different = changed_keys(manifest["config"], config.as_dict())
    changed = [key for key in SETTINGS if key in different]
    if changed:
        raise ConfmlError(
            f"the folder holds a run of another config named '{config.name}' ({', '.join(changed)} differ)",
            where=str(store.folder),
            hint="choose another folder with --out, give the config another name:, or add --force",
        )


def manifest_cells(manifest: Mapping) -> list[Cell]:
    """Return the cells of a manifest."""
    return [Cell(**document) for document in manifest["cells"]]
