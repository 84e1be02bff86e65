"""`TextTable`: a table file as columns of text, whatever its format, and the words of messages about it."""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from confml.data.memory import check_width
from confml.errors import DataError, did_you_mean, in_quotes

_IN_ANY_CASE = (
    *("", "?", "na", "n/a", "nan", "-nan", "+nan", "null"),
    *("<na>", "#na", "#n/a", "#n/a n/a", "#ind", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan"),
    *("1,#ind", "-1,#ind", "1,#qnan", "-1,#qnan"),
)
MISSING = frozenset(
    "".join(letters)
    for text in _IN_ANY_CASE
    for letters in itertools.product(*({letter, letter.upper()} for letter in text))
) | {"None"}  # "none" may be a category
BLANKS = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())  # as str.strip sees them
SHOWN = 3  # places that one message names
HAS_HEADER = "leave out header: false (init --no-header) if the first line is a header"


@dataclass(frozen=True)
class Texts:
    """The distinct texts of a column, in the order of their first rows, and (n,) the text of each row.

    Missing values are the empty text.
    """

    distinct: list[str]
    codes: np.ndarray

    def __len__(self) -> int:
        return len(self.codes)

    def where(self, chosen: Callable[[str], Any]) -> np.ndarray:
        """Return (n,) bool, whether the text of each row is chosen."""
        return np.array([bool(chosen(text)) for text in self.distinct], dtype=bool)[self.codes]

    def as_list(self) -> list[str]:
        """Return the n texts."""
        return [self.distinct[code] for code in self.codes.tolist()]


@dataclass
class TextTable:
    """The fields of a table as text, without the blanks around them.

    data: one column of strings, or of numbers of Parquet files and data frames, per column.
    lines: (n,) the line of the file on which each row begins, counted from 1; the row of the sheet or of the
        Parquet file where ``unit`` is ``row``.
    separator: of a CSV file, else None. notes: sentences. missing: the texts of missing values; an empty
        field is missing too.
    """

    path: Path
    data: pa.Table
    lines: np.ndarray
    separator: str | None = None
    unit: str = "line"
    notes: list[str] = field(default_factory=list)
    missing: frozenset[str] = MISSING

    @classmethod
    def of(cls, path: Path, header: Sequence[str], data: pa.Table, lines: np.ndarray, **fields) -> Self:
        """Return the table of columns under a header: names get one form, and missing ones are made up.

        others: further fields, and ``where``, the place of the header in messages. Raises DataError for more
        columns than the limit and for two columns of one name.
        """
        where = fields.pop("where")
        check_width(len(header), where)
        notes = list(fields.pop("notes", ()))
        names = [" ".join(name.split()) or f"unnamed-{at}" for at, name in enumerate(header, start=1)]
        if unnamed := [name for name, heading in zip(names, header, strict=True) if not heading.strip()]:
            notes.append(f"{path.name}: columns without a name are called {listed(unnamed, 3)}")
        first: dict[str, int] = {}
        for at, name in enumerate(names, start=1):
            if first.setdefault(name, at) != at:
                message = f"columns {first[name]} and {at} have the same name, '{short(name, 60)}'"
                raise DataError(message, where=where, hint=header_hint(names) or "rename one of them")
        return cls(path, data.rename_columns(names), lines, notes=notes, **fields)

    @cached_property
    def positions(self) -> dict[str, int]:
        """The number of each column by its name."""
        return {name: at for at, name in enumerate(self.data.column_names)}

    @property
    def names(self) -> list[str]:
        """The names of the columns, all different."""
        return list(self.positions)

    def __contains__(self, name: str) -> bool:
        return name in self.positions

    def __len__(self) -> int:
        return len(self.lines)

    def fields(self, name: str) -> list[str]:
        """Return the fields of a column as they are."""
        column = self.data.column(self.positions[name])
        return list(map(cell_text, column.to_pylist())) if is_numeric(column.type) else column.to_pylist()

    def text(self, row: int, name: str) -> str:
        """Return one field as it is."""
        return cell_text(self.data.column(self.positions[name])[int(row)].as_py())

    def texts(self, name: str) -> Texts:
        """Return the texts of a column."""
        column = self.data.column(self.positions[name])
        encoded = column.dictionary_encode(null_encoding="encode").combine_chunks()
        texts = list(map(cell_text, encoded.dictionary.to_pylist()))
        texts = ["" if text in self.missing else text for text in texts]
        position = {text: at for at, text in enumerate(dict.fromkeys(texts))}
        merged = np.array([position[text] for text in texts], dtype=np.intp)
        return Texts(list(position), merged[encoded.indices.to_numpy()])

    def where(self, row: int, name: str | None = None) -> str:
        """Return the place of a row, and of its field in a column, for messages."""
        location = f"{self.path}, {self.unit} {self.lines[row]}"
        return location if name is None else f"{location}, column {in_quotes(name)}"

    def keep(self, chosen: np.ndarray) -> None:
        """Leave out the rows that are not to be kept."""
        self.data, self.lines = self.data.filter(pa.array(chosen)), self.lines[chosen]

    def part(self, first: int, rows: int) -> "TextTable":
        """Return ``rows`` rows from the ``first`` on; only the first ones of a table have its notes."""
        lines = self.lines[first : first + rows]
        return replace(
            self, data=self.data.slice(first, rows), lines=lines, notes=[] if first else self.notes
        )


