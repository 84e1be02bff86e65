"""Bayes error rates of all pairs of classes, one-vs-rest, and of all classes."""

from dataclasses import dataclass

import numpy as np

from confml.bayes_error.crossings import Crossings, count_crossings
from confml.bayes_error.estimates import (
    COUNTS,
    GlobalTreeBounds,
    NeighbourBounds,
    bayes_error_from_crossings,
    bounds_of_neighbours,
    bounds_of_tree,
)
from confml.bayes_error.points import check_problem
from confml.errors import ConfigError

WIDE_BAND = 0.05
FEW_ROWS = 1000


@dataclass(frozen=True)
class BayesErrorRates:
    """Estimated Bayes error rates of two-class problems.

    Shapes (...) are (K, K) for pairs of classes (symmetric, NaN diagonal) and (K,) for one class against the
    rest. classes (K,); estimate (...), divided by the smaller prior if `normalise`; lower, upper (...):
    bounds of the Bayes error, never normalised; crossings (...): counted edges between the two sides, mean
    over the trees; crossings_tie_low, crossings_tie_high (...): least and most crossings that each tree can
    have under ties with the trees before it as they are, mean over the trees; estimate_tie_low,
    estimate_tie_high (...): the estimate at these two, a band around it and not a confidence interval;
    per_tree (T, ...): crossings of each tree, NaN where no further orthogonal tree exists; rows (...): rows
    on both sides; count, correct_bias, normalise: as asked for.
    """

    classes: np.ndarray
    estimate: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    crossings: np.ndarray
    crossings_tie_low: np.ndarray
    crossings_tie_high: np.ndarray
    estimate_tie_low: np.ndarray
    estimate_tie_high: np.ndarray
    per_tree: np.ndarray
    rows: np.ndarray
    count: str
    correct_bias: bool
    normalise: bool


@dataclass(frozen=True)
class BayesErrors:
    """Estimates of one computation: of pairs of classes, of each class against the rest, of all classes.

    global_tree: bounds for all classes from the first tree of all rows; nearest_neighbour: from the
    leave-one-out error of 1-NN.
    """

    pairwise: BayesErrorRates
    one_vs_rest: BayesErrorRates
    global_tree: GlobalTreeBounds
    nearest_neighbour: NeighbourBounds


def bayes_errors(
    X,
    y,
    trees: int = 3,
    count: str = "all",
    correct_bias: bool = True,
    normalise: bool = True,
) -> BayesErrors:
    """Return estimates for pairs of classes, for each class and for all classes, from the same trees.

    Several threads are used inside `confml.threads`.

    Parameters
    ----------
    X : array of shape (n, d)
        Features.
    y : array of shape (n,)
        Labels.
    trees : int, default=3
        Number of orthogonal minimum spanning trees.
    count : {"all", "nontrivial"}, default="all"
        Edges to count between two classes: all, or all minus 1 (a spanning tree always has one).
    correct_bias, normalise : bool, default=True
        As in `pairwise_bayes_error`.

    Returns
    -------
    BayesErrors
        Estimates of all pairs of classes, of each class against the others, and of all classes.

    Raises
    ------
    ConfigError
        For a wrong number of trees, or an unknown ``count``.
    DataError
        For rows without two classes, or with values that are not finite.

    Examples
    --------
    >>> X, y = np.arange(20.0).reshape(-1, 1), [0] * 10 + [1] * 10
    >>> errors = bayes_errors(X, y)
    """
    X, classes, codes = check(X, y, trees, count)
    pairs, rest, whole = count_crossings(X, codes, classes.size, trees)
    options, counts = (count, correct_bias, normalise), np.bincount(codes)
    return BayesErrors(
        pairwise=rates(classes, pairs, *options),
        one_vs_rest=rates(classes, rest, *options),
        global_tree=bounds_of_tree(classes, counts, whole),
        nearest_neighbour=bounds_of_neighbours(counts, whole),
    )


