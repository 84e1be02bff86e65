"""The items of a report: tables, texts, figures and notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


class NotApplicable(Exception):
    """There is nothing to show for a data set; the text says why."""


@dataclass(frozen=True, eq=False)
class Table:
    """A table and the CSV file that holds it: ``path`` below the run's folder, with its ending.

    rows: numbers, texts and None, one sequence per row. shown: whether other sections read the rows again;
    otherwise they are not kept in memory.
    """

    path: str
    header: Sequence[str]
    rows: Iterable[Sequence[Any]]
    shown: bool = True


@dataclass(frozen=True, eq=False)
class Columns:
    """A table of many rows: ``columns`` are finished CSV fields (`confml.report.files.field`)."""

    path: str
    header: Sequence[str]
    columns: Sequence[Sequence[str]]


@dataclass(frozen=True, eq=False)
class Lines:
    """A CSV file of any number of rows, which is written while the rows are made and not kept in memory.

    lines: finished lines without the line break, the header first; ``confml.report.files.field`` makes
    fields.
    """

    path: str
    lines: Iterable[str]


@dataclass(frozen=True)
class Document:
    """A text file, such as JSON, Markdown or LaTeX."""

    path: str
    text: str


class Drawer(Protocol):
    """Draws several figures together."""

    def draw(self, picture: Picture, folder: Path) -> list[Path]:
        """Return the files of a figure below ``folder``; raise NotApplicable if there is nothing to show."""


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure: ``path`` without an ending, a function that draws it with matplotlib, title and caption.

    The function raises `NotApplicable` where there is nothing to show. title: figure and data set, as in
    "validity of usps". caption: sentences on content, data set, protocol, number of splits and bands.
    drawing: the figures of the section that are drawn together, in several processes.
    """

    path: str
    draw: Callable[[], Any]
    title: str
    caption: str = ""
    drawing: Drawer | None = None


@dataclass(frozen=True)
class Note:
    """A sentence that the reader of the numbers should know."""

    text: str


Item = Table | Columns | Lines | Document | Picture | Note


@dataclass(frozen=True, eq=False)
class PrintedTable:
    """A table for the console.

    right: columns from this one on are numbers, aligned to the right. keys: number of columns that identify a
    row; by default those before the first number.
    """

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[Any]]
    right: int | None = None
    keys: int | None = None
