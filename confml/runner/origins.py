"""`RowOrigins`: lines and identifiers of the rows of a data set, stored in the folder of a run for
its reports."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import joblib
import numpy as np

from confml._seeds import stable_hash
from confml.data.dataset import DataSet
from confml.runner.store import Store

KIND = "rows"


@dataclass(frozen=True, eq=False)
class RowOrigins:
    """Origin of each of the n rows of a data set.

    lines: (n,) line of the file, counted from 1 with the header, or None. The rows of a test part have lines
    of the test file. ids: (n, k) text, or None. id_columns: k names. test_rows: row numbers of the provider's
    test part, or None without parts.
    """

    lines: np.ndarray | None = None
    ids: np.ndarray | None = None
    id_columns: tuple[str, ...] = ()
    test_rows: np.ndarray | None = None

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

    @classmethod
    def read(cls, store: Store, key: str) -> RowOrigins | None:
        """Return the record of a key; None if it is not stored or damaged."""
        record = store.read(KIND, key)
        if record is None:
            return None
        document, arrays = record
        columns = tuple(document["id_columns"])
        return cls(arrays.get("lines"), arrays.get("ids"), columns, arrays.get("test_rows"))


def origins_key(data: DataSet) -> str | None:
    """Return the key of the record of a data set; None if its rows have neither lines nor identifiers."""
    if data.lines is None and data.ids is None:
        return None
    values = joblib.hash([data.lines, data.ids])
    return stable_hash("rows", data.name, data.checksum, list(data.id_columns), values)[:32]


def write_origins(store: Store, data: DataSet) -> None:
    """Write the record of a data set, unless it is there or its rows have no origin."""
    key = origins_key(data)
    if key is None or store.has(KIND, key):
        return
    named = {"lines": data.lines, "ids": data.ids, "test_rows": data.test_rows}
    arrays = {name: np.asarray(values) for name, values in named.items() if values is not None}
    store.write(KIND, key, {"id_columns": list(data.id_columns)}, arrays)