def pairwise_bayes_error(
    X, y, trees: int = 3, count: str = "all", correct_bias: bool = True, normalise: bool = True
) -> BayesErrorRates:
    """Return Henze-Penrose estimates of the Bayes error of every pair of classes, from orthogonal trees.

    X (n, d): rows of finite numbers, scaled for the Euclidean distance; y (n,): labels of at least two
    classes; trees: number of orthogonal minimum spanning trees to average over (as far as they exist); count:
    "all" edges between two classes, or "nontrivial", one fewer, because one edge always exists; correct_bias:
    equations (7) and (8); normalise: equation (9). Equations of van den Burg and Hero (2017), see
    `estimates`.

    Ties are decided by row numbers: equal rows are all joined to the first of them. With many ties, shuffle
    rows that are sorted by class.
    """
    X, classes, codes = check(X, y, trees, count)
    pairs, _, _ = count_crossings(X, codes, classes.size, trees, whole=False)
    return rates(classes, pairs, count, correct_bias, normalise)


def rates(
    classes: np.ndarray, crossings: Crossings, count: str, correct_bias: bool, normalise: bool
) -> BayesErrorRates:
    """Return estimates and bounds from crossings."""
    trivial = 1 if count == "nontrivial" else 0
    per_tree = crossings.per_tree - trivial
    exists = ~np.isnan(per_tree)

    def mean_over_trees(counts):
        with np.errstate(invalid="ignore"):
            return np.where(exists, counts, 0).sum(axis=0) / exists.sum(axis=0)

    mean, least, most = map(mean_over_trees, (per_tree, crossings.least - trivial, crossings.most - trivial))

    def estimates(r):
        return bayes_error_from_crossings(
            r, crossings.m, crossings.n, correct_bias=correct_bias, normalise=normalise
        )

    estimate, lower, upper = estimates(mean)
    return BayesErrorRates(
        classes=classes,
        estimate=estimate,
        lower=lower,
        upper=upper,
        crossings=mean,
        crossings_tie_low=least,
        crossings_tie_high=most,
        estimate_tie_low=estimates(least)[0],
        estimate_tie_high=estimates(most)[0],
        per_tree=per_tree,
        rows=np.asarray(crossings.m + crossings.n),
        count=count,
        correct_bias=correct_bias,
        normalise=normalise,
    )


def warnings_about(result: BayesErrorRates, y=None) -> list[str]:
    """Return warnings about the estimates: wide tie bands, missing trees, few rows."""
    width = np.nan_to_num(result.estimate_tie_high - result.estimate_tie_low)
    warnings = []
    if width.max() > WIDE_BAND:
        widest = np.unravel_index(int(np.argmax(width)), width.shape)
        what = " and ".join(str(result.classes[k]) for k in widest)
        wide = int(np.sum(np.triu(width > WIDE_BAND))) if width.ndim == 2 else int(np.sum(width > WIDE_BAND))
        warnings.append(
            f"{wide} estimate{'s have' if wide != 1 else ' has'} a tie band wider than {WIDE_BAND}: "
            f"at worst {result.estimate_tie_low[widest]:.3f} to {result.estimate_tie_high[widest]:.3f} for "
            f"{what}; another order of the same rows gives another value"
        )
    n_trees = (~np.isnan(result.per_tree)).sum(axis=0)
    fewer = ~np.isnan(result.estimate) & (n_trees < len(result.per_tree))
    if fewer.any():
        number = int(np.sum(np.triu(fewer) if fewer.ndim == 2 else fewer))
        warnings.append(
            f"{number} estimate{'s are means' if number != 1 else ' is a mean'} over fewer than "
            f"{len(result.per_tree)} orthogonal trees (at least {n_trees[fewer].min()}), "
            "because no more exist"
        )
    if y is not None:
        classes, counts = np.unique(np.asarray(y), return_counts=True)
        few = counts < FEW_ROWS
        if few.any():
            smallest = int(np.argmin(counts))
            warnings.append(
                f"{few.sum()} of {classes.size} classes have fewer than {FEW_ROWS} rows (class "
                f"{classes[smallest]} has {counts[smallest]}); estimates from so few rows are inaccurate"
            )
    return warnings


def check(X, y, trees: int, count: str):
    """Return X, the classes (K,) and class codes (n,) of `check_problem`; ConfigError for a wrong count."""
    if count not in COUNTS:
        raise ConfigError(f"count: unknown value {count!r}", near=(count, COUNTS))
    return check_problem(X, y, trees)
