"""Comparison of several methods over several data sets: ranks, Friedman, Nemenyi, Wilcoxon with Holm."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np


@dataclass(frozen=True, eq=False)
class RankComparison:
    """Ranks and tests of k methods on N data sets (Demsar, JMLR 7, 2006).

    ranks (N, k): 1 for the best, mean ranks for ties; mean_ranks (k,). chi_squared, p_value: Friedman's
    test; f, f_p_value: Iman and Davenport's form of it. critical_difference: mean ranks that differ by at
    least this much are different at ``level``; nemenyi (k, k): p-values of Nemenyi's test; wilcoxon (k, k):
    two-sided p-values of Wilcoxon's signed-rank test for each pair, corrected by Holm over all pairs.
    Diagonals are 1. NaN if a value is undefined for fewer than two data sets or methods. scores (N, k): of
    the methods. The tests of pairs are computed when they are first used, because there are k (k - 1) / 2,
    and so is the critical difference, because the import of `scipy.stats` takes 0.3 s.
    """

    scores: np.ndarray
    ranks: np.ndarray
    mean_ranks: np.ndarray
    chi_squared: float
    p_value: float
    f: float
    f_p_value: float
    level: float

    @cached_property
    def critical_difference(self) -> float:
        return critical_difference(len(self.mean_ranks), len(self.ranks), self.level)

    @cached_property
    def nemenyi(self) -> np.ndarray:
        return _nemenyi(self.mean_ranks, len(self.ranks))

    @cached_property
    def wilcoxon(self) -> np.ndarray:
        return wilcoxon_holm(self.scores)


def alike_runs(order: Sequence[int], differ: np.ndarray) -> list[list[int]]:
    """Return the largest runs of an order of k methods of which no pair differs, differ: (k, k) bool."""
    runs, end = [], 0
    for start in range(len(order)):
        stop = start + 1
        while stop < len(order) and not differ[order[stop], order[start:stop]].any():
            stop += 1
        if stop > end:
            runs.append(list(order[start:stop]))
            end = stop
    return runs


def compare_ranks(scores, higher_is_better: bool = True, level: float = 0.05) -> RankComparison:
    """Compare k methods by their scores (N, k) on N data sets.

    Raises ValueError for scores that are not a table of numbers.
    """
    from scipy import special

    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 2 or not scores.size or not np.isfinite(scores).all():
        raise ValueError(
            f"scores must be a (data sets, methods) table of finite numbers, got shape {scores.shape}"
        )
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be above 0 and below 1, got {level}")
    n, k = scores.shape
    ranks = np.array([mid_ranks(row) for row in (-scores if higher_is_better else scores)])
    means = ranks.mean(axis=0)
    chi_squared = p_value = f = f_p_value = float("nan")
    if n > 1 and k > 1:
        # With ties: the variance of the actual ranks, as in scipy's friedmanchisquare.
        spread = float(np.sum((ranks - (k + 1) / 2) ** 2))
        if spread > 0:
            chi_squared = float((k - 1) * n**2 * np.sum((means - (k + 1) / 2) ** 2) / spread)
            p_value = float(special.chdtrc(k - 1, chi_squared))
            rest = n * (k - 1) - chi_squared
            f = float((n - 1) * chi_squared / rest) if rest > 0 else float("inf")
            f_p_value = float(special.fdtrc(k - 1, (k - 1) * (n - 1), f))
        else:
            chi_squared, p_value, f, f_p_value = 0.0, 1.0, 0.0, 1.0
    return RankComparison(
        scores=scores,
        ranks=ranks,
        mean_ranks=means,
        chi_squared=chi_squared,
        p_value=p_value,
        f=f,
        f_p_value=f_p_value,
        level=level,
    )


def mid_ranks(values: np.ndarray) -> np.ndarray:
    """Return the ranks of values (n,): 1 for the smallest, mean ranks for ties."""
    _, positions, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[positions]


def critical_difference(methods: int, datasets: int, level: float = 0.05) -> float:
    """Return Nemenyi's critical difference of mean ranks, q sqrt(k (k + 1) / (6 N)); NaN for one method."""
    from scipy.stats import studentized_range

    if methods < 2:
        return float("nan")
    q = studentized_range.ppf(1.0 - level, methods, np.inf) / np.sqrt(2.0)
    return float(q * np.sqrt(methods * (methods + 1) / (6.0 * datasets)))


def _nemenyi(means: np.ndarray, datasets: int) -> np.ndarray:
    from scipy.stats import studentized_range

    k = len(means)
    first, second = np.triu_indices(k, 1)
    p_values = np.ones((k, k))
    error = np.sqrt(k * (k + 1) / (6.0 * datasets))
    q = np.abs(means[first] - means[second]) / error * np.sqrt(2.0)
    p_values[first, second] = p_values[second, first] = np.minimum(studentized_range.sf(q, k, np.inf), 1.0)
    return p_values


