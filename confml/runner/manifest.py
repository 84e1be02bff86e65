"""``manifest.json``: the config, cells and provenance of a run."""

import functools
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np

from confml._json import from_json, to_json
from confml._outputs import write_atomically
from confml.config import Config
from confml.config.method_entry import MethodEntry
from confml.config.schema import StepSpec
from confml.data.dataset import DataSet
from confml.errors import ConfmlError, printable
from confml.runner.plan import Cell, Plan, cells_from
from confml.runner.provenance import now, provenance
from confml.runner.store import Store

FORMAT = 2


def notes_on(data: DataSet) -> list[str]:
    """Return the notes on a data set: those of its loading, and a warning for values too large to square."""
    notes = list(data.notes)
    if np.nanmax(np.abs(data.X), initial=0.0) > 1e150:
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
    entries: list[MethodEntry | StepSpec] = [*plan.config.methods, *plan.config.steps]
    for entry in entries:
        about["packages"] |= entry.packages
    files = {file.path: file.sha256 for job in plan.jobs for file in job.files}
    return about | ({"files": files} if files else {})


def write_manifest(folder: Path, manifest: Mapping) -> None:
    """Write the manifest: JSON with one line per cell, because there may be many."""
    cells = ",\n".join(f"  {to_json(cell)}" for cell in manifest["cells"])
    rest = to_json({name: value for name, value in manifest.items() if name != "cells"}, indent=1)
    text = f'{rest[:-2]},\n "cells": [\n{cells}\n ]\n}}\n'
    write_atomically(Path(folder) / "manifest.json", text.encode())


def is_current(folder: Path, manifest: Mapping) -> bool:
    """Return whether ``folder`` has the manifest of a finished run of the same config, data and cells."""
    try:
        stored = read_manifest(folder)
    except ConfmlError:
        return False
    return stored["finished"] is not None and all(
        to_json(stored.get(name)) == to_json(manifest.get(name)) for name in _OF_RESULTS
    )


def origin_of(folder: Path) -> dict:
    """Return times, engine and provenance of the finished run in a folder; empty without one."""
    try:
        stored = read_manifest(folder)
    except ConfmlError:
        return {}
    names = ("started", "finished", "seconds", "jobs", "engine", "provenance")
    return {name: stored[name] for name in names if name in stored} if stored["finished"] else {}


_OF_RESULTS = ("name", "seed", "config", "datasets", "warnings", "cells")


def read_manifest(folder: Path | str) -> dict:
    """Return the manifest of a run's folder, which must not be changed, after checking its fields.

    A file that was read before and has not changed is not read again. Raises ConfmlError if the folder has no
    manifest or the manifest is damaged.
    """
    path = Path(folder) / "manifest.json"
    try:
        about = path.stat()
        return _read_manifest(path, str(folder), (about.st_ino, about.st_mtime_ns, about.st_size))
    except (FileNotFoundError, NotADirectoryError):
        raise ConfmlError(
            "no manifest.json: this is not the folder of a run",
            where=str(folder),
            hint="name a folder that confml run has written, such as results/usps",
        ) from None
    except OSError as error:
        raise ConfmlError(f"cannot be read: {error.strerror or error}", where=str(path)) from None


@functools.lru_cache(maxsize=1)
def _read_manifest(path: Path, folder: str, version: tuple[int, int, int]) -> dict:
    content = path.read_bytes()
    try:
        manifest = from_json(content)
        _check_manifest(manifest)
    except (ValueError, RecursionError) as error:
        if isinstance(error, ConfmlError):
            message, hint = error.message, error.hint
        else:
            message, hint = f"it is not JSON: {error}", None
        raise ConfmlError(
            f"the manifest is damaged: {printable(message, 300)}",
            where=str(path),
            hint=hint or "run the config again: finished cells are kept",
        ) from None
    return manifest


def forget_manifest() -> None:
    """Free the memory of the manifest that was read last."""
    _read_manifest.cache_clear()


def _check_manifest(manifest: Any) -> None:
    """Raise ConfmlError for the first field that does not have the form that `new_manifest` writes."""
    _expect(isinstance(manifest, dict), "it", "an object", manifest)
    for name, kinds in _FIELDS.items():
        _expect(name in manifest, name, "there", None)
        _expect(_is_of(manifest[name], kinds), name, _words(kinds), manifest[name])
    if manifest["format"] != FORMAT:
        raise ConfmlError(
            f"format {manifest['format']} is not known to this version of confml (it knows {FORMAT})",
            hint="run the config again, or read it with the version of confml that wrote it",
        )
    for number, info in enumerate(manifest["datasets"]):
        place = f"datasets[{number}]"
        _expect(isinstance(info, dict), place, "an object", info)
        _expect(isinstance(info.get("name"), str), f"{place}.name", "text", info.get("name"))
        for name, value in info.items():
            _expect(name in _DATASET_FIELDS, f"{place}.{name}", "a field of a data set", value)
            kinds = _DATASET_FIELDS[name]
            _expect(_is_of(value, kinds), f"{place}.{name}", _words(kinds), value)
        for name in ("rows", "attributes", "classes"):
            _expect(name in info, f"{place}.{name}", "there", None)
        key = info.get("origins")
        _expect(key is None or _is_key(key), f"{place}.origins", "32 hexadecimal digits", key)
        _expect(all(isinstance(note, str) for note in info.get("notes", ())), f"{place}.notes", "texts", info)
        for finding in info.get("audit", ()):  # older versions stored none
            is_one = isinstance(finding, dict) and finding.keys() == _FINDING_FIELDS
            _expect(is_one and all(isinstance(text, str) for text in finding.values()), f"{place}.audit",
                    "findings", finding)  # fmt: skip
    warnings = manifest.get("warnings", [])  # older versions stored none
    _expect(isinstance(warnings, list), "warnings", "a list", warnings)
    for number, warning in enumerate(warnings):
        place = f"warnings[{number}]"
        _expect(isinstance(warning, dict) and warning.keys() == _WARNING_FIELDS, place, "a warning", warning)
        _expect(all(isinstance(text, str) for text in warning.values()), place, "texts", warning)
    for part in ("machine", "packages"):
        about = manifest["provenance"].get(part, {})
        _expect(isinstance(about, dict), f"provenance.{part}", "an object", about)
    names = [info["name"] for info in manifest["datasets"]]
    _expect(len(set(names)) == len(names), "datasets", "of different names", names)
    keys: set[str] = set()
    known = set(names)
    for number, cell in enumerate(manifest["cells"]):
        if not _is_cell(cell) or cell["key"] in keys or cell["dataset"] not in known:
            _check_cell(f"cells[{number}]", cell, keys, known)
        keys.add(cell["key"])


