"""``.run/manifest.json``: the config, cells and provenance of a run."""

import os
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from confml._json import from_json, to_json
from confml._outputs import RUN, write_atomically
from confml.config import Config
from confml.data.dataset import DataSet
from confml.errors import ConfmlError, printable
from confml.methods.registry import packages_of
from confml.runner.plan import Cell, Plan
from confml.runner.provenance import now, provenance
from confml.runner.store import FOLDER, Store

FORMAT = 3


def notes_on(data: DataSet) -> list[str]:
    """Return the notes on a data set: those of its loading, and a warning for values too large to square."""
    notes = list(data.notes)
    if np.nanmax(np.abs(data.table), initial=0.0) > 1e150:
        notes.append("values beyond 1e150: squared distances overflow; scale them (steps: [min-max])")
    return notes


def dataset_info(data: DataSet, origins: str | None) -> dict:
    """Return the numbers of a data set that reports use. origins: key of its `RowOrigins`."""
    rows_of_classes = np.unique(data.y, return_counts=True)[1]
    return {
        "name": data.name,
        "rows": int(data.X.shape[0]),
        "attributes": int(data.X.shape[1]),
        "classes": len(data.classes),
        "smallest_class": int(rows_of_classes.min()),
        "largest_class": int(rows_of_classes.max()),
        "train_rows": None if data.train_rows is None else len(data.train_rows),
        "test_rows": None if data.test_rows is None else len(data.test_rows),
        "notes": notes_on(data),
        "checksum": data.checksum,
        "origins": origins,
    }


def new_manifest(
    plan: Plan, origins: Mapping[str, str | None], *, jobs: int, engine: str, shard: str | None
) -> dict:
    """Return the manifest of a run that begins. origins: key of the `RowOrigins` of each data set."""
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
        "datasets": [dataset_info(data, origins[name]) for name, data in plan.datasets.items()],
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
    """Write the manifest: JSON with one line per cell, because there may be many."""
    cells = ",\n".join(f"  {to_json(cell, ascii=True)}" for cell in manifest["cells"])
    rest = to_json({name: value for name, value in manifest.items() if name != "cells"}, indent=1, ascii=True)
    text = f'{rest[:-2]},\n "cells": [\n{cells}\n ]\n}}\n'
    Path(folder, RUN).mkdir(exist_ok=True)
    write_atomically(manifest_path(folder), text.encode())


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
    try:
        manifest = from_json(content)
        if isinstance(manifest, dict) and manifest.get("format") in range(1, FORMAT):
            message, hint = "another version of confml wrote this run", "run its config again"
            raise ConfmlError(message, where=str(path), hint=hint)
        _check_manifest(manifest)
    except (ValueError, RecursionError) as error:
        reason = error.message if isinstance(error, ConfmlError) else f"it is not JSON: {error}"
        message = f"the manifest is damaged: {printable(reason, 300)}"
        hint = "run the config again: finished fits are kept"
        raise ConfmlError(message, where=str(path), hint=hint) from None
    return manifest


def stored_manifest(folder: Path) -> dict | None:
    """Return the manifest of a run's folder; None if there is none or it is damaged."""
    try:
        return read_manifest(folder)
    except ConfmlError:
        return None


def _check_manifest(manifest: Any) -> None:
    """Raise ConfmlError for a document that does not have the form that `new_manifest` writes."""
    try:
        checked = ManifestModel.model_validate(manifest)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        loc = ".".join(map(str, first["loc"])) or "it"
        raise ConfmlError(f"{loc}: {first['msg']}, got {printable(repr(first['input']), 80)}") from None
    names = {info.name for info in checked.datasets}
    if len(names) < len(checked.datasets):
        raise ConfmlError("two data sets have the same name")
    keys: set[str] = set()
    for number, cell in enumerate(checked.cells):
        if cell.key in keys or cell.dataset not in names:
            problem = "a key that is listed twice" if cell.key in keys else "an unknown data set"
            raise ConfmlError(f"cells.{number} has {problem}")
        keys.add(cell.key)


Key = Annotated[str, StringConstraints(pattern="^[0-9a-f]{32}$")]


class _Model(BaseModel):
    """Form of a part of the manifest; values are not converted."""

    model_config = ConfigDict(strict=True, extra="forbid")


class CellModel(_Model):
    key: Key
    dataset: str
    method: str
    params: dict[str, Any]
    split: str


Finding = Annotated[dict[Literal["code", "sentence", "remedy"], str], Field(min_length=3)]


class WarningModel(_Model):
    code: str
    sentence: str
    remedy: str
    dataset: str


class DatasetInfo(_Model, frozen=True):
    """Numbers of a data set. train_rows, test_rows: sizes of the provider's parts, None without parts.

    smallest_class, largest_class: rows of the smallest and the largest class. origins: key of the stored
    lines and identifiers of its rows. audit: code, sentence and remedy of each finding in the data.
    """

    name: str
    rows: int
    attributes: int
    classes: int
    train_rows: int | None = None
    test_rows: int | None = None
    notes: Sequence[str] = ()
    checksum: str = ""
    smallest_class: int | None = None
    largest_class: int | None = None
    origins: Key | None = None
    audit: Sequence[Finding] | None = None


class ProvenanceModel(_Model, extra="allow"):
    machine: dict[str, Any] = {}
    packages: dict[str, Any] = {}


class ManifestModel(_Model, extra="allow"):
    """Form of the manifest."""

    format: Literal[3]
    name: str
    started: str
    finished: str | None
    seconds: float | None
    jobs: int
    engine: str
    shard: str | None
    seed: int
    config: dict[str, Any]
    datasets: list[DatasetInfo]
    warnings: list[WarningModel] = []
    provenance: ProvenanceModel
    cells: list[CellModel]


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
    others = {info["name"] for info in manifest["datasets"]}
    if others and not others & {dataset.name for dataset in config.datasets}:
        message = (
            f"the folder holds a run of '{config.name}' on other data sets ({', '.join(sorted(others)[:3])})"
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
