"""Configs: read from YAML and checked completely before a run; each error has its line and column.

A config is checked in two phases, whose errors are reported together. First its shape: `validate` compares it
with the pydantic model `Config`. Then its content: `check_datasets`, `check_methods` and the others compare
the entries of the right shape with the registries and with each other (do methods, data and protocol go
together?). `apply_overrides` (``--set``) comes before both, and `_resolved` (paths, seeds) after them. All
share a `Draft`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from confml.config.check_datasets import check_datasets
from confml.config.check_methods import check_methods, check_steps
from confml.config.check_protocol import check_figures, check_paper, check_protocol, check_repeats
from confml.config.dataset_spec import DatasetSpec
from confml.config.draft import Draft
from confml.config.editor_schema import json_schema
from confml.config.method_entry import MethodEntry
from confml.config.overrides import apply_overrides
from confml.config.read import bundled_configs, read_config, read_values
from confml.config.schema import Config
from confml.config.validate import validate

__all__ = ["Config", "bundled_configs", "json_schema", "load_config", "make_config", "restore_config"]


def load_config(path_or_name: str | Path, overrides: Sequence[str] = (), **names: Any) -> Config:
    """Return the config in a file, or the bundled config of this name.

    overrides: ``KEY=VALUE`` of the command line's ``--set``.
    names: ``figures`` and ``tables``, the names of the figures and published tables that exist, and
    ``check_figure``, which is called with a figure's name and options and raises a `ParameterError` for a
    wrong option. They are not checked where they are not given.

    Raises ConfigErrors with all errors and their positions, in the order of the file.
    """
    return _checked(read_config(str(path_or_name)), overrides, **names)


def make_config(
    values: Mapping[str, Any],
    *,
    folder: Path | None = None,
    where: str = "config",
    overrides: Sequence[str] = (),
    **names: Any,
) -> Config:
    """Return a config from plain values, checked like one from a file.

    folder: relative paths count from it; the current folder by default. where: messages begin with it.
    Otherwise as `load_config`.
    """
    return _checked(read_values(values, folder, where), overrides, **names)


def restore_config(values: Mapping[str, Any]) -> Config:
    """Return the config of a result of `Config.as_dict`, such as the one in a manifest.

    Only the shape is checked; data sets and methods need not exist. Raises ConfigErrors.
    """
    draft = read_values(values)
    return _without_errors(validate(draft), draft)


def _checked(
    draft: Draft,
    overrides: Sequence[str],
    figures: Collection[str] | None = None,
    tables: Collection[str] | None = None,
    check_figure: Callable[[str, Mapping[str, Any]], object] | None = None,
) -> Config:
    apply_overrides(draft, overrides)
    config = validate(draft)
    check_datasets(draft)
    check_steps(draft)
    check_methods(draft)
    check_protocol(draft)
    check_repeats(draft, "levels")
    check_repeats(draft, "thresholds")
    check_figures(draft, figures, check_figure)
    check_paper(draft, tables)
    return _resolved(_without_errors(config, draft), draft)


def _without_errors(config: Config | None, draft: Draft) -> Config:
    draft.problems.raise_any()
    assert config is not None
    return config


def _resolved(config: Config, draft: Draft) -> Config:
    """Return the config with absolute paths, and with defaults that depend on other keys."""
    datasets = tuple(_resolved_dataset(dataset, config.seed, draft) for dataset in config.datasets)
    methods = tuple(_resolved_entry(entry, config.levels, draft) for entry in config.methods)
    return config.model_copy(update={"datasets": datasets, "methods": methods}).from_file(draft.path)


def _resolved_entry(entry: MethodEntry, levels: Sequence[float], draft: Draft) -> MethodEntry:
    """Return the entry with absolute paths of files, and ``best-of-level``: by default the first level."""
    params, sweep, conformal = dict(entry.params), dict(entry.sweep), entry.conformal
    for (kind, name), value in entry.files():
        path = str(draft.file(str(value)))
        if kind == "params":
            params[name] = path
        else:
            sweep[name] = tuple(path if item == value else item for item in sweep[name])
    if conformal is not None and conformal.params.get("best_of") and levels:
        level = conformal.params.get("best_of_level", levels[0])
        conformal = conformal.model_copy(update={"params": {**conformal.params, "best_of_level": level}})
    return entry.model_copy(update={"params": params, "sweep": sweep, "conformal": conformal})


def _resolved_dataset(dataset: DatasetSpec, seed: int, draft: Draft) -> DatasetSpec:
    """Return the data set with absolute paths, or with a seed for its generator."""
    if dataset.kind == "generate" and dataset.params.get("seed") is None:
        return dataset.model_copy(update={"params": {**dataset.params, "seed": seed}})
    paths = {key: getattr(dataset, key) for key in ("csv", "test")}
    return dataset.model_copy(update={key: str(draft.file(path)) for key, path in paths.items() if path})
