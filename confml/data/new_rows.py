"""`RowCoder`: new rows in the columns of a training set, matched by name."""

import copy
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from confml.data.coding import CODINGS, code_columns, spelled_as
from confml.data.columns import (
    UnknownCategory,
    check_new_columns,
    code_features,
    missing_error,
    unknown_notes,
)
from confml.data.csv_table import DECIMALS, check_value
from confml.data.csv_text import CsvFormat
from confml.data.dataset import DataSet
from confml.data.text_table import Texts, TextTable, is_number, missing_texts, quoted
from confml.errors import ConfigError, DataError, in_quotes


@dataclass(frozen=True)
class NewRows:
    """n new rows, coded as the training set is.

    X: (n, d), which may be sparse, and table: (n, a), as in `DataSet`. complete: (n,) bool, whether no
    feature is missing. lines: (n,). ids: (n, k) text. labels: (n,) texts, None where the file has no label
    column. labelled: (n,) bool, which rows have a label that is not missing.
    """

    X: Any
    table: np.ndarray
    complete: np.ndarray
    lines: np.ndarray
    ids: np.ndarray
    labels: list[str] | None
    labelled: np.ndarray


class RowCoder:
    """The columns of a training set, and the coding of new rows in them.

    data: the training set. label: name of its label column, None if it has no name. unused: other columns
    of the training file, not features. missing: treatment of a missing feature: ``error``, or ``drop``
    and ``mean``, which keep it as NaN. decimal: the decimal mark of numbers in CSV files. csv_format: of the
    training file, by default of CSV files of new rows too.

    features, categories, id_columns: as ``table_attributes`` and so on of the training set.
    unknown: categories that no training row has and whole numbers that float64 changes, per column, of all
    rows coded so far.
    """

    ranges: np.ndarray | None = None  # (3, a), see `use_ranges`

    def __init__(
        self,
        data: DataSet,
        label: str | None = None,
        unused: Collection[str] = (),
        missing: str = "error",
        decimal: str = ".",
        csv_format: CsvFormat | None = None,
    ):
        self.label, self.missing, self.decimal = label, missing, decimal
        self._csv_format: tuple = tuple(csv_format or CsvFormat())
        self.number_marks = dict(data.number_marks)
        self.class_texts = tuple(map(str, data.classes.tolist()))
        self.features, self.categories = data.table_attributes, data.categories
        self.id_columns = data.id_columns
        self._unused = sorted({*unused, *data.id_columns, *([] if label is None else [label])})
        self._coding = _coding_of(data)
        self.unknown: dict[str, UnknownCategory] = {}

    def use_ranges(self, table: np.ndarray) -> None:
        """Take ``ranges`` (3, a) from the training rows (m, a): the smallest value, the largest value and the
        number of values of each feature; NaN, NaN and 0 for categories."""
        import pandas as pd

        numeric = [j for j, texts in enumerate(self.categories) if texts is None]
        ranges = pd.DataFrame(table).agg(["min", "max", "count"]).to_numpy(dtype=np.float64)
        self.ranges = np.tile([[np.nan], [np.nan], [0.0]], len(self.features))
        self.ranges[:, numeric] = ranges[:, numeric]

    def without_counts(self) -> "RowCoder":
        """Return a copy that has coded no rows yet."""
        fresh = copy.copy(self)
        fresh.unknown = {}
        return fresh

    def with_decimal(self, mark: str) -> "RowCoder":
        """Return a copy for CSV files with another decimal mark. Raises ConfigError for an unknown one."""
        check_value("decimal", mark, DECIMALS)
        coder = self.without_counts()
        coder.decimal = mark
        coder.number_marks = {
            name: tuple(char for char in marks if char != mark) for name, marks in self.number_marks.items()
        }
        return coder

    @property
    def csv_format(self) -> CsvFormat:
        """The format of the training file, which CSV files of new rows have by default."""
        return CsvFormat(*self._csv_format)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns that new rows may have."""
        return (*self.features, *self._unused)

    def check_columns(self, table: TextTable) -> list[str]:
        """Raise one DataError for all missing columns; return notes on columns that are not used."""
        notes = [*table.notes, *check_new_columns(table, self.features, self.columns)]
        gone = [name for name in self.id_columns if name not in table]
        if gone:
            columns = f"identifier columns of the training rows are missing: {quoted(gone)}"
            notes.append(f"{table.path.name}: {columns}")
        return notes

    def code(self, table: TextTable, first: bool = True) -> NewRows:
        """Return the rows of a table. first: whether they are the first ones of their file.

        Raises DataError for a text, an infinite or a missing value in a feature, and for first rows none of
        whose labels is a class.
        """
        n, features = len(table), self.features
        table = replace(table, missing=missing_texts(self.csv_format.missing_values))
        marks = self.number_marks
        values = code_features(table, features, self.categories, marks, self.decimal, self.unknown)
        missing = np.isnan(values)
        if self.missing == "error" and missing.any():
            hint = (
                "a fit with missing: mean (--missing mean) replaces them by training means, and one with "
                "missing: drop leaves such rows without a prediction"
            )
            raise missing_error(table, features, missing, hint)
        X, _ = code_columns(values, features, self.categories, self._coding)
        ids = [table.fields(name) if name in table else [""] * n for name in self.id_columns]
        labels, labelled = None, np.zeros(n, dtype=bool)
        if self.label is not None and self.label in table:
            texts, labels = table.texts(self.label), table.fields(self.label)
            labelled = texts.where(bool)
            if self.class_texts:
                of_rows = Texts(spelled_as(texts.distinct, self.class_texts), texts.codes).as_list()
                if first:
                    self._check_labels_meet({*of_rows} - {""}, str(table.path))
                labels = [text or field for text, field in zip(of_rows, labels, strict=True)]
        id_texts = np.array(ids, dtype=object).reshape(len(ids), n).T
        complete = np.asarray(~missing.any(axis=1))
        return NewRows(X, values, complete, table.lines, id_texts, labels, labelled)

    def _check_labels_meet(self, labels: Collection[str], where: str) -> None:
        """Raise DataError if no label is a class, unless all are one class that may be absent."""
        absent = len(labels) == 1 and all(map(is_number, labels)) == all(map(is_number, self.class_texts))
        if labels and not {*labels} & {*self.class_texts} and not absent:
            raise DataError(
                f"no label of the new rows is a class of the training rows: {quoted(sorted(labels))}, "
                f"and the classes are {quoted(self.class_texts)}",
                where=f"{where}, column {in_quotes(str(self.label))}",
                hint="write labels as in the training rows, or leave the column out",
            )

    def filled_features(self, rows: NewRows) -> list[tuple[str, ...]] | None:
        """Return the features of each new row that are filled in from the training rows; None if none is
        ever.
        """
        if self.missing != "mean":
            return None
        missing = np.isnan(rows.table)
        return [tuple(self.features[j] for j in np.flatnonzero(row)) for row in missing]

    def unknown_notes(self) -> list[str]:
        """Return sentences on the categories that no training row has, and on numbers that are rounded."""
        return unknown_notes(self.unknown, self.features, self.categories)


def _coding_of(data: DataSet) -> str:
    """Return the coding that made the columns of a data set from its table."""
    none = np.empty((0, len(data.table_attributes)))
    for coding in CODINGS:
        if code_columns(none, data.table_attributes, data.categories, coding)[1] == data.attributes:
            return coding
    raise ConfigError(f"data set '{data.name}' has columns that are not made of the columns of a file")
