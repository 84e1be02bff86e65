"""Read a config from a file, by its name, or from plain values, as a `Draft`."""

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from confml._json import from_json
from confml._version import resource_folder
from confml.config.draft import Draft
from confml.data.cards import known_cards
from confml.data.table_files import is_table_name
from confml.errors import ConfigErrors, did_you_mean
from confml.yaml import Mark, error_at, read_file


def bundled_configs() -> dict[str, Path]:
    """Return the bundled configs by name; names in a subfolder contain it: papers/kubat/rates."""
    folder = resource_folder("configs")
    return {
        path.relative_to(folder).with_suffix("").as_posix(): path for path in sorted(folder.rglob("*.yaml"))
    }


def find_config(name: str) -> tuple[Path, str]:
    """Return the file of a config and its name in messages; raise ConfigErrors if there is none."""
    path = Path(name)
    if os.path.exists(name) and not os.path.isdir(name):
        if not is_table_name(name):
            return path, name
        hint = f"confml init {name} --label COLUMN writes one"
        raise _no_config(name, "this is a table file, expected a config", hint)
    paths = bundled_configs()
    short = name.removesuffix(".yaml")  # folders may be omitted if the rest is unique
    below = [path for full, path in paths.items() if short and full.endswith(f"/{short}")]
    if short in paths or len(below) == 1:
        path = paths.get(short) or below[0]
        return path, str(path)
    if os.path.isdir(name):
        raise _no_config(name, "this is a folder, expected a YAML file")
    if name in known_cards():
        hint = f"write a config with datasets: [{name}], methods: and protocol:, or confml run quickstart"
        raise _no_config(name, f"'{name}' is a data set, expected a config", hint)
    files = map(str, sorted(path.parent.glob("*.y*ml")))
    hint = did_you_mean(name, [*files, *paths], list_all=False) or "confml run quickstart is a first example"
    raise _no_config(name, "no such file, and no config of that name comes with confml", hint)


def _no_config(name: str, message: str, hint: str | None = None) -> ConfigErrors:
    return ConfigErrors([error_at(Mark(source=name or "''"), message, hint)])


def read_config(path_or_name: str) -> Draft:
    """Read a file (YAML, or the manifest of a run), or the bundled config of this name.

    Raises ConfigErrors if the file does not exist or does not contain a mapping.
    """
    path, shown = find_config(path_or_name)
    source: dict[str, Any] = {"folder": path.parent, "default_name": path.stem, "path": path}
    with contextlib.suppress(OSError, ValueError, RecursionError):  # the YAML reader gives the reason
        manifest = from_json(path.read_bytes()) if path.suffix == ".json" else None
        if isinstance(manifest, dict) and {"config", "cells", "format"} <= manifest.keys():
            return Draft(manifest["config"], Mark(source=shown), **source)
    return Draft(**vars(read_file(path, shown, "config", "datasets: [wine]")), **source)


def read_values(values: Mapping[str, Any], folder: Path | None = None, where: str = "") -> Draft:
    """Read a config from plain values. folder: base of relative paths; by default the current folder."""
    return Draft(_copied(values), Mark(source=where), folder=folder or Path.cwd())


def _copied(value: Any) -> Any:
    """Return plain values with keys that are texts, and lists in place of tuples and arrays of NumPy."""
    if isinstance(value, Mapping):
        return {str(key): _copied(item) for key, item in value.items()}
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return [_copied(item) for item in value] if isinstance(value, list | tuple) else value
