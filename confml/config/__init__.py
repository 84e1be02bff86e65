"""Configs: read from YAML, checked in full before anything runs, with the place of every mistake."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from confml.config.check_datasets import check_datasets
from confml.config.check_methods import check_methods, check_steps
from confml.config.checks import Checker, check_figures, check_paper, check_protocol, check_repeats
from confml.config.editor_schema import json_schema
from confml.config.explain import note_errors
from confml.config.find import bundled_configs, find_config
from confml.config.overrides import apply_overrides
from confml.config.schema import Config, folder_name
from confml.yaml import Document, Mark, Node, Problems, read_file

__all__ = ["Config", "bundled_configs", "json_schema", "load_config", "make_config"]

CheckOptions = Callable[[str, Mapping[str, Any]], None]


def load_config(
    path_or_name: str | Path,
    overrides: Sequence[str] = (),
    *,
    figures: Iterable[str] | None = None,
    tables: Iterable[str] | None = None,
    check_figure: CheckOptions | None = None,
) -> Config:
    """The config in a file, or the one of this name that comes with confml.

    overrides: ``KEY=VALUE`` of the command line's ``--set``.
    figures, tables: the names of figures and published tables that exist; not checked where None. Reports
    know them, and configs do not import reports.
    check_figure: called with a figure's name and options, raises ConfmlError for options that do not fit.

    Raises ConfigErrors with everything that is wrong, each with its place, in the order of the file.
    """
    path, shown = find_config(str(path_or_name))
    problems = Problems()
    root = read_file(path, shown, problems, Document("config", "datasets: [wine]"))
    config = _checked(root, path.parent, path.stem, overrides, problems, figures, tables, check_figure)
    config._path = path
    return config


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
    """A config out of plain values, checked as one out of a file is; ``where`` is what messages begin with.

    folder: what relative paths count from; the current one unless given. Raises ConfigErrors.
    """
    root = Node.of(values, Mark(source=where))
    folder = Path.cwd() if folder is None else folder
    return _checked(root, folder, "unnamed", overrides, Problems(), figures, tables, check_figure)


def _checked(
    root: Node,
    folder: Path,
    name: str,
    overrides: Sequence[str],
    problems: Problems,
    figures: Iterable[str] | None,
    tables: Iterable[str] | None,
    check_figure: CheckOptions | None,
) -> Config:
    apply_overrides(root, overrides, problems)
    if root.child("name") is None or root.child("name").content is None:
        root.content["name"] = Node(folder_name(name), root.mark, root.mark)
    checker = Checker(root, folder.absolute(), problems)
    config = None
    try:
        config = Config.model_validate(root.plain(), context=checker.context, by_alias=True, by_name=False)
    except ValidationError as error:
        note_errors(error, root, problems)
    check_datasets(checker)
    check_steps(checker)
    check_methods(checker)
    check_protocol(checker)
    check_repeats(checker, "levels")
    check_repeats(checker, "thresholds")
    check_figures(checker, figures, check_figure)
    check_paper(checker, tables)
    problems.raise_any()
    return config
