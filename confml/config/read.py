"""Stage 1: read a config with the place of every value."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from confml.config.draft import Draft
from confml.config.find import find_config
from confml.yaml import Document, Mark, Node, Problems, read_file

CONFIG = Document("config", "datasets: [wine]")


def read_config(path_or_name: str) -> Draft:
    """Read a file, or the config of this name that comes with confml.

    Raises ConfigErrors where there is no such file, or where it does not hold a mapping.
    """
    path, shown = find_config(path_or_name)
    problems = Problems()
    root = read_file(path, shown, problems, CONFIG)
    return Draft(root, problems, path.parent.absolute(), path.stem, path)


def read_values(values: Mapping[str, Any], folder: Path | None = None, where: str = "") -> Draft:
    """Take plain values as a config. folder: relative paths count from it, the current one by default."""
    folder = Path.cwd() if folder is None else folder
    return Draft(Node.of(values, Mark(source=where)), Problems(), folder.absolute(), "unnamed")
