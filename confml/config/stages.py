"""Stages of reading a config: read it with positions, validate it, check names and parameters, resolve paths.

Every check reads the entries that have the right form, so that all errors are reported together.
"""

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from confml._json import from_json
from confml._version import resource_folder
from confml.config.check_datasets import check_datasets
from confml.config.check_methods import check_methods, check_steps
from confml.config.check_protocol import check_figures, check_paper, check_protocol, check_repeats
from confml.config.costs import check_costs
from confml.config.dataset_spec import DatasetSpec, folder_name
from confml.config.draft import Draft
from confml.config.explain import note_errors
from confml.config.method_entry import MethodEntry
from confml.config.schema import Config
from confml.data.cards import known_cards
from confml.data.table_files import is_table_name
from confml.errors import ConfigErrors, ConfmlError, did_you_mean
from confml.yaml import Document, Mark, Node, Problems, read_file

CheckOptions = Callable[[str, Mapping[str, Any]], object]
CONFIG = Document("config", "datasets: [wine]")


def bundled_configs() -> dict[str, Path]:
    """Return the bundled configs by name; names in a subfolder contain it: papers/kubat/rates."""
    folder = resource_folder("configs")
    return {
        path.relative_to(folder).with_suffix("").as_posix(): path for path in sorted(folder.rglob("*.yaml"))
    }


def find_config(name: str) -> tuple[Path, str]:
    """Return the file of a config and its name in messages; raise ConfigErrors if there is none."""
    path, known = Path(name), dict[str, Path]()
    if os.path.exists(name) and not os.path.isdir(name):
        if not is_table_name(name):
            return path, name
        hint = f"confml init {name} --label COLUMN --out {path.stem}.yaml writes one"
        raise _no_config(name, "this is a table file, expected a config", hint)
    with contextlib.suppress(ConfmlError):  # a broken installation: config files can still be run
        known = bundled_configs()
    short = name.removesuffix(".yaml")  # folders may be omitted if the rest is unique
    below = [path for full, path in known.items() if short and full.endswith(f"/{short}")]
    if short in known or len(below) == 1:
        bundled = known.get(short) or below[0]
        return bundled, str(bundled)
    if os.path.isdir(name):
        raise _no_config(name, "this is a folder, expected a YAML file")
    if name in known_cards():
        hint = f"write a config with datasets: [{name}], methods: and protocol:, or confml run quickstart"
        raise _no_config(name, f"'{name}' is a data set, expected a config", hint)
    files = map(str, sorted(path.parent.glob("*.y*ml")))
    listed = did_you_mean(name, [*files, *known], list_all=False) or f"confml comes with {', '.join(known)}"
    raise _no_config(name, "no such file, and no config of that name comes with confml", listed)


def _no_config(name: str, message: str, hint: str | None = None) -> ConfigErrors:
    return Problems().stop(Mark(source=name or "''"), message, hint)


def read_config(path_or_name: str) -> Draft:
    """Read a file, or the bundled config of this name.

    Raises ConfigErrors if the file does not exist or does not contain a mapping.
    """
    path, shown = find_config(path_or_name)
    problems = Problems()
    root = _of_manifest(path, shown) or read_file(path, shown, problems, CONFIG)
    return Draft(root, problems, path.parent.absolute(), path.stem, path)


def _of_manifest(path: Path, shown: str) -> Node | None:
    """Return the config in the manifest of a run, None for any other file."""
    if path.suffix != ".json":
        return None
    try:
        values = from_json(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None  # the YAML reader says why
    if not isinstance(values, dict) or not {"config", "cells", "format"} <= values.keys():
        return None
    return Node.of(values["config"], Mark(source=shown))


def read_values(values: Mapping[str, Any], folder: Path | None = None, where: str = "") -> Draft:
    """Read a config from plain values. folder: base of relative paths; by default the current folder."""
    folder = Path.cwd() if folder is None else folder
    return Draft(Node.of(values, Mark(source=where)), Problems(), folder.absolute(), "unnamed")


def validate(draft: Draft) -> Config | None:
    """Return the config, or None if the draft does not match the schema; errors are noted in the draft.

    A config without a name gets the name of its file; a file of costs is read.
    """
    root = draft.root
    name = root.child("name")
    if name is None or name.content is None:
        root.content["name"] = Node(folder_name(draft.default_name), root.mark, root.mark)
    check_costs(draft)
    try:
        return Config.model_validate(root.plain(), by_alias=True, by_name=False)
    except ValidationError as error:
        note_errors(error, draft)
        return None


def check(
    draft: Draft,
    figures: Iterable[str] | None = None,
    tables: Iterable[str] | None = None,
    check_figure: CheckOptions | None = None,
) -> None:
    """Note errors in names and parameters. figures, tables: the names that exist; None for no check."""
    check_datasets(draft)
    check_steps(draft)
    check_methods(draft)
    check_protocol(draft)
    check_repeats(draft, "levels")
    check_repeats(draft, "thresholds")
    check_figures(draft, figures, check_figure)
    check_paper(draft, tables)


def resolve(config: Config, draft: Draft) -> Config:
    """Return the config with absolute paths and a seed for every generated data set."""
    datasets = tuple(_resolved(dataset, config.seed, draft) for dataset in config.datasets)
    methods = tuple(_with_files(entry, draft) for entry in config.methods)
    return config.model_copy(update={"datasets": datasets, "methods": methods}).from_file(draft.path)


def _with_files(entry: MethodEntry, draft: Draft) -> MethodEntry:
    """Return the entry with absolute paths in the parameters that are paths of files."""
    params, sweep = dict(entry.params), dict(entry.sweep)
    for (kind, name), value in entry.files():
        path = str(draft.file(str(value)))
        if kind == "params":
            params[name] = path
        else:
            sweep[name] = tuple(path if item == value else item for item in sweep[name])
    return entry.model_copy(update={"params": params, "sweep": sweep})


def _resolved(dataset: DatasetSpec, seed: int, draft: Draft) -> DatasetSpec:
    if dataset.kind == "generate" and dataset.params.get("seed") is None:
        return dataset.model_copy(update={"params": {**dataset.params, "seed": seed}})
    paths = {key: getattr(dataset, key) for key in ("csv", "test")}
    files = {key: str(draft.file(path)) for key, path in paths.items() if path is not None}
    return dataset.model_copy(update=files) if files else dataset
