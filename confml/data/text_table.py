"""`TextTable`: a table file as fields of text, whatever its format; each row with its line in the file."""

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from confml.data._words import is_number, short
from confml.data.memory import most, raised_by
from confml.errors import DataError, did_you_mean

_COMPRESSED = (".gz", ".bz2", ".zst")


@dataclass
class TextTable:
    """The fields of a table file as text, without the blanks around them.

    names: (m,) of the columns, all different. rows: n lists of m fields.
    lines: (n,) the line of the file on which each row begins, counted from 1; the row of the sheet or of the
        Parquet file where ``unit`` is ``row``. separator: of a CSV file, else None. notes: sentences.
    """

    path: Path
    names: list[str]
    rows: list[list[str]]
    lines: list[int]
    separator: str | None = None
    unit: str = "line"
    notes: list[str] = field(default_factory=list)

    def __post_init__(self):
        self.place = {name: at for at, name in enumerate(self.names)}  # of each column

    def column(self, name: str) -> list[str]:
        """Return (n,) the fields of a column."""
        at = self.place[name]
        return [row[at] for row in self.rows]

    def where(self, row: int, name: str | None = None) -> str:
        """Return the place of a row, and of its field in a column, for messages."""
        place = f"{self.path}, {self.unit} {self.lines[row]}"
        return place if name is None else f"{place}, column '{name}'"

    def keep(self, kept: Sequence[bool]) -> None:
        """Leave out the rows that are not to be kept."""
        self.rows = [row for row, stays in zip(self.rows, kept, strict=True) if stays]
        self.lines = [line for line, stays in zip(self.lines, kept, strict=True) if stays]


def table_name(path: Path | str) -> str:
    """Return the name of a table file without its endings: ``loans`` for ``loans.csv.gz``."""
    path = Path(path)
    return Path(path.stem).stem if path.suffix.lower() in _COMPRESSED else path.stem


def file_error(path: Path, error: OSError) -> DataError:
    """Return the error of a file that cannot be opened."""
    if isinstance(error, FileNotFoundError):
        try:
            beside = [other.name for other in path.parent.iterdir() if other.is_file()]
        except OSError:
            return DataError(f"no such file, nor a folder {path.parent}", where=str(path))
        return DataError(
            "no such file", where=str(path), hint=did_you_mean(path.name, beside, list_all=False)
        )
    if isinstance(error, IsADirectoryError):
        return DataError("this is a folder, not a table file", where=str(path))
    return DataError(f"cannot be read: {error.strerror or error}", where=str(path))


def require_regular(path: Path, pipes: bool = False) -> None:
    """Raise DataError for a path that is there and is no regular file. pipes: whether a pipe is accepted."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):  # reported where the file is opened
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or pipes and stat.S_ISFIFO(mode)):
        kind = "a pipe" if stat.S_ISFIFO(mode) else "a device or a socket"
        hint = "save its content as a file; confml predict reads new rows from standard input, as -"
        raise DataError(f"this is {kind}, not a regular file", where=str(path), hint=hint)


def check_width(columns: int, where: str) -> None:
    """Raise DataError for more columns than the limit."""
    if columns > (limit := most("COLUMNS", 200_000)):
        message = f"{columns:,} columns are more than the limit of {limit:,}"
        raise DataError(message, where=where, hint=raised_by("COLUMNS"))


def numbered_names(columns: int) -> list[str]:
    """Return the names of the columns of a table without a header: column-1, column-2, ..."""
    return [f"column-{at}" for at in range(1, columns + 1)]


def checked_names(path: Path, header: list[str], where: str) -> tuple[list[str], list[str]]:
    """Return the names of the columns, each different, and notes. Raises DataError for two of one name."""
    check_width(len(header), where)
    names, notes = [" ".join(name.split()) for name in header], []
    unnamed = [at for at, name in enumerate(names) if not name]
    for at in unnamed:
        names[at] = f"unnamed-{at + 1}"
    for at in unnamed[:3]:
        notes.append(f"{path.name}: column {at + 1} has no name, it is called '{names[at]}'")
    if len(unnamed) > 3:
        notes.append(f"{path.name}: {len(unnamed) - 3} more columns have no name")
    seen: dict[str, int] = {}
    for at, name in enumerate(names):
        first = seen.setdefault(name, at)
        if first != at:
            message = f"two columns are called '{short(name, 60)}': {first + 1} and {at + 1}"
            raise DataError(message, where=where, hint=header_hint(names) or "rename one of them")
    return names, notes


def header_hint(names: Sequence[str], rows: Sequence[Sequence[str]] = ()) -> str | None:
    """Return the remedy for a header that looks like a row of data, None for another one.

    It does if a name is a number and the numbers are no sequence such as 0, 1, 2, or if most names are values
    of their columns. rows: of the table.
    """
    numbers = [float(name) for name in names if is_number(name)]
    sequence = [number for number in numbers[:1] for number in range(int(number), int(number) + len(numbers))]
    repeated = sum(name in {row[at] for row in rows[:1000]} for at, name in enumerate(names))
    if (numbers and (numbers != sequence or len(numbers) == 1)) or 2 * repeated > len(names):
        return "the first line looks like data: if the file has no header, say header: false (--no-header)"
    return None
