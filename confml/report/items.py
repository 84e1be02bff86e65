"""The items of a report: tables, texts, figures and notes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple


class NotApplicable(Exception):
    """There is nothing to show for a data set; the text says why."""


@dataclass(frozen=True, eq=False)
class CsvTable:
    """A CSV file: ``path`` below the run's folder, and its rows of numbers, texts and None."""

    path: str
    header: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Document:
    """A text file, such as JSON, Markdown or LaTeX."""

    path: str
    text: str


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


@dataclass(frozen=True)
class Note:
    """A sentence that the reader of the numbers should know."""

    text: str


class Mark(NamedTuple):
    """A cell with a mark. best: bold. sign: "*" or "+" after the text, or ""."""

    text: str
    best: bool = False
    sign: str = ""


@dataclass(frozen=True, eq=False)
class Grid:
    """A table with its title and notes, which the page shows and `confml.report.tables` writes.

    rows: texts and marked texts. keys: number of text columns on the left, which are aligned to the left.
    starts: for each row, whether a rule stands before it. source: a sentence below the title, with the notes
    below the table; without it the notes are part of the caption.
    """

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str | Mark]]
    keys: int = 1
    notes: Sequence[str] = ()
    starts: Sequence[bool] = ()
    source: str = ""

    def texts(self) -> list[list[str]]:
        """Return the cells without marks."""
        return [[cell.text if isinstance(cell, Mark) else cell for cell in row] for row in self.rows]


Item = CsvTable | Document | Picture | Note | Grid


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