def _is_cell(cell: Any) -> bool:
    return (
        isinstance(cell, dict)
        and cell.keys() == _CELL_FIELDS.keys()
        and all(isinstance(cell[name], kind) for name, kind in _CELL_FIELDS.items())
        and _KEY.fullmatch(cell["key"]) is not None
    )


def _check_cell(place: str, cell: Any, keys: set[str], datasets: set[str]) -> None:
    """Raise ConfmlError for the first field of a cell that is wrong."""
    _expect(isinstance(cell, dict) and cell.keys() == _CELL_FIELDS.keys(), place, "a cell", cell)
    for name, kind in _CELL_FIELDS.items():
        _expect(isinstance(cell[name], kind), f"{place}.{name}", _WORDS[kind], cell[name])
    key = cell["key"]
    _expect(_is_key(key), f"{place}.key", "32 hexadecimal digits", key)
    _expect(key not in keys, f"{place}.key", "listed once", key)
    _expect(cell["dataset"] in datasets, f"{place}.dataset", "one of the data sets", cell["dataset"])


_FINDING_FIELDS = {"code", "sentence", "remedy"}
_WARNING_FIELDS = {"code", "sentence", "remedy", "dataset"}
_FIELDS: dict[str, tuple[type, ...]] = {
    "format": (int,),
    "name": (str,),
    "started": (str,),
    "finished": (str, NoneType),
    "seconds": (int, float, NoneType),
    "jobs": (int,),
    "engine": (str,),
    "shard": (str, NoneType),
    "seed": (int,),
    "config": (dict,),
    "datasets": (list,),
    "provenance": (dict,),
    "cells": (list,),
}
_CELL_FIELDS: dict[str, type] = {"key": str, "dataset": str, "method": str, "params": dict, "split": str}
_KEY = re.compile("[0-9a-f]{32}")
_DATASET_FIELDS: dict[str, tuple[type, ...]] = {
    "name": (str,),
    "rows": (int,),
    "attributes": (int,),
    "classes": (int,),
    "smallest_class": (int, NoneType),
    "largest_class": (int, NoneType),
    "train_rows": (int, NoneType),
    "test_rows": (int, NoneType),
    "notes": (list,),
    "checksum": (str,),
    "origins": (str, NoneType),
    "audit": (list,),
    "audited_rows": (int,),
}
_WORDS = {
    int: "a whole number",
    float: "a number",
    str: "text",
    dict: "an object",
    list: "a list",
    NoneType: "null",
}


def _is_key(value: object) -> bool:
    return isinstance(value, str) and _KEY.fullmatch(value) is not None


def _is_of(value: object, kinds: tuple[type, ...]) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)


def _words(kinds: tuple[type, ...]) -> str:
    return " or ".join(_WORDS[kind] for kind in kinds)


def _expect(fits: object, place: str, expected: str, got: object) -> None:
    if not fits:
        raise ConfmlError(f"{place} must be {expected}, got {printable(repr(got), 80)}")


# Files that a run may leave if it is killed before its manifest is written.
_OWN_NAMES = re.compile(r"batches|logs|\.confml-.*")


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
    if "manifest.json" not in names:
        foreign = sorted(name for name in names if not _OWN_NAMES.fullmatch(name))
        if foreign:
            message = f"the folder holds files that confml did not write ({printable(foreign[0], 80)}"
            message += f" and {len(foreign) - 1} more)" if len(foreign) > 1 else ")"
            raise ConfmlError(message, where=str(folder), hint=hint)
        return
    try:
        manifest = read_manifest(folder)
    except ConfmlError as error:
        if "batches" in names:
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


SETTINGS = ("seed", "protocol", "steps", "noise")
"""Keys of a config whose change leaves no stored result in use."""


def check_same_run(folder: Path, config: Config, cells: Sequence[Cell]) -> None:
    """Raise ConfmlError if the folder holds the report of another config with the same name.

    Its cells are all different, and so are seed, protocol, steps or noise: the report of this config would
    replace the other one. A config with other methods, data sets, levels or more repeats continues the run.
    """
    try:
        manifest = read_manifest(folder)
    except ConfmlError:
        return
    stored = {cell["key"] for cell in manifest["cells"]}
    if not stored or stored & {cell.key for cell in cells} or not Store(folder).keys("cells"):
        return
    ours, theirs = config.as_dict(), manifest["config"]
    changed = [key for key in SETTINGS if to_json(ours.get(key)) != to_json(theirs.get(key))]
    if changed:
        raise ConfmlError(
            f"the folder holds a run of another config named '{config.name}' ({', '.join(changed)} differ)",
            where=str(folder),
            hint="choose another folder with --out, give the config another name:, or add --force",
        )


def manifest_cells(manifest: Mapping) -> list[Cell]:
    return cells_from(manifest["cells"])
