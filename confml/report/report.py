"""`Report`: what a report of a run consists of so far, which later tables and the page read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confml.report.items import Grid, Picture
from confml.report.run.results import RunResults


@dataclass(eq=False)
class Report:
    """A report that is being written.

    run: its results. folder: of the files. outputs: what it consists of, in order. rows, columns: of each
    table, by its path. grids: by title. notes: sentences for ``notes.txt``. pictures: the figures that were
    drawn. paths: of all files, below the folder,
    and of their folders.
    """

    run: RunResults
    folder: Path
    outputs: Sequence[Any] = ()
    rows: dict[str, list[Sequence[Any]]] = field(default_factory=dict)
    columns: dict[str, Sequence[str]] = field(default_factory=dict)
    grids: dict[str, Grid] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    paths: set[str] = field(default_factory=set)

    def dicts(self, path: str, **equal: Any) -> list[Mapping[str, Any]]:
        """Return the rows of a table as mappings, those whose columns have the values ``equal``."""
        columns = self.columns.get(path, ())
        rows = (dict(zip(columns, row, strict=True)) for row in self.rows.get(path, ()))
        return [row for row in rows if all(row[name] == value for name, value in equal.items())]
