"""Stage 5: resolve relative paths and the seeds of synthetic data."""

from __future__ import annotations

from typing import Any

from confml.config.check_methods import file_parameters
from confml.config.dataset_spec import DatasetSpec
from confml.config.draft import Draft
from confml.config.method_entry import MethodEntry
from confml.config.schema import Config


def resolve(config: Config, draft: Draft) -> Config:
    """Return the config with absolute paths and a seed for every generated data set."""
    datasets = tuple(_resolved(dataset, config.seed, draft) for dataset in config.datasets)
    methods = tuple(_with_files(entry, draft) for entry in config.methods)
    return config.model_copy(update={"datasets": datasets, "methods": methods}).from_file(draft.path)


def _with_files(entry: MethodEntry, draft: Draft) -> MethodEntry:
    """Return the entry with absolute paths in the parameters that are paths of files."""
    names = file_parameters(entry.name)
    if not names:
        return entry
    params = {name: _path(value, draft) if name in names else value for name, value in entry.params.items()}
    sweep = {
        name: [_path(value, draft) for value in values] if name in names else values
        for name, values in entry.sweep.items()
    }
    return entry.model_copy(update={"params": params, "sweep": sweep})


def _path(value: Any, draft: Draft) -> str:
    return str(draft.file(str(value)))


def _resolved(dataset: DatasetSpec, seed: int, draft: Draft) -> DatasetSpec:
    if dataset.kind == "generate" and dataset.params.get("seed") is None:
        return dataset.model_copy(update={"params": {**dataset.params, "seed": seed}})
    paths = {key: getattr(dataset, key) for key in ("csv", "test")}
    files = {key: str(draft.file(path)) for key, path in paths.items() if path is not None}
    return dataset.model_copy(update=files) if files else dataset
