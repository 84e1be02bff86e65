"""Configs: read from YAML and checked completely before a run; each error has its line and column.

A config passes through five stages, which share a `Draft`: `read_config` (with positions),
`apply_overrides` (``--set``), `validate` (against `Config`), `check` (names and parameters against the
registries) and `resolve` (paths, seeds).
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from confml.config.draft import Draft
from confml.config.editor_schema import json_schema
from confml.config.overrides import apply_overrides
from confml.config.schema import Config, part_at
from confml.config.stages import (
    CheckOptions,
    bundled_configs,
    check,
    read_config,
    read_values,
    resolve,
    validate,
)

__all__ = ["Config", "bundled_configs", "json_schema", "load_config", "make_config", "restore_config"]


def load_config(
    path_or_name: str | Path,
    overrides: Sequence[str] = (),
    *,
    figures: Iterable[str] | None = None,
    tables: Iterable[str] | None = None,
    check_figure: CheckOptions | None = None,
) -> Config:
    """Return the config in a file, or the bundled config of this name.

    overrides: ``KEY=VALUE`` of the command line's ``--set``.
    figures, tables: the names of the figures and published tables that exist; None for no check.
    check_figure: called with a figure's name and options; raises a `ParameterError` for a wrong option.

    Raises ConfigErrors with all errors and their positions, in the order of the file.
    """
    return _finished(read_config(str(path_or_name)), overrides, figures, tables, check_figure)


def make_config(
    values: Mapping[str, Any],
    *,
    folder: Path | None = None,
    where: str = "config",
    overrides: Sequence[str] = (),
    figures: Iterable[str] | None = None,
    tables: Iterable[str] | None = None,
    check_figure: CheckOptions | None = None,
) -> Config:
    """Return a config from plain values, checked like one from a file.

    folder: relative paths count from it; the current folder by default. where: messages begin with it.
    Otherwise as `load_config`.
    """
    return _finished(read_values(values, folder, where), overrides, figures, tables, check_figure)


def restore_config(values: Mapping[str, Any]) -> Config:
    """Return the config of a result of `Config.as_dict`, such as the one in a manifest.

    Only the schema is checked; data sets and methods need not exist. Raises ConfigErrors.
    """
    draft = read_values(values)
    config = validate(draft)
    if config is None:
        raise draft.problems.error()
    return config


def _finished(
    draft: Draft,
    overrides: Sequence[str],
    figures: Iterable[str] | None,
    tables: Iterable[str] | None,
    check_figure: CheckOptions | None,
) -> Config:
    apply_overrides(draft, overrides, part_at)
    config = validate(draft)
    check(draft, figures, tables, check_figure)
    draft.problems.raise_any()
    if config is None:
        raise draft.problems.error()
    return resolve(config, draft)
