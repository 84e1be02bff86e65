"""`MixedRows`: the K nearest training rows where some or all attributes are nominal."""

from __future__ import annotations

import numpy as np

from confml.neighbours import _kernels_mixed as kernels
from confml.neighbours.nearest_rows import NearestRows, Neighbours


def nearest_rows(X: np.ndarray, codes: np.ndarray, classes: int, nominal: np.ndarray):
    """What answers ``query(rows, k)`` for a training set: `NearestRows` where nothing is nominal.

    X: (m, d), finite. codes: (m,) class codes below ``classes``. nominal: (d,) bool.
    """
    return MixedRows(X, codes, classes, nominal) if nominal.any() else NearestRows(X, codes, classes)


class MixedRows:
    """A training set with nominal attributes, ready for exact nearest-neighbour search, row by row.

    The squared distance adds 1 for every nominal attribute whose codes differ, and the squared difference of
    every numeric one; where all attributes are nominal, the distance is the number that differ.
    """

    def __init__(self, X: np.ndarray, codes: np.ndarray, classes: int, nominal: np.ndarray):
        self.order, self.count = nominal_first(nominal)
        self.X, self.codes, self.classes = np.ascontiguousarray(X[:, self.order]), codes, classes

    def query(self, rows: np.ndarray, k: int) -> Neighbours:
        """The min(k, m) nearest training rows of each of ``rows`` (n, d)."""
        n, places = len(rows), min(k, len(self.X))
        found = Neighbours(
            np.empty((n, places)),
            np.empty((n, places), dtype=np.int64),
            np.zeros((n, self.classes), dtype=np.int64),
        )
        kernels.search_mixed(
            np.ascontiguousarray(rows[:, self.order]),
            self.X,
            self.codes,
            self.count,
            found.distances,
            found.codes,
            found.beyond,
        )
        return found


def nominal_first(nominal: np.ndarray) -> tuple[np.ndarray, int]:
    """The order of columns that puts the nominal ones (d,) bool first, and how many there are."""
    return np.argsort(~nominal, kind="stable"), int(nominal.sum())
