"""`KnownRows`: recognises rows with the features of a training row."""

from dataclasses import dataclass

import numpy as np

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
