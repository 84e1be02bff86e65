"""Tables of the page: cells as text, with an identifier for every row and value."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from markupsafe import Markup, escape

from confml.report.forms.columns import Column, column_of
from confml.report.forms.grid import Grid, Mark

_NUMBER = "[<\N{MINUS SIGN}+-]?(?:[0-9.]+(?:e[-+\N{MINUS SIGN}]?[0-9]+)?|inf)"
_NUMERIC = re.compile(
    rf"{_NUMBER}(?: ?(?:±|to|of|/|\[|\(|,) ?{_NUMBER})*(?: low)?[\])]?|best|lowest|"
    "\N{EN DASH}|\N{MIDDLE DOT}|"
)
WITH_IDS = 600  # cells of a table whose values are link targets
_LONG = 36  # characters of a text that may be broken


@dataclass(frozen=True)
class Cell:
    """One value: a text, or a number until `PageTable.add` writes it.

    best: bold. flag: a word that marks it, shown and read aloud. bar: 0 to 1. link: address of the text.
    """

    text: Any
    best: bool = False
    flag: str = ""
    bar: float | None = None
    shaded: bool = False
    link: str = ""

    def html(self, identifier: str, head: bool, numeric: bool) -> str:
        """Return the cell as an element.

        head: whether it names its row. numeric: whether its column has numbers only.
        """
        tag = "th" if head else "td"
        long = not numeric and len(self.text) > _LONG
        opened = f'<{tag} scope="row"' if head else f"<{tag}"
        if identifier:
            opened += f' id="{escape(identifier)}"'
        if numeric or long or self.best or self.flag or self.shaded:
            names = "n " * numeric + "long " * long + "best " * self.best
            flag = f"{escape(self.flag)} " if self.flag else ""
            opened += f' class="{names}{flag}{"shade" * self.shaded}"'
        bar = ""
        if self.bar is not None:
            bar = f'<span class="bar" aria-hidden="true"><i style="width:{100 * self.bar:.0f}%"></i></span>'
        text = f"<b>{escape(self.text)}</b>" if self.best else escape(self.text)
        if self.link:
            text = f'<a href="{escape(self.link)}">{text}</a>'
        below = f' <span class="flag">{self.flag}</span>' if self.flag in ("below", "low", "failed") else ""
        return f"{opened}>{bar}{text}{below}</{tag}>"


@dataclass
class PageTable:
    """A table, which is false without rows. heads: number of first columns that name the row.

    note: a sentence below it. linked: whether its values are link targets, if it is not too large. sortable:
    whether the script adds sorting and a filter. most: largest number of rows shown. file: has all rows.
    """

    id: str
    caption: str
    headings: Sequence[str]
    rows: list[list[Cell]] = field(default_factory=list)
    heads: int = 1
    note: str = ""
    sortable: bool = True
    kind: str = ""
    linked: bool = True
    most: int = 300
    file: str = ""

    def __bool__(self) -> bool:
        return bool(self.rows)

    def add(self, *values: Any) -> None:
        """Add a row of texts, numbers, which are written as their columns declare, and cells of either."""
        cells = (value if isinstance(value, Cell) else Cell(value) for value in values)
        pairs = zip(cells, map(column_of, self.headings), strict=True)
        self.rows.append([replace(cell, text=plain(cell.text, column)) for cell, column in pairs])

    @classmethod
    def of(cls, id: str, grid: Grid, file: str) -> "PageTable":
        """Return a grid as a table; cells with a sign are shaded."""
        table = cls(id, f"{grid.title}.", grid.headings, note=" ".join(grid.notes), file=file)
        for row in grid.rows:
            marks = (cell if isinstance(cell, Mark) else Mark(cell) for cell in row)
            table.add(*(Cell(one.text, one.best, shaded=one.best or bool(one.sign)) for one in marks))
        return table

    @property
    def shown(self) -> list[list[Cell]]:
        return self.rows[: self.most]

    @property
    def below(self) -> str:
        """The note, with the number of rows that are not shown and their file."""
        if len(self.rows) <= self.most:
            return self.note
        cut = f"The first {self.most} of {len(self.rows)} rows; all of them are in {self.file}."
        return f"{self.note} {cut}".strip()

    def mark_best(self, column: int, lowest: bool = True) -> None:
        """Make the best number of a column bold; all of them if several are equal as printed."""
        values = [number_of(row[column].text) for row in self.rows]
        known = [value for value in values if value is not None]
        if len(set(known)) < 2:
            return
        best = min(known) if lowest else max(known)
        for row, value in zip(self.rows, values, strict=True):
            if value == best:
                row[column] = Cell(row[column].text, True, row[column].flag, row[column].bar)

    @property
    def columns(self) -> list[tuple[str, bool, str]]:
        """Heading of each column, whether it has numbers only, and its definition or ""."""
        return [(one, n, column_of(one).about) for one, n in zip(self.headings, self.numeric, strict=True)]

    @property
    def numeric(self) -> list[bool]:
        """Whether each column has numbers only, which are aligned to the right."""
        columns = zip(*([cell.text for cell in row] for row in self.shown), strict=True)
        found = [all(map(_NUMERIC.fullmatch, column)) and any(column) for column in columns]
        return found or [False] * len(self.headings)

    @property
    def body(self) -> Markup:
        """The rows as HTML, without a template: it would take most of the time of a page with many cells."""
        numeric = self.numeric
        lines = []
        for row_id, row in self._cells():
            cells = (cell.html(id, n < self.heads, numeric[n]) for n, (id, cell) in enumerate(row))
            lines.append(f'<tr id="{escape(row_id)}">{"".join(cells)}</tr>\n')
        return Markup("".join(lines))

    def _cells(self) -> list[tuple[str, list[tuple[str, Cell]]]]:
        """Return (identifier of the row, (identifier or "", cell) of each of its values) of each row."""
        with_ids = self.linked and len(self.shown) * len(self.headings) <= WITH_IDS
        columns = unique([slug(heading) for heading in self.headings])
        names = unique([slug("-".join(cell.text for cell in row[: self.heads])) for row in self.shown])
        found = []
        for name, row in zip(names, self.shown, strict=True):
            of_row = f"{self.id}.{name}"
            ids = (f"{of_row}.{column}" if with_ids else "" for column in columns)
            found.append((of_row, list(zip(ids, row, strict=True))))
        return found


def plain(value: Any, column: Column) -> str:
    """Return a value of a column as text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return short(value) if column.digits is None else fixed(value, column.digits, column.factor)
    return str(value)


