"""`KnownRows`: recognises rows with the features of a training row."""

from dataclasses import dataclass

import numpy as np

from confml.config.dataset_spec import DatasetSpec
from confml.data.dataset import DataSet

_ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class KnownRows:
    """Sorted 64-bit hashes (m,) of the training rows; empty if training rows have missing values."""

    hashes: np.ndarray

    stored = {"hashes": "u8(*)"}

    @classmethod
    def of(cls, table: np.ndarray) -> "KnownRows":
        """Return the rows of ``table`` (m, a)."""
        if np.isnan(table).any():
            return cls(np.empty(0, np.uint64))
        return cls(np.unique(_hashes(table)))

    def count(self, table: np.ndarray) -> int:
        """Return the number of rows of ``table`` (n, a) that are known; different rows of one hash are one
        row here.
        """
        if not len(self.hashes) or not len(table):
            return 0
        hashes = _hashes(table)
        places = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        return int(np.count_nonzero(self.hashes[places] == hashes))


def _hashes(table: np.ndarray) -> np.ndarray:
    """Return (m,) a hash of each row, from the bits of its values; 0 and -0 are equal."""
    bits = np.ascontiguousarray(table + 0.0).view(np.uint64)
    hashes = np.full(len(bits), _ODD)
    for column in range(bits.shape[1]):
        hashes = (hashes ^ bits[:, column]) * _ODD
        hashes ^= hashes >> np.uint64(29)
    return hashes


def missing_rule(spec: DatasetSpec, data: DataSet) -> str:
    if spec.missing is not None:
        return spec.missing
    return "mean" if np.isnan(data.X).any() else "error"


def label_of(spec: DatasetSpec) -> str | None:
    """Return the name of the label column, None for generated data."""
    if spec.kind == "card":
        from confml.data.cards import read_card

        return read_card(spec.card or spec.name).label
    if spec.kind == "openml":
        from confml.data.openml import label_of as label_of_openml

        return label_of_openml(spec.spec())
    return spec.label if spec.kind == "csv" else None


def unused_columns(spec: DatasetSpec) -> tuple[str, ...]:
    return (*(spec.ignore or ()), *(spec.id or ()), *((spec.groups,) if spec.groups else ()))


def line_texts(data: DataSet, rows: np.ndarray) -> np.ndarray:
    """Return (m,) the line of each row as text; those of a test file that was pooled are marked ``test:``."""
    lines = (data.part_row(rows) + 1 if data.lines is None else data.lines[rows]).tolist()
    of_test = np.zeros(len(data), dtype=bool)
    if data.test_rows is not None:
        of_test[data.test_rows] = True
    texts = [f"test:{line}" if test else str(line) for line, test in zip(lines, of_test[rows], strict=True)]
    return np.array(texts, dtype=str)
