"""Divisions of classes into two groups, for the hierarchies of `smart-svm` without Bayes errors."""

from collections.abc import Callable
from math import lgamma, log

import numpy as np

STARTS = 10  # random divisions from which the bound by the Jensen-Shannon divergence is decreased

Split = Callable[[np.ndarray], tuple[np.ndarray, float]]
"""From sorted class numbers (k,), k >= 2: the side (k,) bool without the first class, and its value."""


def random_split(rng: np.random.Generator) -> Split:
    """Return the split by which all binary trees over the classes are equally probable.

    There are (2 k - 3)!! trees over k classes; a size of a side is drawn by the number of trees with it.
    """

    def split(members: np.ndarray) -> tuple[np.ndarray, float]:
        k = len(members)
        logs = [_log_subsets(k - 1, size) + _log_trees(size) + _log_trees(k - size) for size in range(1, k)]
        shares = np.exp(np.array(logs) - max(logs))
        return _drawn(rng, k, 1 + int(rng.choice(k - 1, p=shares / shares.sum()))), 0.0

    return split


def random_balanced_split(rng: np.random.Generator) -> Split:
    """Return the split into random halves of the classes; of an odd number, the first half is larger."""
    return lambda members: (_drawn(rng, len(members), len(members) // 2), 0.0)


def margin_split(margins: np.ndarray) -> Split:
    """Return the split at the last merge of complete-linkage clustering by ``margins`` (c, c) of pairs.

    Its value is the distance of the two groups: their largest margin.
    """
    from scipy.cluster.hierarchy import cut_tree, linkage

    def split(members: np.ndarray) -> tuple[np.ndarray, float]:
        tree = linkage(margins[np.ix_(members, members)][np.triu_indices(len(members), 1)], "complete")
        groups = cut_tree(tree, n_clusters=2)[:, 0]
        return groups != groups[0], float(tree[-1, 2])

    return split


def jensen_shannon_split(totals: np.ndarray, priors: np.ndarray, rng: np.random.Generator) -> Split:
    """Return the split with a small bound on the Bayes error of its two groups: ``(H(prior) - JS) / 2``.

    totals (c, d): sums of the features of each class, non-negative, which are proportional to a multinomial
    distribution. priors (c,): shares of the classes. H and JS in bits; JS is the Jensen-Shannon divergence of
    the mixtures (Lin 1991). The bound is decreased by moving single classes, from `STARTS` random divisions.
    """
    shares = totals / np.where(totals.sum(axis=1) > 0, totals.sum(axis=1), 1.0)[:, None]

    def split(members: np.ndarray) -> tuple[np.ndarray, float]:
        weights = priors[members] / priors[members].sum()
        joint, k = weights[:, None] * shares[members], len(members)
        whole = _entropy(joint.sum(axis=0))

        def bounds(sides: np.ndarray) -> np.ndarray:
            found = np.full(len(sides), -whole)
            for group in (sides.astype(float), 1.0 - sides):
                prior = group @ weights
                mixture = (group @ joint) / np.where(prior > 0, prior, 1.0)[:, None]
                found += prior * _entropy(mixture) + _entropy(prior[:, None])
            return found / 2

        best, value = np.arange(k) == k - 1, np.inf
        for _ in range(STARTS):
            side = _drawn(rng, k, int(rng.integers(1, k)))
            reached = bounds(side[None])[0]
            while True:
                moved = side ^ np.eye(k, dtype=bool)[1:]
                moved = moved[moved.any(axis=1)]
                costs = bounds(moved) if len(moved) else np.array([np.inf])
                if not costs.min() < reached - 1e-12:
                    break
                side, reached = moved[int(np.argmin(costs))], costs.min()
            if reached < value - 1e-12:
                best, value = side, reached
        return best, max(float(value), 0.0)

    return split


def _drawn(rng: np.random.Generator, k: int, size: int) -> np.ndarray:
    """Return a random side (k,) bool of ``size`` of the vertices but the first."""
    return np.isin(np.arange(k), 1 + rng.permutation(k - 1)[:size])


def _log_subsets(n: int, size: int) -> float:
    return lgamma(n + 1) - lgamma(size + 1) - lgamma(n - size + 1)


def _log_trees(k: int) -> float:
    """Return the logarithm of (2 k - 3)!!, the number of binary trees with k labelled leaves."""
    return lgamma(2 * k - 1) - lgamma(k) - (k - 1) * log(2.0)


def _entropy(shares: np.ndarray) -> np.ndarray:
    """Return the sums of -p log2 p over the last axis."""
    return -np.sum(shares * np.log2(np.where(shares > 0, shares, 1.0)), axis=-1)