def short(value: float | None, digits: int = 4) -> str:
    """Return a number with a few significant digits; a dash where it is not defined."""
    if value is None or math.isnan(value):
        return "\N{EN DASH}"
    return f"{value:.{digits}g}".replace("-", "\N{MINUS SIGN}")


def fixed(value: float | None, digits: int = 2, scale: float = 1.0) -> str:
    """Return a number with a fixed number of decimals."""
    if value is None or math.isnan(value):
        return "\N{EN DASH}"
    return f"{scale * value:.{digits}f}".replace("-", "\N{MINUS SIGN}")


def spread(mean: float, sd: float, digits: int = 2, scale: float = 1.0) -> str:
    """Return mean ± sd."""
    text = fixed(mean, digits, scale)
    return text if math.isnan(sd) or math.isnan(mean) else f"{text} ± {fixed(sd, digits, scale)}"


def number_of(text: str) -> float | None:
    """Return the number that a cell begins with, or None."""
    found = re.match(r"<?([-+]?(?:[0-9.]+(?:e[-+]?[0-9]+)?|inf\b))", text.replace("\N{MINUS SIGN}", "-"))
    try:
        return float(found[1]) if found else None
    except ValueError:
        return None


def slug(text: str) -> str:
    """Return a text as part of an identifier: letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "x"


def unique(names: Sequence[str]) -> list[str]:
    """Return the names, with a number behind those that were there before."""
    taken = set(names)
    found: list[str] = []
    seen: set[str] = set()
    for name in names:
        new, number = name, 1
        while new in seen or (number > 1 and new in taken):
            number += 1
            new = f"{name}-{number}"
        seen.add(new)
        found.append(new)
    return found
