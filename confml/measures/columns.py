"""`Column`: one metric of several cases, and sums over the rows of each case."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Column(NamedTuple):
    """One metric of every case (s,) of a block, as `Row` has it of one case."""

    metric: str
    level: float | None
    values: np.ndarray


def sums_of(values: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the sums of ``values[start:end]``, each as `numpy.sum` computes it, in its order."""
    lengths = ends - starts
    found = np.zeros(len(starts))
    for length in np.unique(lengths).tolist():
        rows = np.flatnonzero(lengths == length)
        found[rows] = values[starts[rows][:, None] + np.arange(length)].sum(axis=1)
    return found


def fractions(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Return part / whole of numbers (s,), NaN for 0 / 0."""
    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole != 0)
