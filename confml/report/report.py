"""`Report`: what a report of a run consists of so far, which later tables and the page read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from confml.plugins.parameters import value_text
from confml.report.files import place_of, write_csv, write_file
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
        header, written = list(columns), self.rows[name]
        if {"method", "params"} <= set(columns):
            parameters, values = self._parameters
            method, params = header.index("method"), header.index("params")
            header += [f"params.{parameter}" for parameter in parameters]
            empty = [None] * len(parameters)
            written = [[*row, *values.get((row[method], row[params]), empty)] for row in written]
        self.paths.append(write_csv(self.folder / place_of(name), header, written))

    @cached_property
    def _parameters(self) -> tuple[list[str], dict[tuple[str, str], list[Any]]]:
        """Return the parameters that the config sets, and their values by method and packed text."""
        variants = {(cell.method, cell.variant): cell.params for cell in self.run.cells}
        names = sorted({name for params in variants.values() for name in params})
        return names, {key: [_field(params, name) for name in names] for key, params in variants.items()}

    def write_shown(self, name: str, table: ShownTable, label: str, text: str = "") -> None:
        """Write a table for readers as Markdown, followed by a text, and as LaTeX.

        name: of the files, without endings.
        """
        self.shown[name] = table
        self.write(f"tables/{name}.md", to_markdown(table) + text)
        self.write(f"tables/{name}.tex", to_latex(table, label))

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


def _field(params: Mapping[str, Any], name: str) -> Any:
    """Return a parameter for one field: numbers and texts as they are, anything else as in ``params``."""
    value = params.get(name)
    return value if isinstance(value, str | int | float) or name not in params else value_text(value)
