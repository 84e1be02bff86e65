"""`Report`: what a report of a run consists of so far, which later tables and the page read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from confml.report.files import csv_lines, place_of, write_file, write_lines
from confml.report.numbers.parameter_columns import parameter_columns, with_parameters
from confml.report.run.results import RunResults
from confml.report.shown_table import ShownTable, to_latex, to_markdown


class NotApplicable(Exception):
    """There is nothing to show for a data set; the text says why."""


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure: ``path`` without an ending, a function that draws it with matplotlib, title and caption.

    The function raises `NotApplicable` where there is nothing to show. title: figure and data set, as in
    "validity of usps". caption: sentences on content, data set, protocol, number of splits and bands.
    formats: of its files, besides SVG. dataset: "" for all data sets together.
    """

    path: str
    draw: Callable[[], Any]
    title: str
    caption: str = ""
    formats: Sequence[str] = ("png",)
    dataset: str = ""


@dataclass(eq=False)
class Report:
    """A report that is being written.

    run: its results. folder: of the files. outputs: what it consists of, in order. rows, columns: of each
    table, by the name of its file. shown: tables for readers, by name.
    notes: sentences on the numbers. pictures: the figures that were drawn. paths: of the written files.
    """

    run: RunResults
    folder: Path
    outputs: Sequence[Any] = ()
    rows: dict[str, list[Sequence[Any]]] = field(default_factory=dict)
    columns: dict[str, Sequence[str]] = field(default_factory=dict)
    shown: dict[str, ShownTable] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    paths: list[Path] = field(default_factory=list)

    def dicts(self, path: str, **equal: Any) -> list[Mapping[str, Any]]:
        """Return the rows of a table as mappings, those whose columns have the values ``equal``."""
        name = Path(path).name
        columns, rows = list(self.columns.get(name, equal)), self.rows.get(name, ())
        for column, value in equal.items():
            rows = [row for row in rows if row[columns.index(column)] == value]
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def write(self, path: str, text: str) -> None:
        """Write a text file, such as JSON, Markdown or LaTeX."""
        self.paths.append(write_file(self.folder / path, text))

    def write_csv(self, name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Write a table; parameters of methods get columns of their own at its end. name: of the file."""
        self.rows[name], self.columns[name] = list(rows), columns
        header, longer = with_parameters(columns, self.rows[name], self._parameters)
        self.paths.append(write_lines(self.folder / place_of(name), csv_lines(header, longer)))

    @cached_property
    def _parameters(self) -> dict[str, dict[tuple[str, str], Any]]:
        return parameter_columns(self.run)

    def write_shown(self, name: str, table: ShownTable, label: str, sideways: bool = False) -> None:
        """Write a table for readers as Markdown and LaTeX. name: of the files, without endings."""
        self.shown[name] = table
        self.write(f"tables/{name}.md", to_markdown(table))
        self.write(f"tables/{name}.tex", to_latex(table, label, sideways))

    def draw(self, picture: Picture) -> None:
        """Draw a figure and write it, or note why it is not drawn."""
        from confml.report.figures.style import save, style

        try:
            with style():
                self.paths += save(picture.draw(), self.folder / picture.path, picture.formats)
        except NotApplicable as reason:
            self.notes.append(f"figure {picture.title} is not drawn: {reason}")
        else:
            self.pictures.append(picture)
