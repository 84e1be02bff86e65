"""`DataSet`: labelled rows, with the names and kinds of their attributes."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from confml.data.memory import dense, is_sparse

if TYPE_CHECKING:
    import pandas as pd

_BLOCK = 1024  # rows of a sparse matrix that are hashed at a time
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}(\.0*)?")  # 7, -1, 6.0000


@dataclass(frozen=True, eq=False)
class DataSet:
    """n labelled rows of d attributes; arrays are read-only.

    name: of the data set in results.
    X: (n, d) float64, C-contiguous, nominal attributes coded; NaN only where missing values were kept. A CSR
        matrix of scipy where categories make very many columns (`confml.data.coding`).
    y: (n,) labels, int64 if all of them parse as whole numbers, else text.
    attributes: d names; a dummy column is called ``colour=red``.
    table: (n, a) float64, the attributes before coding: a nominal one holds codes, the places of its values
        in ``categories``. The same array as ``X`` where nothing is nominal.
    table_attributes: a names.   nominal: (a,) bool.
    categories: for each of the a attributes its categories, or None where it is numeric.
    train_rows, test_rows: row numbers of the provider's parts, or None.
    groups: (n,) group of each row, or None.
    lines: (n,) line of the file that each row was read from, counted from 1 with the header, or None where
        there is no such file. The rows of a test part have lines of the test file.
    ids: (n, k) text, the identifiers of each row, or None. id_columns: k names of their columns.
    notes: warnings, one sentence each, for readers of the results.
    number_marks: thousands separators and signs of the numbers in a file, by feature.

    Raises ValueError for shapes that do not fit together.
    """

    name: str
    X: Any
    y: np.ndarray
    attributes: tuple[str, ...]
    table: np.ndarray
    table_attributes: tuple[str, ...]
    nominal: np.ndarray
    categories: tuple[tuple[str, ...] | None, ...]
    train_rows: np.ndarray | None = None
    test_rows: np.ndarray | None = None
    groups: np.ndarray | None = None
    lines: np.ndarray | None = None
    ids: np.ndarray | None = None
    id_columns: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    number_marks: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)

    def __post_init__(self):
        X = self.X if is_sparse(self.X) else np.ascontiguousarray(self.X, dtype=np.float64)
        table = X if self.table is self.X else np.ascontiguousarray(self.table, dtype=np.float64)
        y, nominal = np.asarray(self.y), np.asarray(self.nominal, dtype=bool)
        y = y.astype(np.int64) if y.dtype.kind == "i" else y
        shapes = (len(y), len(self.attributes)), (len(y), len(self.table_attributes))
        if (X.shape, table.shape) != shapes:
            raise ValueError(f"shapes do not fit together: {y.shape}, {X.shape} and {table.shape}")
        arrays = {"y": y, "table": table, "nominal": nominal, **({} if is_sparse(X) else {"X": X})}
        for field in ("train_rows", "test_rows", "groups", "lines", "ids"):
            if (column := getattr(self, field)) is not None:
                kind = {"groups": None, "ids": str}.get(field, np.int64)
                arrays[field] = np.asarray(column, dtype=kind)
        for field, array in arrays.items():
            array = array.view()
            array.flags.writeable = False
            object.__setattr__(self, field, array)
        if table is X:
            object.__setattr__(self, "table", self.X)
        for field in ("attributes", "table_attributes", "categories", "id_columns", "notes"):
            object.__setattr__(self, field, tuple(getattr(self, field)))

    def __len__(self) -> int:
        return len(self.y)

    def __repr__(self) -> str:
        rows, columns = self.X.shape
        return f"<DataSet {self.name}: {rows} rows, {columns} columns, {len(self.classes)} classes>"

    @functools.cached_property
    def classes(self) -> np.ndarray:
        """(c,) the distinct labels, sorted."""
        return np.unique(self.y)

    def to_frame(self) -> pd.DataFrame:
        """Return the features, with the texts of categories, then the column ``label``; one row per row."""
        import pandas as pd

        columns: dict[str, Any] = {}
        for j, (name, categories) in enumerate(zip(self.table_attributes, self.categories, strict=True)):
            values = self.table[:, j]
            if categories is not None:
                texts = np.array([*categories, None], dtype=object)
                values = texts[np.where(np.isnan(values), len(categories), values).astype(np.intp)]
            columns[name] = values
        return pd.DataFrame(columns).assign(label=self.y)

    def require_dense(self) -> None:
        """Raise DataError if ``X`` is sparse and does not fit in memory as an array; warn if it is large."""
        if is_sparse(self.X):
            from confml.data.coding import require_memory_to_code

            rows, columns = self.X.shape
            where = f"data set '{self.name}'"
            require_memory_to_code(rows, columns, self.table_attributes, self.categories, where)

    def identifiers(self) -> dict[str, np.ndarray]:
        """Return the identifiers by column: name -> (n,) text."""
        if self.ids is None:
            return {}
        return {name: self.ids[:, j] for j, name in enumerate(self.id_columns)}

    def class_counts(self) -> dict:
        """Return rows of each class, in the order of ``classes``."""
        labels, counts = np.unique(self.y, return_counts=True)
        return dict(zip(labels.tolist(), counts.tolist(), strict=True))

    def part_row(self, rows: np.ndarray) -> np.ndarray:
        """Return row numbers counted from 0 within the provider's part each row is in; the same without
        parts.

        rows: (m,) row numbers of this data set.
        """
        rows = np.asarray(rows)
        if self.train_rows is None or self.test_rows is None:
            return rows
        within = np.empty(len(self), dtype=np.int64)
        for part in (self.train_rows, self.test_rows):
            within[part] = np.arange(len(part))
        return within[rows]

    @functools.cached_property
    def checksum(self) -> str:
        """SHA-256 (hex) of the contents: X, y, the parts, the groups; not the name, lines, ids and notes.

        The codes of nominal attributes count too, since methods for nominal attributes read them.
        """
        digest = hashlib.sha256()
        arrays = [self.X, self.y, self.train_rows, self.test_rows, self.groups]
        if self.nominal.any():
            arrays += [self.nominal, self.table]
        for array in arrays:
            if array is None:
                digest.update(b"none\n")
                continue
            if is_sparse(array):  # the same as of an array
                digest.update(f"<f8 {array.shape}\n".encode())
                for first in range(0, len(self), _BLOCK):
                    digest.update(dense(array[first : first + _BLOCK]).data.cast("B"))
                continue
            if array.dtype.kind not in "fib":  # text and objects: by their characters, whatever the item size
                texts = [str(value).encode() for value in array.tolist()]
                digest.update(f"text {array.shape}\n".encode())
                digest.update(b"".join(b"%d:%s" % (len(text), text) for text in texts))
                continue
            plain = array.astype("<f8" if array.dtype.kind == "f" else "<i8", copy=False)
            digest.update(f"{plain.dtype.str} {plain.shape}\n".encode())
            digest.update(np.ascontiguousarray(plain).data.cast("B") if plain.size else b"")
        return digest.hexdigest()


def as_labels(values: Sequence | np.ndarray) -> np.ndarray:
    """Return labels as a `DataSet` keeps them: int64 if all are whole numbers, else text.

    values: (n,) text or whole numbers; ``"7"`` and the number 7 are the whole number 7, and so is the text
        ``"7.0000"`` if every label reads as a whole number. Blanks around text do not count.
    """
    values = np.asarray(values)
    if values.dtype.kind in "iu":
        return values.astype(np.int64)
    distinct, codes = np.unique(np.char.strip(values.astype(str)), return_inverse=True)
    if len(distinct) == 0 or not all(_WHOLE.fullmatch(text) for text in distinct.tolist()):
        return distinct[codes]
    return np.array([int(text.partition(".")[0]) for text in distinct.tolist()], dtype=np.int64)[codes]
