"""The items of a report: tables, texts, figures and notes."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple


class NotApplicable(Exception):
    """There is nothing to show for a data set; the text says why."""


@dataclass(frozen=True, eq=False)
class Table:
    """A table and the CSV file that holds it: ``path`` below the run's folder, with its ending.

    rows: numbers, texts and None, one sequence per row. read: as in `TableKind`.
    """

    path: str
    header: Sequence[str]
    rows: Iterable[Sequence[Any]]
    read: bool = False


@dataclass(frozen=True)
class TableKind:
    """A table of a report, declared once: its file and its columns, given as words of one text or apart.

    read: whether the page uses its rows; otherwise they are not kept in memory.
    """

    path: str
    columns: Sequence[str]
    read: bool = False

    def __post_init__(self):
        if isinstance(self.columns, str):
            object.__setattr__(self, "columns", tuple(self.columns.split()))

    def of(self, rows: Iterable[Sequence[Any]]) -> Table:
        """Return the table with these rows."""
        return Table(self.path, self.columns, rows, self.read)


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


Item = Table | Lines | Document | Picture | Note | Grid


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
