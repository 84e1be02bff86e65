"""Which attributes, and which transforms of them, leave the smallest estimated Bayes error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from confml.bayes_error.rates import BayesErrors, bayes_errors, rates
from confml.bayes_error.shared_trees import check_problem, count_crossings
from confml.errors import ConfigError, did_you_mean

CRITERIA = ("mean", "worst")


@dataclass(frozen=True)
class Selection:
    """Attributes in the order in which they were taken, and the criterion after each: both (steps,)."""

    attributes: np.ndarray
    criterion: np.ndarray


@dataclass(frozen=True)
class RankedTransform:
    """A transform's name, its criterion, and the pairwise estimates behind it; see `rank_transforms`."""

    name: str
    criterion: float
    errors: BayesErrors


def criterion_of(estimate: np.ndarray, criterion: str = "mean") -> float:
    """One number out of pairwise estimates (K, K): their mean over pairs, or the worst of them."""
    if criterion not in CRITERIA:
        raise ConfigError(
            f"criterion: unknown value {criterion!r}", hint=did_you_mean(str(criterion), CRITERIA)
        )
    pairs = estimate[np.triu_indices_from(estimate, 1)]
    return float(pairs.mean() if criterion == "mean" else pairs.max())


def select_attributes(
    X, y, n_attributes: int, *, trees: int = 3, criterion: str = "mean", count: str = "all"
) -> Selection:
    """Forward selection: at each step the attribute that leaves the smallest pairwise Bayes error (section
    3).

    X (n, d), y (n,); n_attributes: how many to take, at most d. Among equal criteria the attribute with the
    smaller number is taken. Costs about d * n_attributes estimates of small subsets.
    """
    X, classes, codes = check_problem(X, y, trees)
    if not 1 <= n_attributes <= X.shape[1]:
        raise ConfigError(f"n_attributes: expected 1 to {X.shape[1]}, got {n_attributes}")
    criterion_of(np.zeros((2, 2)), criterion)
    taken: list[int] = []
    values: list[float] = []
    for _ in range(n_attributes):
        left = [a for a in range(X.shape[1]) if a not in taken]
        tried = []
        for a in left:
            part = np.ascontiguousarray(X[:, [*taken, a]])
            pairs, _, _ = count_crossings(part, codes, classes.size, trees, whole=False)
            tried.append(criterion_of(rates(classes, pairs, count, True, True).estimate, criterion))
        best = int(np.argmin(tried))
        taken.append(left[best])
        values.append(tried[best])
    return Selection(np.array(taken), np.array(values))


def rank_transforms(
    X, y, transforms: Mapping[str, Callable], *, trees: int = 3, criterion: str = "mean"
) -> list[RankedTransform]:
    """Transforms of the rows from the smallest estimated Bayes error to the largest; equal ones in given
    order.

    transforms: name -> function of X (n, d) that returns (n, any); see `pca_transforms` for one family.
    criterion: "mean" or "worst" of the pairwise estimates.
    """
    ranked = []
    for name, transform in transforms.items():
        errors = bayes_errors(transform(np.asarray(X, dtype=float)), y, trees=trees)
        value = criterion_of(errors.pairwise.estimate, criterion)
        ranked.append(RankedTransform(name, value, errors))
    return sorted(ranked, key=lambda r: r.criterion)


def best_transform_of_pairs(ranked: list[RankedTransform]) -> np.ndarray:
    """For every pair of classes the name of the transform with the smallest estimate: (K, K), "" on the
    diagonal."""
    estimates = np.stack([r.errors.pairwise.estimate for r in ranked])
    names = np.array([r.name for r in ranked], dtype=object)
    filled = np.where(np.isnan(estimates), np.inf, estimates)
    best = names[np.argmin(filled, axis=0)]
    best[np.isnan(estimates).all(axis=0)] = ""
    return best


def pca_transforms(X, components) -> dict[str, Callable]:
    """Projections on the first principal components of X, by name `pca-2`, `pca-5`, ... for each number
    given."""
    X = np.asarray(X, dtype=float)
    most = min(X.shape)
    for c in components:
        if not 1 <= c <= most:
            raise ConfigError(f"components: expected 1 to {most}, got {c}")
    centre = X.mean(axis=0)
    axes = np.linalg.svd(X - centre, full_matrices=False)[2]

    def projection(c):
        return lambda rows: (rows - centre) @ axes[:c].T

    return {f"pca-{c}": projection(c) for c in components}


def scaling_transforms(X) -> dict[str, Callable]:
    """The usual scalings, learnt on X: `as-is`, `standardise` and `min-max`; constant attributes become 0."""
    X = np.asarray(X, dtype=float)

    def by(shift, scale):
        scale = np.where(scale > 0, scale, 1.0)
        return lambda rows: (rows - shift) / scale

    return {
        "as-is": lambda rows: rows,
        "standardise": by(X.mean(axis=0), X.std(axis=0)),
        "min-max": by(X.min(axis=0), X.max(axis=0) - X.min(axis=0)),
    }


def class_weights(one_vs_rest: np.ndarray) -> np.ndarray:
    """Weights (K,) of classes for a classifier, proportional to 1 + their one-vs-rest estimate, with mean
    1."""
    weights = 1 + np.asarray(one_vs_rest, dtype=float)
    return weights / weights.mean()
