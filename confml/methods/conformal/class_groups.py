"""Groups of classes that share calibration examples, and cuts of their ranks, for many classes.

Clustered: classes with similar nonconformity scores share their calibration examples (Ding, Angelopoulos,
Bates, Jordan, Tibshirani, Class-Conditional Conformal Prediction with Many Classes, 2023). Rank cut: a label
that the classifier ranks too low for its class is more nonconforming than those that it does not. RC3P (Shi
et al. 2024) has the same aim, but subtracts an estimated error from the level; here the p-values keep their
guarantee.
"""

import math
from typing import NamedTuple

import numpy as np

from confml._threads import limits_blas
from confml.data.folds import rows_outside
from confml.methods.conformal.scores import ROUNDING

CLUSTERED, RANK_CUT = "clustered", "rank-cut"
QUANTILES = (0.5, 0.6, 0.7, 0.8, 0.9)
SPREAD = 75  # constant of the rule for the number of clusters, of the source
STARTS = 10  # of k-means
CHOOSING = 0.25  # fraction of the calibration examples of a class that its rank cut is chosen on


class ClassGroups(NamedTuple):
    """Calibration examples of each class.

    places: (c,) the group of each class. members: positions of the calibration examples of each group.
    clusters: number of clusters; 0 if all classes share all examples.
    """

    places: np.ndarray
    members: list[np.ndarray]
    clusters: int


ClassGroups.stored = {"places": "i8(c) in 0..", "members": "list[i8(*) in 0..]", "clusters": "int in 0.."}  # type: ignore[attr-defined]


def enough_rows(level: float) -> int:
    """Return the number of calibration examples that let p-values exclude a class at a level."""
    return math.ceil((1 - level) / level - 1e-9)


@limits_blas
def class_clusters(
    scores: np.ndarray, codes: np.ndarray, classes: int, level: float, rng: np.random.Generator
) -> ClassGroups:
    """Return the clusters of the classes.

    scores, codes (m,): nonconformity and class of the calibration examples. A fraction of the examples of
    each class is drawn at random for the clusters, which do not count them. Classes with `enough_rows` of
    them are clustered by quantiles of their scores with k-means. The other classes count all examples that
    are left, of the clusters too, so their p-values have no bound. The fraction and the number of clusters
    follow from the sizes of the classes; with fewer than two clusters all classes share all examples.
    """
    sizes = np.bincount(codes, minlength=classes)
    enough = enough_rows(level)
    smallest = max(int(sizes.min()), enough)
    large = int(np.count_nonzero(sizes >= smallest))
    drawn = smallest * large // (SPREAD + large)
    number, share = drawn // 2, drawn / smallest
    plain = ClassGroups(np.zeros(classes, dtype=np.int64), [np.arange(len(codes))], 0)
    if number < 2 or not 0 < share < 1:
        return plain
    rows, rest = divided_by_class(codes, classes, share, rng)
    known = [code for code in range(classes) if len(rows[code]) >= enough]
    if len(known) < 2:
        return plain
    found = _k_means(scores, [rows[code] for code in known], number, level, int(rng.integers(2**31)))
    number = int(found.max()) + 1
    if number < 2:
        return plain
    places = np.full(classes, number, dtype=np.int64)
    places[known] = found
    members = [rest[places[codes[rest]] == place] for place in range(number)]
    return ClassGroups(places, [*members, rest], number)


def _k_means(scores: np.ndarray, rows: list[np.ndarray], number: int, level: float, seed: int) -> np.ndarray:
    """Return the cluster of each class, from 0; every cluster has a class. rows: its examples."""
    from sklearn.cluster import KMeans

    finite = scores[np.isfinite(scores)]
    bounded = np.clip(scores, None, finite.max() if len(finite) else 0.0)
    at = sorted({*QUANTILES, 1 - level})
    points = np.stack([np.quantile(bounded[own], at) for own in rows])
    number = min(number, len(np.unique(points, axis=0)))
    weights = np.sqrt([len(own) for own in rows])
    found = KMeans(number, n_init=STARTS, random_state=seed).fit(points, sample_weight=weights).labels_
    return np.unique(found, return_inverse=True)[1]


def divided_by_class(
    codes: np.ndarray, classes: int, share: float, rng: np.random.Generator
) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the nearest number to ``share`` of the positions of each class, at random, and all others."""
    taken = []
    for code in range(classes):
        own = np.flatnonzero(codes == code)
        taken.append(np.sort(rng.permutation(own)[: round(share * len(own))]))
    rest = rows_outside(np.concatenate(taken), len(codes))
    return taken, rest


def label_ranks(scores: np.ndarray) -> np.ndarray:
    """Return the rank (n, c) of each label: the number of labels with a score that is not larger.

    Scores that differ by no more than rounding errors have the same rank, the last of their places: a
    classifier with many labels of probability 0 ranks none of them high.
    """
    c = scores.shape[1]
    order = np.argsort(scores, axis=1, kind="stable")
    placed = np.take_along_axis(scores, order, axis=1)
    near = ROUNDING * np.maximum(np.abs(placed), 1.0)
    near[np.isinf(near)] = 0.0
    with np.errstate(invalid="ignore"):  # inf - inf, which are equal
        rises = np.diff(placed, axis=1) > near[:, 1:]
    ends = np.full_like(order, c)
    ends[:, :-1] = np.where(rises, np.arange(1, c), c)
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1], axis=1)
    return ranks


class RankCuts(NamedTuple):
    """Largest rank of each class, chosen on other examples than those that p-values count.

    cuts: (c,) labels of a higher rank are more nonconforming than all others. rest: positions of the
    calibration examples that p-values count.
    """

    cuts: np.ndarray
    rest: np.ndarray


RankCuts.stored = {"cuts": "i8(c) in 0..c+1", "rest": "i8(*) in 0.."}  # type: ignore[attr-defined]


def rank_cuts(
    ranks: np.ndarray, codes: np.ndarray, classes: int, level: float, rng: np.random.Generator
) -> RankCuts:
    """Return for each class the smallest rank that fewer than ``level / 2`` of its drawn examples exceed.

    ranks, codes (m,): rank of the true label, and class, of the calibration examples. A quarter of each class
    is drawn at random. A class without drawn examples has no cut.
    """
    rows, rest = divided_by_class(codes, classes, CHOOSING, rng)
    cuts = np.full(classes, classes, dtype=np.int64)
    for code, own in enumerate(rows):
        if len(own):
            placed = np.sort(ranks[own])[::-1]
            # At most this many of them may exceed the cut.
            above = math.ceil(level / 2 * len(own) - 1e-9) - 1
            cuts[code] = placed[above]
    return RankCuts(cuts, rest)
