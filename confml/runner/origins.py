"""`RowOrigins`: lines, identifiers and columns of the rows of a data set, stored in the folder of a run for
its reports."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from confml._seeds import stable_hash
from confml.data.dataset import DataSet
from confml.errors import ConfigError
from confml.runner.store import Store

if TYPE_CHECKING:  # worker processes do without pydantic
    from confml.config import Config

KIND = "rows"
MISSING = "missing"  # the group of rows without a value


@dataclass(frozen=True, eq=False)
class RowOrigins:
    """Origin of each of the n rows of a data set.

    lines: (n,) line of the file, counted from 1 with the header, or None. The rows of a test part have lines
    of the test file. ids: (n, k) text, or None. id_columns: k names. test_rows: row numbers of the provider's
    test part, or None without parts. values: (n,) numbers or texts of each column of ``coverage-by``.
    """

    lines: np.ndarray | None = None
    ids: np.ndarray | None = None
    id_columns: tuple[str, ...] = ()
    test_rows: np.ndarray | None = None
    values: Mapping[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    def of(cls, data: DataSet, values: Mapping[str, np.ndarray] | None = None) -> RowOrigins:
        return cls(data.lines, data.ids, data.id_columns, data.test_rows, values or {})

    def values_of(self, rows: np.ndarray, split: str) -> dict[str, np.ndarray]:
        """Return ``values`` of reported rows (m,) of a split."""
        at = self.places(rows, split)
        return {name: values[at] for name, values in self.values.items()}

    def columns(self, rows: np.ndarray, split: str, others: Collection[str] = ()) -> dict[str, np.ndarray]:
        """Return the columns that identify reported rows (m,) of a split, by name.

        ``line``; ``part`` (``train`` or ``test``) where the parts of the provider are pooled, because lines
        are then those of two files; and the columns of identifiers. An identifier with the name of another
        column (``others``) is called ``id.<name>``.
        """
        at = self.places(rows, split)
        columns: dict[str, np.ndarray] = {}
        if self.lines is not None:
            columns["line"] = self.lines[at]
            if split != "fixed" and self.test_rows is not None:
                columns["part"] = np.where(np.isin(at, self.test_rows), "test", "train")
        ends = {"row", "line", "part", "label", *others}
        for j, name in enumerate(self.id_columns if self.ids is not None else ()):
            columns[f"id.{name}" if name in ends else name] = self.ids[at, j]  # type: ignore[index]
        return columns

    def places(self, rows: np.ndarray, split: str) -> np.ndarray:
        """Return the places (m,) of reported rows in the data set."""
        rows = np.asarray(rows)
        return rows if self.test_rows is None or split != "fixed" else self.test_rows[rows]

    def write(self, store: Store, key: str) -> None:
        """Write the record of a key, unless it is there."""
        if store.has(KIND, key):
            return
        named = {"lines": self.lines, "ids": self.ids, "test_rows": self.test_rows}
        arrays = {name: np.asarray(values) for name, values in named.items() if values is not None}
        document: dict[str, list[str]] = {"id_columns": list(self.id_columns)}
        if self.values:
            document["coverage_by"] = list(self.values)
            arrays |= {f"value.{number}": values for number, values in enumerate(self.values.values())}
        store.write(KIND, key, document, arrays)

    @classmethod
    def read(cls, store: Store, key: str) -> RowOrigins | None:
        """Return the record of a key; None if it is not stored or damaged."""
        record = store.read(KIND, key)
        if record is None:
            return None
        document, arrays = record
        values = {
            name: arrays[f"value.{number}"] for number, name in enumerate(document.get("coverage_by", ()))
        }
        columns = tuple(document["id_columns"])
        return cls(arrays.get("lines"), arrays.get("ids"), columns, arrays.get("test_rows"), values)


def origins_key(data: DataSet, columns: Mapping[str, np.ndarray] | None = None) -> str | None:
    """Return the key of the record of a data set; None if its rows have neither lines, identifiers nor
    ``columns`` of ``coverage-by``."""
    columns = columns or {}
    if data.lines is None and data.ids is None and not columns:
        return None
    digest = hashlib.sha256()
    for values in (data.lines, data.ids, *columns.values()):
        if values is not None:
            digest.update(f"{values.dtype.str} {values.shape}\n".encode())
            digest.update(np.ascontiguousarray(values).tobytes())
    parts = ["rows", data.name, data.checksum, list(data.id_columns), digest.hexdigest()]
    return stable_hash(*parts, *([list(columns)] if columns else []))[:32]


def coverage_columns(config: Config, datasets: Mapping[str, DataSet]) -> dict[str, dict[str, np.ndarray]]:
    """Return the columns of ``coverage-by`` that each data set has: data set -> name -> (n,) values.

    Raises ConfigError for a column that no data set has.
    """
    specs = {spec.name: spec for spec in config.datasets}
    columns_of_sets = {
        key: grouping_columns(data, config.coverage_by, specs[key].groups) for key, data in datasets.items()
    }
    for name in config.coverage_by:
        if any(name in columns for columns in columns_of_sets.values()):
            continue
        ignored = [key for key, spec in specs.items() if name in (spec.ignore or ())]
        known_columns = [
            column for data in datasets.values() for column in (*data.table_attributes, *data.id_columns)
        ]
        message = f"coverage-by: no data set has the column '{name}'"
        if ignored:
            hint = f"list it under id: in place of ignore: of {ignored[0]}; methods do not see either"
            raise ConfigError(message, hint=hint)
        raise ConfigError(message, near=(name, known_columns))
    return columns_of_sets


def grouping_columns(data: DataSet, names: Sequence[str], groups: str | None = None) -> dict[str, np.ndarray]:
    """Return the columns of a data set among ``names``: name -> (n,) numbers, or texts of categories.

    A column is a feature, an identifier (numbers if all its texts are) or the column ``groups``.
    """
    columns: dict[str, np.ndarray] = {}
    identifiers = data.identifiers()
    for name in names:
        if name in data.table_attributes:
            column = data.table_attributes.index(name)
            values, categories = data.table[:, column], data.categories[column]
            if categories is not None:
                texts = np.array([*categories, MISSING])
                values = texts[np.where(np.isnan(values), len(categories), values).astype(np.intp)]
            columns[name] = np.ascontiguousarray(values)
        elif name in identifiers:
            try:
                columns[name] = identifiers[name].astype(np.float64)
            except ValueError:
                columns[name] = np.where(identifiers[name] == "", MISSING, identifiers[name])
        elif name == groups and data.groups is not None:
            columns[name] = np.asarray(data.groups).astype(str)
    return columns
