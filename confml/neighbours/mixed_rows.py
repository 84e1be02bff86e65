"""`MixedRows`: the K nearest training rows where some or all features are nominal."""

from typing import Any

import numpy as np

from confml.errors import DataError
from confml.neighbours import _kernels as kernels
from confml.neighbours.checks import check_arrays, check_range
from confml.neighbours.nearest_rows import NearestRows, Neighbours, check_rows
from confml.neighbours.scaling import SafeScale


def nearest_rows(
    X: np.ndarray, codes: np.ndarray, classes: int, nominal: np.ndarray
) -> "NearestRows | MixedRows":
    """Return a training set with ``query(rows, k)``: `MixedRows` where a feature is nominal, else
    `NearestRows`.

    X: (m, d), finite. codes: (m,) class codes below ``classes``. nominal: (d,) bool.
    """
    return MixedRows(X, codes, classes, nominal) if nominal.any() else NearestRows(X, codes, classes)


class MixedRows:
    """A training set with nominal features, prepared for exact nearest-neighbour search by a full scan.

    The squared distance adds 1 for every nominal feature whose codes differ, and the squared difference of
    every numeric feature; with nominal features only, the distance is the number that differ.
    """

    def __init__(self, X: np.ndarray, codes: np.ndarray, classes: int, nominal: np.ndarray):
        self.order, self.count = nominal_first(nominal)
        self._scale = SafeScale()
        if not nominal.all():
            self._scale = SafeScale.of(X[:, ~nominal])
        if self._scale.exponent:
            raise DataError(
                f"the numeric features have a range of {_range(X[:, ~nominal]):.3g}, too "
                f"{'large' if self._scale.exponent < 0 else 'small'} to be compared with nominal features",
                hint="scale them first, for example with the step 'min-max'",
            )
        self.X, self.codes, self.classes = self._ordered(X), codes, classes

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        check_rows(self)
        check_arrays(vars(self), order="i8 d", X="f8 n d")
        check_range("count", np.array([self.count]), 0, len(self.order) + 1)

    def query(self, rows: np.ndarray, k: int) -> Neighbours:
        """Return the min(k, m) nearest training rows of each of ``rows`` (n, d)."""
        nearest = Neighbours.empty(len(rows), min(k, len(self.X)), self.classes)
        kernels.search_mixed(
            self._ordered(rows),
            self.X,
            self.codes,
            self.count,
            nearest.distances,
            nearest.codes,
            nearest.beyond,
        )
        return nearest

    def _ordered(self, rows: np.ndarray) -> np.ndarray:
        return self._scale.apply(np.ascontiguousarray(rows[:, self.order]))


def rows_of_pairs(X: np.ndarray, nominal: np.ndarray) -> tuple[np.ndarray, int]:
    """Return rows X (m, d) for `mixed_distance` (nominal columns first, on a safe scale), and the number of
    nominal columns.
    """
    if nominal.any():
        rows = MixedRows(X, np.zeros(len(X), dtype=np.int64), 1, nominal)
        return rows.X, rows.count
    return SafeScale.of(X).apply(X), 0


def nominal_first(nominal: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the order of columns that puts the nominal ones (d,) bool first, and their number."""
    return np.argsort(~nominal, kind="stable"), int(nominal.sum())


def _range(X: np.ndarray) -> float:
    with np.errstate(over="ignore"):
        return float((X.max(axis=0) - X.min(axis=0)).max())
