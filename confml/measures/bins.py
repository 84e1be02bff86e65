"""`Bins`: bins of equal mass that do not divide equal values."""

from typing import NamedTuple

import numpy as np

BINS = 15


class Bins(NamedTuple):
    """Bins of equal mass that are not empty: number of values, mean value and mean outcome, (b,) each."""

    counts: np.ndarray
    values: np.ndarray
    outcomes: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, outcomes: np.ndarray, bins: int = BINS) -> "Bins":
        """Return the bins of values (n,) with outcomes (n,) bool, n at least 1.

        Equal values are never divided: those at the sorted places [a, b) are in bin floor(bins (a + b) / (2
        n)).
        """
        order = np.argsort(values)
        placed = values[order]
        first = bin_starts(placed, bins)
        counts = np.concatenate([first[1:], [len(values)]]) - first
        means = np.add.reduceat(placed, first) / counts
        return cls(counts, means, np.add.reduceat(outcomes[order].astype(np.int64), first) / counts)

    @property
    def gaps(self) -> np.ndarray:
        """(b,) |mean value - mean outcome|, weighted by the counts."""
        return self.counts * np.abs(self.values - self.outcomes)

    @property
    def error(self) -> float:
        """Expected calibration error: mean of `gaps`."""
        return float(np.sum(self.gaps) / self.counts.sum())


def bin_starts(placed: np.ndarray, bins: int = BINS) -> np.ndarray:
    """Return (b,) the place where each bin of sorted values (n,) begins; see `Bins.of`."""
    starts = np.flatnonzero(np.concatenate([[True], placed[1:] != placed[:-1]]))
    ends = np.append(starts[1:], len(placed))
    # Bins do not decrease along the sorted values, so each one is a slice.
    group_bins = bins * (starts + ends) // (2 * len(placed))
    return starts[np.concatenate([[True], group_bins[1:] != group_bins[:-1]])]
