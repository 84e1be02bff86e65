"""Stage 1: read a config with the position of every value."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from confml.config.draft import Draft
from confml.config.find import find_config
from confml.yaml import Document, Mark, Node, Problems, read_file

CONFIG = Document("config", "datasets: [wine]")


def read_config(path_or_name: str) -> Draft:
    """Read a file, or the bundled config of this name.

    Raises ConfigErrors if the file does not exist or does not contain a mapping.
    """
    path, shown = find_config(path_or_name)
    problems = Problems()
    root = read_file(path, shown, problems, CONFIG)
    return Draft(root, problems, path.parent.absolute(), path.stem, path)


def read_values(values: Mapping[str, Any], folder: Path | None = None, where: str = "") -> Draft:
    """Read a config from plain values. folder: base of relative paths; by default the current folder."""
    folder = Path.cwd() if folder is None else folder
    return Draft(Node.of(values, Mark(source=where)), Problems(), folder.absolute(), "unnamed")
