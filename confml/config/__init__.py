"""Configs: read from YAML and checked completely before a run; each error has its line and column.

A config is checked in two phases, whose errors are reported together. First its shape: `validate` compares it
with the pydantic model `Config`. Then its content: `check` compares the entries of the right shape with the
registries and with each other (do methods, data and protocol go together?). `apply_overrides` (``--set``)
comes before both, and `resolve` (paths, seeds) after them. All share a `Draft`.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from confml.config.draft import Draft
from confml.config.editor_schema import json_schema
from confml.config.overrides import apply_overrides
from confml.config.schema import Config
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


def load_config(path_or_name: str | Path, overrides: Sequence[str] = (), **known: Any) -> Config:
    """Return the config in a file, or the bundled config of this name.

    overrides: ``KEY=VALUE`` of the command line's ``--set``.
    known: ``figures`` and ``tables``, the names of the figures and published tables that exist, and
    ``check_figure``, which is called with a figure's name and options and raises a `ParameterError` for a
    wrong option. They are not checked where they are not given.

    Raises ConfigErrors with all errors and their positions, in the order of the file.
    """
    return _finished(read_config(str(path_or_name)), overrides, **known)


def make_config(
    values: Mapping[str, Any],
    *,
    folder: Path | None = None,
    where: str = "config",
    overrides: Sequence[str] = (),
    **known: Any,
) -> Config:
    """Return a config from plain values, checked like one from a file.

    folder: relative paths count from it; the current folder by default. where: messages begin with it.
    Otherwise as `load_config`.
    """
    return _finished(read_values(values, folder, where), overrides, **known)


def restore_config(values: Mapping[str, Any]) -> Config:
    """Return the config of a result of `Config.as_dict`, such as the one in a manifest.

    Only the shape is checked; data sets and methods need not exist. Raises ConfigErrors.
    """
    draft = read_values(values)
    return _without_errors(validate(draft), draft)


def _finished(
    draft: Draft,
    overrides: Sequence[str],
    figures: Iterable[str] | None = None,
    tables: Iterable[str] | None = None,
    check_figure: CheckOptions | None = None,
) -> Config:
    apply_overrides(draft, overrides)
    config = validate(draft)
    check(draft, figures, tables, check_figure)
    return resolve(_without_errors(config, draft), draft)


def _without_errors(config: Config | None, draft: Draft) -> Config:
    draft.problems.raise_any()
    if config is None:
        raise draft.problems.error()
    return config