def missing_texts(texts: Iterable[str] | None) -> frozenset[str]:
    """Return the texts of missing values of a data set: those that are given, by default `MISSING`."""
    return MISSING if texts is None else frozenset(texts)


def numbered_names(columns: int) -> list[str]:
    """Return the names of the columns of a table without a header: column-1, column-2, ..."""
    return [f"column-{at}" for at in range(1, columns + 1)]


def header_hint(names: Sequence[str], table: TextTable | None = None) -> str | None:
    """Return the remedy for a header that looks like a row of data, None for another one.

    It does if a name is a number, and the numbers are not a sequence such as 0, 1, 2, or if most names are
    values of their columns. table: with these columns, where it is read.
    """
    numbers = [float(name) for name in names if is_number(name)]
    sequence = [number for number in numbers[:1] for number in range(int(number), int(number) + len(numbers))]
    head = {} if table is None else table.data.slice(0, 1000).to_pydict()
    repeated = sum(name in texts for name, texts in head.items())
    if (numbers and (numbers != sequence or len(numbers) == 1)) or 2 * repeated > len(names):
        return (
            "the first line looks like data; if the file has no header, set header: false (init --no-header)"
        )
    return None


def column_hint(name: str, names: Sequence[str], table: TextTable | None = None) -> str:
    """Return the hint on a column that a table does not have. table: where it is read."""
    there = f"the columns are {listed(names, 20)}"
    if list(names) == numbered_names(len(names)):
        return f"{there}; {HAS_HEADER}"
    hint = did_you_mean(name, names[:2000], list_all=False)
    hint = f"{hint} ({there})" if hint else there
    of_header = header_hint(names, table)
    return f"{hint}; {of_header}" if of_header else hint


# ---- words of messages


def is_number(text: str) -> bool:
    """Return whether a field is a number as Python reads it, without underscores; nan is none."""
    try:
        return "_" not in text and not math.isnan(float(text))
    except ValueError:
        return False


def at_lines(lines: Iterable[int], unit: str = "line") -> str:
    """Return ``lines 3, 5, 9 and 2 more``."""
    distinct = sorted(set(lines))
    shown = ", ".join(map(str, distinct[:SHOWN]))
    rest = len(distinct) - SHOWN
    return f"{unit}{'s' if len(distinct) > 1 else ''} {shown}" + (f" and {rest} more" if rest > 0 else "")


def listed(names: Iterable[str], most: int = 5) -> str:
    """Return names separated by commas, the first ``most`` of them."""
    names = list(names)
    shown = ", ".join(short(name, 60) for name in names[:most])
    return shown + (f", ... ({len(names)} in all)" if len(names) > most else "")


def quoted(names: Iterable[str], most: int = 5) -> str:
    """Return `listed`, each name in quotes."""
    return listed((in_quotes(short(name, 58)) for name in names), most)


def is_numeric(kind: pa.DataType) -> bool:
    """Return whether the values of a column are numbers, not text."""
    return pa.types.is_integer(kind) or pa.types.is_floating(kind)


def rows_without_values(data: pa.Table) -> np.ndarray:
    """Return (n,) bool, which rows have no value in any column."""
    empty = np.ones(data.num_rows, dtype=bool)
    for column in data.columns if data.num_rows else ():
        is_number = is_numeric(column.type)
        gaps = pc.is_null(column, nan_is_null=True) if is_number else pc.equal(column, "")
        empty &= gaps.to_numpy()
        if not empty.any():
            break
    return empty


def cell_text(value: Any) -> str:
    """Return a value as a CSV file would hold it; None and nan are empty."""
    if isinstance(value, str):
        return value.strip()
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return number_text(value)
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def number_text(value: float) -> str:
    """Return a number as text that reads back as the same number; whole numbers have no decimal point."""
    value = float(value)
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def short(text: str, most: int = 30) -> str:
    """Return a text on one line, of at most ``most`` characters."""
    text = " ".join(text[: 4 * most].split())
    return text if len(text) <= most else f"{text[: most - 3]}..."


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return ``1 row``, ``2 rows``."""
    return f"{count} {noun}" if count == 1 else f"{count} {plural or noun + 's'}"
