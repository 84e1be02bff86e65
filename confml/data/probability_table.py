"""`ProbabilityTable`: class probabilities that another program computed, joined to the rows of a data set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from confml.data.dataset import DataSet
from confml.data.table_files import read_table
from confml.data.text_table import TextTable, is_number, listed, short
from confml.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

SPLIT_COLUMNS = ("repeat", "fold")
NUMBERS = ("line", "row")
# Decimals that were cut off: the sum of a row may differ from 1 by this, and the row is divided by it.
SUM_TOLERANCE = 0.005


@dataclass(frozen=True, eq=False)
class ProbabilityTable:
    """Class probabilities for rows of a data set.

    path: the file. classes: (c,) labels, sorted. probabilities: (r, c), one row per line of the file.
    split_columns: those of ``repeat`` and ``fold`` that the file has. positions: for each value of them, the
    row of ``probabilities`` for each of the n rows of the data set, -1 for none. keys: text that identifies
    each row of the data set.
    """

    path: Path
    classes: np.ndarray
    probabilities: np.ndarray
    split_columns: tuple[str, ...]
    positions: Mapping[tuple[str, ...], np.ndarray]
    keys: "pd.DataFrame"

    def at(self, repeat: int | None, fold: int | None) -> np.ndarray:
        """Return (n,) the row of ``probabilities`` for each row of the data set in one split, -1 for none."""
        numbers = {"repeat": repeat, "fold": fold}
        split = tuple(str(numbers[name]) for name in self.split_columns)
        return self.positions.get(split, np.full(len(self.keys), -1))

    def check_rows(self, rows: np.ndarray, repeat: int | None, fold: int | None, part: str) -> None:
        """Raise DataError unless all ``rows`` of the data set have probabilities in one split.

        part: the name of the rows in the message.
        """
        without = rows[self.at(repeat, fold)[rows] < 0]
        if len(without):
            names = listed((_shown(self.keys, row) for row in without[:3]), 3)
            message = f"{len(without)} of {len(rows)} {part} have no probabilities: {names}"
            raise DataError(message, where=str(self.path), hint="add a line for each of them")


def read_probabilities(path: Path | str, data: DataSet, fixed_split: bool = False) -> ProbabilityTable:
    """Read a table file with one line per row of a data set, and a column per class.

    A class column is called as the class, or ``prob[<class>]``. The rows are identified by the id columns of
    the data set, else by ``line`` (of the data file), else by ``row`` (from 0, as in ``regions/``). A column
    ``part`` (train or test) is needed where lines of two files are alike; without it, ``line`` and ``row``
    count in the test part if ``fixed_split``. ``repeat`` and ``fold``, from 0, are for probabilities that
    differ per split. Raises DataError with the line and the column.
    """
    import pandas as pd

    table = read_table(Path(path))
    columns = _class_columns(table, data)
    names = _key_columns(table, data)
    keys = _keys_of_rows(data, names, fixed_split)
    rows = np.arange(len(data))
    if fixed_split and names[0] in NUMBERS and data.test_rows is not None:
        rows = data.test_rows
    if (repeated := keys.iloc[rows].duplicated()).any():
        message = f"{_shown(keys, rows[repeated.argmax()])} is not unique in the data set '{data.name}'"
        hint = "identify rows by line instead, or add the column part, with train or test"
        raise DataError(message, where=str(table.path), hint=hint)
    lines = pd.DataFrame({name: table.fields(name) for name in names})
    row = lines.merge(keys.iloc[rows].assign(**{"": rows}), how="left", on=names)[""]
    if (unknown := row.isna()).any():
        line = int(unknown.argmax())
        message = f"the data set '{data.name}' has no row with {_shown(lines, line)}"
        raise DataError(message, where=table.where(line, names[-1]), hint="remove the line, or correct it")
    split_columns = tuple(name for name in SPLIT_COLUMNS if name in table)
    splits = pd.DataFrame({name: table.fields(name) for name in split_columns}, index=row.index)
    if (repeated := splits.assign(row=row).duplicated()).any():
        line = int(repeated.argmax())
        hint = "remove one of the lines; probabilities per split need the columns repeat or fold"
        raise DataError(
            f"{_shown(lines, line)} is listed twice", where=table.where(line, names[-1]), hint=hint
        )
    positions: dict[tuple[str, ...], np.ndarray] = {}
    for line, split in enumerate(map(tuple, splits.to_numpy().tolist())):
        positions.setdefault(split, np.full(len(data), -1))[int(row[line])] = line
    return ProbabilityTable(
        table.path, data.classes, _probabilities(table, columns), split_columns, positions, keys
    )


def _class_columns(table: TextTable, data: DataSet) -> list[str]:
    """Return the column of each class. Raises DataError for a class without a column."""
    labels = [str(label) for label in data.classes.tolist()]
    columns = [name if (name := f"prob[{label}]") in table else label for label in labels]
    for label, name in zip(labels, columns, strict=True):
        if name not in table:
            raise DataError(
                f"there is no column of class '{short(label)}'",
                where=f"{table.path}, line 1",
                hint=f"one column is needed for each of {listed(labels)}",
                near=(label, table.names),
            )
    return columns


def _key_columns(table: TextTable, data: DataSet) -> list[str]:
    """Return the columns that identify rows: of identifiers, or ``line`` or ``row``, after ``part``."""
    numbers = NUMBERS if data.lines is not None else ("row",)
    for names in filter(None, (data.id_columns, *([name] for name in numbers))):
        if all(name in table for name in names):
            return [*(["part"] if "part" in table else []), *names]
    ids = [f"the id columns ({listed(data.id_columns)})"] if data.id_columns else []
    hint = f"add {', or '.join([*ids, 'line (of the data file)', 'row (from 0, as in regions/)'])}"
    raise DataError("no column identifies the rows", where=str(table.path), hint=hint)


def _keys_of_rows(data: DataSet, names: Sequence[str], fixed_split: bool) -> "pd.DataFrame":
    """Return the columns that identify the rows of the data set, as text."""
    import pandas as pd

    rows = np.arange(len(data))
    columns = {
        **data.identifiers(),
        "row": data.part_row(rows) if fixed_split or "part" in names else rows,
        "line": rows if data.lines is None else data.lines,
        "part": np.where(np.isin(rows, [] if data.test_rows is None else data.test_rows), "test", "train"),
    }
    return pd.DataFrame({name: columns[name] for name in names}).astype(str)


def _probabilities(table: TextTable, columns: Sequence[str]) -> np.ndarray:
    """Return (r, c) probabilities with sum 1 per row."""
    texts = zip(*map(table.fields, columns), strict=True)
    values = np.array([[float(text) if is_number(text) else np.nan for text in line] for line in texts])
    lines, classes = np.nonzero(~((values >= 0) & (values <= 1)))
    if len(lines):
        name, text = columns[classes[0]], table.text(lines[0], columns[classes[0]])
        message = f"a probability must be a number from 0 to 1, got '{short(text)}'"
        hint = "write 0.25 for 25 %, with a decimal point; every class needs a number on every line"
        raise DataError(message, where=table.where(lines[0], name), hint=hint)
    sums = values.sum(axis=1)
    wrong = np.flatnonzero(np.abs(sums - 1) > SUM_TOLERANCE)
    if len(wrong):
        first = int(wrong[0])
        raise DataError(
            f"the probabilities of {len(wrong)} of {len(sums)} rows do not sum to 1: {sums[first]:.6g} here",
            where=f"{table.where(first)}, columns '{columns[0]}' to '{columns[-1]}'",
            hint="divide each row by its sum, or use softmax for scores",
        )
    rounded = np.abs(sums - 1) > 1e-9
    values[rounded] /= sums[rounded, None]
    return values


def _shown(keys: "pd.DataFrame", at: int) -> str:
    return " ".join(f"{name} {short(value)}" for name, value in keys.iloc[at].items())
