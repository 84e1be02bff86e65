"""Leave-block-out intervals of estimated Bayes errors."""

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from confml.bayes_error.estimates import bayes_error_from_crossings, largest_crossings
from confml.bayes_error.points import check_problem
from confml.bayes_error.rates import BayesErrors, bayes_errors
from confml.errors import ConfigError


@dataclass(frozen=True)
class Interval:
    """Interval and standard error of each estimate: (K, K) for pairs, (K,) for one-vs-rest."""

    low: np.ndarray
    high: np.ndarray
    standard_error: np.ndarray


@dataclass(frozen=True)
class ErrorIntervals:
    """The estimates and their leave-block-out intervals."""

    errors: BayesErrors
    pairwise: Interval
    one_vs_rest: Interval
    level: float
    blocks: int


def leave_block_out_intervals(
    X,
    y,
    rng,
    errors: BayesErrors | None = None,
    *,
    blocks: int = 20,
    level: float = 0.95,
) -> ErrorIntervals:
    """Return leave-block-out (grouped jackknife) intervals of the estimates for pairs and one-vs-rest.

    The rows of each class are divided into `blocks` random blocks, and the estimates are repeated without
    each block: se^2 = (B - 1)/B sum (e_b - mean)^2, interval = estimate +- t_{B-1} se, clipped to the range
    of estimates. The interval is for the expected value of the estimator: it covers the sampling variation
    and not the bias. se^2 is too large on average (Efron and Stein 1981), but the interval is approximate. se
    is at least the change of the estimate by one crossing edge: without this floor, intervals of separated
    classes have width 0, and those of 60 rows of classes that overlap much (a Bayes error of 40 %) miss in 11
    to 15 % of the data sets. A class of fewer than B rows loses no row in some blocks, and always keeps one;
    intervals of a class of one row are NaN. errors: `bayes_errors` of the same rows, whose options are also
    used without each block; by default those with default options. Raises ConfigError for too few blocks.
    """
    if blocks < 2 or not 0 < level < 1:
        raise ConfigError(
            f"expected at least two blocks and a level between 0 and 1, got {blocks} and {level}"
        )
    of_all_rows = bayes_errors(X, y) if errors is None else errors
    of_rates = of_all_rows.pairwise
    trees = len(of_rates.per_tree)
    kind = {"correct_bias": of_rates.correct_bias, "normalise": of_rates.normalise}
    X, classes, codes = check_problem(X, y, trees)
    block = np.empty(codes.size, dtype=np.int64)
    for k in range(classes.size):
        rows = np.flatnonzero(codes == k)
        dealt = (rng.permutation(rows.size) + rng.integers(blocks)) % blocks
        block[rows] = dealt if rows.size > 1 else -1
    pairwise, one_vs_rest = [], []
    for b in range(blocks):
        in_part = block != b
        part = bayes_errors(X[in_part], codes[in_part], trees, of_rates.count, **kind)
        pairwise.append(part.pairwise.estimate)
        one_vs_rest.append(part.one_vs_rest.estimate)
    reach = stdtrit(blocks - 1, 0.5 + level / 2)
    counts = np.bincount(codes)

    def interval(rates, without, m, n):
        estimate, without = rates.estimate, np.stack(without)
        se = np.sqrt((blocks - 1) / blocks * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
        se = np.maximum(se, _change_of_one_edge(rates.crossings, m, n, kind))
        single = counts == 1
        se[single if se.ndim == 1 else single[:, None] | single[None, :]] = np.nan
        most = bayes_error_from_crossings(m + n, m, n, **kind)[0]
        return Interval(np.maximum(estimate - reach * se, 0.0), np.minimum(estimate + reach * se, most), se)

    return ErrorIntervals(
        errors=of_all_rows,
        pairwise=interval(of_all_rows.pairwise, pairwise, counts[:, None], counts[None, :]),
        one_vs_rest=interval(of_all_rows.one_vs_rest, one_vs_rest, counts, codes.size - counts),
        level=level,
        blocks=blocks,
    )


def _change_of_one_edge(crossings, m, n, kind: dict[str, bool]) -> np.ndarray:
    """Return the larger change of the estimate by one crossing edge more or fewer.

    Without a floor, classes that are separated without any block, or as mixed as the bias correction allows,
    would have intervals of width 0.
    """
    total = np.asarray(m + n, dtype=float)
    if kind["correct_bias"]:
        crossings = np.minimum(crossings, largest_crossings(total, np.minimum(m, n) / total))
    fewer, unchanged, greater = (
        bayes_error_from_crossings(np.maximum(crossings + step, 0.0), m, n, **kind)[0] for step in (-1, 0, 1)
    )
    return np.maximum(greater - unchanged, unchanged - fewer)
