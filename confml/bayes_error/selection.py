"""Selection of features and ranking of transforms by estimated Bayes error."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from confml.bayes_error.rates import BayesErrors, bayes_errors, check, rates
from confml.bayes_error.shared_trees import count_crossings
from confml.errors import ConfigError

CRITERIA = ("mean", "worst")


@dataclass(frozen=True)
class Selection:
    """Selected features in order, and the criterion after each: both (steps,)."""

    attributes: np.ndarray
    criterion: np.ndarray


@dataclass(frozen=True)
class RankedTransform:
    """Name, number of columns, criterion and estimates of a transform."""

    name: str
    columns: int
    criterion: float
    errors: BayesErrors


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
    taken: list[int] = []
    values: list[float] = []
    for step in range(n_attributes):
        left = [a for a in range(len(groups)) if a not in taken]
        tried = []
        for a in left:
            columns = [column for attribute in (*taken, a) for column in groups[attribute]]
            pairs, _, _ = count_crossings(X[:, columns], codes, classes.size, trees, whole=False)
            tried.append(criterion_of(rates(classes, pairs, count, correct_bias, True).estimate, criterion))
        best = int(np.argmin(tried))
        taken.append(left[best])
        values.append(tried[best])
        if said is not None:
            said(step, left[best])
    return Selection(np.array(taken), np.array(values))


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
    taken = [order[codes[order] == k][: sizes[k]] for k in range(classes.size)]
    return rng.permutation(np.concatenate(taken))


def rank_transforms(
    X,
    y,
    transforms: Mapping[str, Callable],
    *,
    trees: int = 3,
    criterion: str = "mean",
    count: str = "all",
    correct_bias: bool = True,
) -> list[RankedTransform]:
    """Return transforms of the rows by increasing estimated Bayes error; ties keep the given order.

    transforms: name -> function of X (n, d) that returns (n, any); see `pca_transforms` for one family.
    criterion: "mean" or "worst" of the pairwise estimates.
    """
    ranked = []
    for name, transform in transforms.items():
        made = transform(np.asarray(X, dtype=float))
        errors = bayes_errors(made, y, trees, count, correct_bias)
        value = criterion_of(errors.pairwise.estimate, criterion)
        ranked.append(RankedTransform(name, made.shape[1], value, errors))
    return sorted(ranked, key=lambda r: r.criterion)


def best_transform_of_pairs(ranked: list[RankedTransform]) -> np.ndarray:
    """Return (K, K) the name of the transform with the smallest estimate for each pair; "" on the
    diagonal."""
    estimates = np.stack([r.errors.pairwise.estimate for r in ranked])
    names = np.array([r.name for r in ranked], dtype=object)
    filled = np.where(np.isnan(estimates), np.inf, estimates)
    best = names[np.argmin(filled, axis=0)]
    best[np.isnan(estimates).all(axis=0)] = ""
    return best


def pca_transforms(X, components) -> dict[str, Callable]:
    """Return projections on the first principal components of X, named `pca-2`, `pca-5`, ... by number.

    Raises ConfigError for a wrong number.
    """
    X = np.asarray(X, dtype=float)
    most = min(X.shape)
    for c in components:
        if not 1 <= c <= most:
            raise ConfigError(f"components: expected 1 to {most}, got {c}")
    centre = X.mean(axis=0)
    axes = _principal_axes(X - centre)

    def projection(c):
        return lambda rows: (rows - centre) @ axes[:c].T

    return {f"pca-{c}": projection(c) for c in components}


def embedding_transforms(X, components, *, seed: int = 1) -> dict[str, Callable]:
    """Return kernel PCA and Laplacian eigenmaps of X, named `kernel-pca-2`, `laplacian-2`, ... by number.

    They are scikit-learn's `KernelPCA` with an RBF kernel, gamma = 1 / (columns * variance of all values),
    and `SpectralEmbedding` of the graph of the 10 nearest neighbours. They embed the rows of X only, so that
    each function ignores its argument. Time and memory are quadratic in the number of rows. Raises
    ConfigError for a wrong number.
    """
    from sklearn.decomposition import KernelPCA
    from sklearn.manifold import SpectralEmbedding

    X = np.asarray(X, dtype=float)
    most = max(components, default=0)
    if not components or not 1 <= min(components) <= most < X.shape[0]:
        raise ConfigError(
            f"components: expected 1 to {X.shape[0] - 1} for {X.shape[0]} rows, got {components}"
        )
    gamma = 1 / (X.shape[1] * (float(X.var()) or 1.0))
    kernel = KernelPCA(most, kernel="rbf", gamma=gamma, random_state=seed).fit_transform(X)
    graph = {"affinity": "nearest_neighbors", "n_neighbors": min(10, X.shape[0] - 1)}
    with warnings.catch_warnings():
        # separated classes give a graph of several components; the embedding then separates them
        warnings.filterwarnings("ignore", message="Graph is not fully connected")
        laplacian = SpectralEmbedding(most, random_state=seed, **graph).fit_transform(X)
    embedded = {"kernel-pca": kernel, "laplacian": laplacian}
    return {
        f"{name}-{c}": lambda rows, made=made, c=c: made[:, :c]
        for name, made in embedded.items()
        for c in components
    }


def _principal_axes(centred: np.ndarray) -> np.ndarray:
    """Return the principal axes of centred rows (n, d) as rows, largest variance first."""
    n, d = centred.shape
    if n <= d:
        return np.linalg.svd(centred, full_matrices=False)[2]
    # the triangle of a QR decomposition has the same right singular vectors as its many rows
    return np.linalg.svd(np.linalg.qr(centred, mode="r"), full_matrices=False)[2]


def scaling_transforms(X) -> dict[str, Callable]:
    """Return the usual scalings, fitted to X: `as-is`, `standardise`, `min-max`; constant features become
    0."""
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
    """Return class weights (K,) for a classifier, proportional to 1 + the normalised one-vs-rest estimate.

    The mean is 1. A class that is indistinguishable from the rest has twice the weight of a separated class:
    "classes that are relatively difficult to classify may benefit from increasing misclassification weights"
    (section 3).
    """
    weights = 1 + np.asarray(one_vs_rest, dtype=float)
    return weights / weights.mean()
