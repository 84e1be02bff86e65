"""`ProbabilityTable`: class probabilities that another program computed, joined to the rows of a data set."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from confml.data.coding import numbers_of, plain_numbers
from confml.data.dataset import DataSet
from confml.data.table_files import read_table
from confml.data.text_table import TextTable, listed, short
from confml.errors import DataError, in_quotes

SPLIT_COLUMNS = ("repeat", "fold")
NUMBERS = ("line", "row")
PARTS = ("train", "test")
# Decimals that were cut off: the sum of a row may differ from 1 by this, and the row is divided by it.
SUM_TOLERANCE = 0.005

SplitKey = tuple[int | None, int | None]


@dataclass(frozen=True, eq=False)
class ProbabilityTable:
    """Class probabilities for rows of a data set.

    path: the file. classes: (c,) labels, sorted. probabilities: (r, c), one row per line of the file.
    lines: (r,) line of the file. places: for each (repeat, fold) of the file the row of ``probabilities`` for
    each of the n rows of the data set, -1 for none; None stands for every repeat, or fold. names: (n,) text
    that identifies a row of the data set in messages.
    """

    path: Path
    classes: np.ndarray
    probabilities: np.ndarray
    lines: np.ndarray
    places: Mapping[SplitKey, np.ndarray]
    names: Sequence[str]

    def at(self, repeat: int | None, fold: int | None) -> np.ndarray:
        """Return (n,) the row of ``probabilities`` for each row of the data set in one split, -1 for none."""
        has_repeat, has_fold = (any(key[j] is not None for key in self.places) for j in (0, 1))
        key = (repeat if has_repeat else None, fold if has_fold else None)
        return self.places.get(key, np.full(len(self.names), -1))

    def check_rows(self, rows: np.ndarray, repeat: int | None, fold: int | None, part: str) -> None:
        """Raise DataError unless all ``rows`` of the data set have probabilities in one split.

        part: the name of the rows in the message.
        """
        without = rows[self.at(repeat, fold)[rows] < 0]
        if len(without):
            names = listed([self.names[row] for row in without.tolist()], 3)
            raise DataError(
                f"{len(without)} of {len(rows)} {part} have no probabilities: {names}",
                where=str(self.path),
                hint="add a line for each of them",
            )


def read_probabilities(path: Path | str, data: DataSet, fixed_split: bool = False) -> ProbabilityTable:
    """Read a table file with one line per row of a data set, and a column per class.

    A class column is called as the class, or ``prob[<class>]``. The rows are identified by the id columns of
    the data set, else by ``line`` (of the data file), else by ``row`` (from 0, as in ``regions/``). A column
    ``part`` (train or test) is needed where lines of two files are alike; without it, ``line`` and ``row``
    count in the test part if ``fixed_split``. ``repeat`` and ``fold``, from 0, are for probabilities that
    differ per split. Raises DataError with the line and the column.
    """
    table = read_table(Path(path))
    labels = [str(label) for label in data.classes.tolist()]
    columns = _class_columns(table, data, labels)
    keys = _key_columns(table, data)
    row_of = _rows_by_key(table, data, keys, fixed_split)
    repeats, folds = (_numbers(table, name) for name in SPLIT_COLUMNS)
    positions: dict[SplitKey, np.ndarray] = {}
    for at, key in enumerate(zip(*(table.fields(name) for name in keys), strict=True)):
        key = (*key[:-1], str(int(key[-1]))) if keys[-1] in NUMBERS and key[-1].isdecimal() else key
        if "part" in keys and key[0] not in PARTS:
            message = f"part must be train or test, got '{short(key[0])}'"
            raise DataError(message, where=table.where(at, "part"))
        row = row_of.get(key)
        if row is None:
            message = f"the data set '{data.name}' has no row with {_shown(keys, key)}"
            raise DataError(message, where=table.where(at, keys[-1]), hint="remove the line, or correct it")
        of_split = positions.setdefault((repeats[at], folds[at]), np.full(len(data), -1))
        if of_split[row] >= 0:
            raise DataError(
                f"{_shown(keys, key)} is listed twice, first on {table.unit} {table.lines[of_split[row]]}",
                where=table.where(at, keys[-1]),
                hint="remove one of the lines; probabilities per split need the columns repeat or fold",
            )
        of_split[row] = at
    names = [f"row {row}" for row in range(len(data))]
    for key, row in row_of.items():
        names[row] = _shown(keys, key)
    probabilities = _probabilities(table, columns)
    return ProbabilityTable(table.path, data.classes, probabilities, table.lines, positions, names)


# ---- columns


def _class_columns(table: TextTable, data: DataSet, labels: Sequence[str]) -> list[str]:
    """Return the column of each class; raise DataError for columns that are missing or unknown."""
    by_label = {label: next((c for c in (label, f"prob[{label}]") if c in table), None) for label in labels}
    others = {*SPLIT_COLUMNS, *NUMBERS, "part", *data.id_columns, *by_label.values()}
    missing = [label for label, column in by_label.items() if column is None]
    extra = [name for name in table.names if name not in others]
    where = f"{table.path}, line 1"
    if missing:
        message = f"there is no column of class '{short(missing[0])}'"
        hint = f"one column is needed for each of {listed(labels)}"
        raise DataError(message, where=where, hint=hint, near=(missing[0], extra) if extra else None)
    if extra:
        message = f"'{short(extra[0])}' is not a class of the data set '{data.name}'"
        where = f"{where}, column {in_quotes(short(extra[0]))}"
        raise DataError(message, where=where, hint=f"remove the column; the classes are {listed(labels)}")
    return [str(by_label[label]) for label in labels]


def _key_columns(table: TextTable, data: DataSet) -> tuple[str, ...]:
    """Return the columns that identify rows."""
    part = ("part",) if "part" in table else ()
    if data.id_columns and all(name in table for name in data.id_columns):
        return (*part, *data.id_columns)
    for name in NUMBERS:
        if name in table and not (name == "line" and data.lines is None):
            return (*part, name)
    ways = [f"the id columns ({listed(data.id_columns)})"] if data.id_columns else []
    ways += ["line (of the data file)"] if data.lines is not None else []
    hint = f"add {', or '.join([*ways, 'row (from 0, as in regions/)'])}"
    raise DataError("no column identifies the rows", where=str(table.path), hint=hint)


def _rows_by_key(
    table: TextTable, data: DataSet, keys: tuple[str, ...], fixed_split: bool
) -> dict[tuple[str, ...], int]:
    """Return the row of the data set for each value of the key columns."""
    rows, name = np.arange(len(data)), keys[-1]
    if name in data.id_columns:
        values = [tuple(texts) for texts in np.asarray(data.ids).tolist()]
    else:
        if fixed_split and "part" not in keys and data.test_rows is not None:
            rows = np.asarray(data.test_rows)
        by_part = data.part_row(rows) if fixed_split or "part" in keys else rows
        numbers = np.asarray(data.lines)[rows] if name == "line" else by_part
        values = [(str(number),) for number in numbers.tolist()]
    if "part" in keys:
        is_test = np.isin(rows, [] if data.test_rows is None else data.test_rows).tolist()
        values = [(PARTS[test], *key) for key, test in zip(values, is_test, strict=True)]
    row_of = dict(zip(values, rows.tolist(), strict=True))
    if len(row_of) < len(values):
        key = next(key for key, count in Counter(values).items() if count > 1)
        hint = "identify rows by line instead"
        hint = hint if data.test_rows is None else "add the column part, with train or test"
        message = f"{_shown(keys, key)} is not unique in the data set '{data.name}'"
        raise DataError(message, where=str(table.path), hint=hint)
    return row_of


def _numbers(table: TextTable, name: str) -> list[int] | list[None]:
    """Return the repeat or fold of each line; None without the column."""
    if name not in table:
        return [None] * len(table)
    texts = table.fields(name)
    wrong = next((at for at, text in enumerate(texts) if not text.isdecimal()), None)
    if wrong is not None:
        message = f"{name} must be a whole number from 0, got '{short(texts[wrong])}'"
        raise DataError(message, where=table.where(wrong, name))
    return list(map(int, texts))


# ---- values


def _probabilities(table: TextTable, columns: Sequence[str]) -> np.ndarray:
    """Return (r, c) probabilities with sum 1 per row."""
    values, plain = plain_numbers(table, columns, ".")
    for j in np.flatnonzero(~plain):
        texts = table.texts(columns[int(j)])
        values[:, j] = numbers_of(texts.distinct, ".")[0][texts.codes]
    rows, column_numbers = np.nonzero(~((values >= 0) & (values <= 1)))
    if len(rows):
        name, text = columns[column_numbers[0]], table.text(rows[0], columns[column_numbers[0]])
        message = f"a probability must be a number from 0 to 1, got '{short(text)}'"
        hint = "write 0.25 for 25 %, with a decimal point; every class needs a number on every line"
        raise DataError(message, where=table.where(rows[0], name), hint=hint)
    values = np.ascontiguousarray(values)
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


def _shown(keys: tuple[str, ...], key: tuple[str, ...]) -> str:
    return " ".join(f"{name} {short(value)}" for name, value in zip(keys, key, strict=True))
