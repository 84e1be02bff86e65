"""Selection of features and class weights by estimated Bayes errors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from confml.bayes_error.crossings import count_crossings
from confml.bayes_error.rates import check, rates
from confml.errors import ConfigError

CRITERIA = ("mean", "worst")


@dataclass(frozen=True)
class Selection:
    """Selected features in order, and the criterion after each: both (steps,)."""

    attributes: np.ndarray
    criterion: np.ndarray


def criterion_of(estimate: np.ndarray, criterion: str = "mean") -> float:
    """Return one number from pairwise estimates (K, K): the mean over pairs, or the worst pair.

    Raises ConfigError for another criterion.
    """
    if criterion not in CRITERIA:
        raise ConfigError(f"criterion: unknown value {criterion!r}", near=(criterion, CRITERIA))
    pairs = estimate[np.triu_indices_from(estimate, 1)]
    return float(pairs.mean() if criterion == "mean" else pairs.max())


def select_attributes(
    X,
    y,
    n_attributes: int,
    *,
    groups: Sequence[Sequence[int]] | None = None,
    trees: int = 3,
    criterion: str = "mean",
    count: str = "all",
    correct_bias: bool = True,
    said: Callable[[int, int], None] | None = None,
) -> Selection:
    """Forward selection: each step adds the feature with the smallest pairwise Bayes error (section 3).

    X (n, d), y (n,); n_attributes: number of features to select. groups: the columns of each feature, if some
    have several (dummy columns); by default each column is a feature. For equal criteria the feature with the
    smaller number is selected. The cost is about the number of features times n_attributes estimates on small
    subsets. said(step, attribute) is called for each selected feature. Raises ConfigError for a wrong number.
    """
    X, classes, codes = check(X, y, trees, count)
    groups = [[column] for column in range(X.shape[1])] if groups is None else [list(g) for g in groups]
    if not 1 <= n_attributes <= len(groups):
        raise ConfigError(f"expected 1 to {len(groups)} features to select, got {n_attributes}")
    criterion_of(np.zeros((2, 2)), criterion)
    chosen: list[int] = []
    values: list[float] = []
    for step in range(n_attributes):
        left = [a for a in range(len(groups)) if a not in chosen]
        tried = []
        for a in left:
            columns = [column for attribute in (*chosen, a) for column in groups[attribute]]
            pairs, _, _ = count_crossings(X[:, columns], codes, classes.size, trees, whole=False)
            tried.append(criterion_of(rates(classes, pairs, count, correct_bias, True).estimate, criterion))
        best = int(np.argmin(tried))
        chosen.append(left[best])
        values.append(tried[best])
        if said is not None:
            said(step, left[best])
    return Selection(np.array(chosen), np.array(values))


def sample_by_class(y: np.ndarray, most: int | None, rng: np.random.Generator) -> np.ndarray:
    """Return at most ``most`` rows in random order, stratified, with at least two rows per class if possible.

    More than ``most`` only if two rows per class are more.
    """
    order = rng.permutation(len(y))
    if most is None or most >= len(y):
        return order
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    share, least = most * counts / len(y), np.minimum(counts, 2)
    sizes = np.maximum(np.floor(share).astype(int), least)
    while sizes.sum() < most:  # the one that is furthest below its share, and after it above
        sizes[np.argmax(np.where(sizes < counts, share - sizes, -np.inf))] += 1
    while sizes.sum() > most and (sizes > least).any():
        sizes[np.argmax(np.where(sizes > least, sizes - share, -np.inf))] -= 1
    samples = [order[codes[order] == k][: sizes[k]] for k in range(classes.size)]
    return rng.permutation(np.concatenate(samples))


def class_weights(one_vs_rest: np.ndarray) -> np.ndarray:
    """Return class weights (K,) for a classifier, proportional to 1 + the normalised one-vs-rest estimate.

    The mean is 1. A class that is indistinguishable from the rest has twice the weight of a separated class:
    "classes that are relatively difficult to classify may benefit from increasing misclassification weights"
    (section 3).
    """
    weights = 1 + np.asarray(one_vs_rest, dtype=float)
    return weights / weights.mean()
