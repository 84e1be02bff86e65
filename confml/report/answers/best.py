"""`best_of`: the best of several methods, and which others are shown to be worse.

The best one was chosen on the same rows, so any pair may be read: Holm's correction is over all pairs.
"""

import math
from dataclasses import dataclass

import numpy as np

from confml.measures.ranks import holm
from confml.report.answers.differences import SIGNIFICANCE, Difference, LossTable

FEW_SPLITS = 5
"""With fewer splits, but more than one, the differences between splits are hardly known."""


@dataclass(frozen=True, eq=False)
class Best:
    """The best of K methods by mean loss, and the others compared with it.

    means: (K,). best: places of the smallest mean. adjusted: (K,) p-values of the comparison with the best
    one, corrected by Holm over all pairs; the largest with tied best ones; NaN where there is no test.
    differences: of each method minus the first best one, None there and without a common split.
    pairs: number of pairs that are tested. corrected: (K, K) corrected p-values of all pairs.
    """

    means: np.ndarray
    best: list[int]
    adjusted: np.ndarray
    differences: list[Difference | None]
    pairs: int
    corrected: np.ndarray

    def worse(self, place: int) -> bool:
        """Return whether a method is shown to be worse than the best."""
        return place not in self.best and bool(self.adjusted[place] < SIGNIFICANCE)

    @property
    def tested(self) -> list[int]:
        """Places of the methods that are tested against the best."""
        return [k for k, p in enumerate(self.adjusted.tolist()) if k not in self.best and not math.isnan(p)]

    @property
    def same(self) -> bool:
        """Whether the losses of all methods are equal, row by row."""
        known = [one for one in self.differences if one is not None]
        return bool(known) and all(one.same for one in known)

    @property
    def detectable(self) -> float:
        """Difference that a comparison with the best finds with a power of 80 %; NaN without a test.

        The median over the comparisons, at the significance of one of all pairs.
        """
        found = [one.detectable(self.pairs) for one in self.differences if one is not None]
        found = [value for value in found if not math.isnan(value)]
        return float(np.median(found)) if found else math.nan


def best_of(table: LossTable, p_values: np.ndarray | None = None) -> Best:
    """Return the best of the methods of a table and the verdicts on the others.

    p_values: (K, K) p-values of all pairs, by default those of the table.
    """
    means = np.round(table.means, 12)
    k = len(means)
    best = [] if np.isnan(means).all() else np.flatnonzero(means == np.nanmin(means)).tolist()
    p_values = table.p_values() if p_values is None else p_values
    upper = np.triu_indices(k, 1)
    plain = p_values[upper]
    known = ~np.isnan(plain)
    corrected = np.full(len(plain), math.nan)
    corrected[known] = holm(plain[known])
    all_pairs = np.ones((k, k))
    all_pairs[upper] = corrected
    all_pairs.T[upper] = corrected
    adjusted = all_pairs[best].max(axis=0) if best else np.full(k, math.nan)
    gaps = [table.pair(place, best[0]) if best and place != best[0] else None for place in range(k)]
    return Best(means, best, adjusted, gaps, max(int(known.sum()), 1), all_pairs)
