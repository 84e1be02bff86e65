"""Coverage of groups of test examples: by class, by region size, by values of a column."""

import math
from typing import NamedTuple

import numpy as np

from confml.measures.bins import bin_starts
from confml.measures.distributions import beta_quantile

CONFIDENCE = 0.95
NUMERIC_BINS = 5


class GroupCoverage(NamedTuple):
    """Coverage of one group: test rows, covered ones, and the Clopper-Pearson interval of the share."""

    rows: int
    covered: int
    low: float
    high: float

    @property
    def share(self) -> float:
        return self.covered / self.rows

    @classmethod
    def of(cls, rows: int, covered: int, groups: int = 1) -> "GroupCoverage":
        """Return the group with an interval at 95 % for all ``groups`` of one table together (Bonferroni)."""
        tail = (1 - CONFIDENCE) / 2 / groups
        low = float(beta_quantile(tail, covered, rows - covered + 1)) if covered else 0.0
        high = float(beta_quantile(1 - tail, covered + 1, rows - covered)) if covered < rows else 1.0
        return cls(rows, covered, low, high)


def fewest_rows(level: float) -> int:
    """Return the number of rows below which a group is in no minimum: five expected errors."""
    return math.ceil(5 / level - 1e-9) if level > 0 else 1


def size_strata(sizes: np.ndarray) -> np.ndarray:
    """Return the stratum (n,) of region sizes: 0, 1, 2, 3 for sizes 3 and 4, 4 for 5 to 8, and so on."""
    return np.where(sizes <= 1, sizes, 1 + np.ceil(np.log2(np.maximum(sizes, 1))).astype(np.int64))


def stratum_name(stratum: int) -> str:
    """Return the sizes of a stratum, as ``3-4``."""
    if stratum < 3:
        return str(stratum)
    return f"{2 ** (stratum - 2) + 1}-{2 ** (stratum - 1)}"


def equal_mass_groups(values: np.ndarray, bins: int = NUMERIC_BINS) -> np.ndarray:
    """Return the bin (n,) of each number, from 0: bins of equal mass that do not divide equal values."""
    order = np.argsort(values, kind="stable")
    groups = np.empty(len(values), dtype=np.int64)
    groups[order] = np.searchsorted(bin_starts(values[order], bins), np.arange(len(values)), "right") - 1
    return groups