def wilcoxon_holm(scores) -> np.ndarray:
    """Return (k, k) two-sided p-values of Wilcoxon's signed-rank test, corrected by Holm over all pairs.

    Differences of 0 are omitted; two methods with equal scores on all data sets have p = 1.
    """
    scores = np.asarray(scores, dtype=np.float64)
    k = scores.shape[1]
    first, second = np.triu_indices(k, 1)
    gaps = scores[:, first] - scores[:, second]
    corrected = np.ones((k, k))
    corrected[first, second] = corrected[second, first] = holm(list(map(signed_rank_p_value, gaps.T)))
    return corrected


MOST_EXACT = 200
"""Largest number of differences with the exact distribution; the normal one is closer than 0.001 above."""


def signed_rank_p_value(differences) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test of differences (n,) from 0.

    Differences of 0 are omitted, equal ones share their mean rank, and the distribution is exact given these
    ranks: each has either sign with probability 1/2. 1 without differences.
    """
    from scipy.special import ndtr

    z = np.asarray(differences, dtype=np.float64)
    sizes = np.abs(z)
    z = z[sizes > 1e-12 * sizes.max(initial=0.0)]
    if not len(z):
        return 1.0
    # Differences that are equal but for rounding are ties; twice a mean rank is a whole number.
    doubled = np.rint(2 * mid_ranks(np.round(np.abs(z) / sizes.max(), 10))).astype(np.int64)
    total, positive = int(doubled.sum()), int(doubled[z > 0].sum())
    extreme = min(positive, total - positive)
    if len(z) > MOST_EXACT:
        sd = np.sqrt(np.sum(doubled.astype(np.float64) ** 2)) / 2
        return min(1.0, float(2 * ndtr((extreme + 1 - total / 2) / sd)))
    chances = np.zeros(total + 1)
    chances[0] = 1.0
    for rank in doubled.tolist():
        chances[rank:] = 0.5 * (chances[rank:] + chances[: total + 1 - rank])
        chances[:rank] *= 0.5
    return min(1.0, 2.0 * float(chances[: extreme + 1].sum()))


def holm(p_values) -> np.ndarray:
    """Return Holm's step-down correction of m p-values (m,): the i-th smallest times m - i + 1, never
    decreasing.
    """
    p_values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p_values, kind="stable")
    steps = p_values[order] * (len(p_values) - np.arange(len(p_values)))
    corrected = np.empty_like(p_values)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0) if len(steps) else steps
    return corrected


DRAWS = 50_000
PRIOR_STRENGTH = 1.0
_BLOCK = 2_000_000  # numbers per block of draws


class SignedRank(NamedTuple):
    """Posterior probabilities that the first is larger, that both are equivalent, that the second is larger.

    Each is the probability that the statement has the largest mass. cases: number of differences. rope: half
    of the width of the region of practical equivalence.
    """

    first_larger: float
    equivalent: float
    second_larger: float
    cases: int
    rope: float


def signed_rank(differences, rope: float = 0.01, draws: int = DRAWS, seed: int = 0) -> SignedRank:
    """Return the Bayesian signed-rank test of differences (n,), first minus second, one per case.

    The weights of the differences, and of one pseudo-difference of 0 with prior strength 1, have a Dirichlet
    posterior. A draw of the weights w gives the masses of the Walsh averages above ``rope``, within it, and
    below ``-rope``: sum of w_i w_j over all pairs with (z_i + z_j) / 2 there. The result is the fraction of
    draws in which each mass is the largest; tied largest masses count in equal parts. The same ``seed`` gives
    the same result. Raises ValueError for differences that are not finite or a negative rope.
    """
    z = np.asarray(differences, dtype=np.float64)
    if z.ndim != 1 or not len(z) or not np.isfinite(z).all():
        raise ValueError(f"differences must be a nonempty list of finite numbers, got shape {z.shape}")
    if not rope >= 0.0 or not np.isfinite(rope):
        raise ValueError(f"rope must be a finite number of at least 0, got {rope}")
    values = np.concatenate([[0.0], z])
    alpha = np.concatenate([[PRIOR_STRENGTH], np.ones(len(z))])
    averages = 0.5 * (values[:, None] + values[None, :])
    # Rounding must not move an average across an end of the region.
    margin = 1e-12 * max(1.0, float(np.abs(values).max()))
    above, below = averages > rope + margin, averages < -rope - margin
    rng = np.random.default_rng(seed)
    counts = np.zeros(3)
    block = max(1, min(draws, _BLOCK // len(values)))
    for start in range(0, draws, block):
        weights = rng.dirichlet(alpha, min(block, draws - start))
        larger = np.einsum("di,ij,dj->d", weights, above, weights, optimize=True)
        smaller = np.einsum("di,ij,dj->d", weights, below, weights, optimize=True)
        masses = np.column_stack([larger, 1.0 - larger - smaller, smaller])
        largest = masses >= masses.max(axis=1, keepdims=True) - 1e-12
        counts += (largest / largest.sum(axis=1, keepdims=True)).sum(axis=0)
    first, same, second = (counts / draws).tolist()
    return SignedRank(first, same, second, len(z), float(rope))
