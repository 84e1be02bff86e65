"""Reduction of multiclass problems to binary problems: one-vs-rest and one-vs-one.

`one_vs_rest` and `one_vs_one` divide a training set into binary problems. A binary classifier is fitted to
each, and the functions below combine their results. Two classes are one problem with the second class as the
positive one.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from confml.measures.prediction import argmax_with_tie_break
from confml.neighbours.checks import check_width


class BinaryProblem(NamedTuple):
    """Binary problem on some rows (l,) of a training set, with targets (l,), +1. and -1."""

    rows: np.ndarray
    targets: np.ndarray


def one_vs_rest(codes: np.ndarray, classes: int) -> list[BinaryProblem]:
    """Return one problem per class, against all other classes. codes (n,): class numbers from 0."""
    if classes == 2:
        return one_vs_one(codes, 2)
    rows = np.arange(len(codes))
    return [BinaryProblem(rows, np.where(codes == label, 1.0, -1.0)) for label in range(classes)]


def one_vs_one(codes: np.ndarray, classes: int) -> list[BinaryProblem]:
    """Return one problem for each pair of classes a < b, ordered by a, then b; b is the positive class."""
    problems = []
    for first, second in combinations(range(classes), 2):
        rows = np.flatnonzero((codes == first) | (codes == second))
        problems.append(BinaryProblem(rows, np.where(codes[rows] == second, 1.0, -1.0)))
    return problems


def two_class_scores(values: np.ndarray) -> np.ndarray:
    """Return the columns -f/2 and f/2 (n, 2) of decision values f (n,), positive for the second class.

    Their difference is f, so the confidence of the view ``margin`` is |f|.
    """
    return np.column_stack([-values / 2, values / 2])


def decision_values(scores: np.ndarray) -> np.ndarray:
    """Return scores (n, c) in the form of scikit-learn's ``decision_function``.

    With two classes it is the difference (n,) of the columns, positive for the second class; otherwise a copy
    of the scores.
    """
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores.copy()


def decision_scores(values: np.ndarray, classes: int, way: str) -> np.ndarray:
    """Return scores (n, c) from the decision values (n, problems), positive for the positive class.

    Two classes: `two_class_scores`. ``ovr``: the decision values. ``ovo``: for each class, the mean of its
    decision values against the other classes.
    """
    if classes == 2:
        return two_class_scores(values[:, 0])
    if way == "ovr":
        return values.copy()
    return _sum_by_class(values, -values, classes) / (classes - 1)


def vote_scores(values: np.ndarray, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the fraction of the c (c - 1) / 2 votes for each class (n, c), and the winners' numbers (n,).

    values (n, pairs): positive for the second class of a pair; 0 gives half a vote to each. Ties go to the
    larger sum of decision values, then to the first class.
    """
    check_width(values, classes * (classes - 1) // 2)
    for_second = (np.sign(values) + 1.0) / 2.0
    votes = _sum_by_class(for_second, 1.0 - for_second, classes)
    sums = _sum_by_class(values, -values, classes)
    return votes / max(values.shape[1], 1), argmax_with_tie_break(votes, sums)


def class_probabilities(positive: np.ndarray, classes: int) -> np.ndarray:
    """Return probabilities (n, c) from those of the positive classes of one-vs-rest problems (n, problems).

    They are divided by their sum, and equal if all are 0.
    """
    if classes == 2:
        return np.column_stack([1.0 - positive[:, 0], positive[:, 0]])
    total = positive.sum(axis=1, keepdims=True)
    return np.divide(positive, total, out=np.full_like(positive, 1.0 / classes), where=total > 0)


def class_errors(positive: np.ndarray, errors: np.ndarray, classes: int) -> np.ndarray:
    """Return standard errors (n, c) of `class_probabilities`; errors (n, problems) are independent."""
    if classes == 2:
        return np.repeat(errors, 2, axis=1)
    squares, total = errors**2, positive.sum(axis=1, keepdims=True)
    share = class_probabilities(positive, classes)
    spread = share**2 * squares.sum(axis=1, keepdims=True) + (1.0 - 2.0 * share) * squares
    root = np.sqrt(np.maximum(spread, 0.0))
    return np.divide(root, total, out=np.zeros_like(root), where=total > 0)


def _sum_by_class(second: np.ndarray, first: np.ndarray, classes: int) -> np.ndarray:
    """Return sums (n, c) over each class's pairs: ``second`` if it is second in a pair, else ``first``."""
    check_width(second, classes * (classes - 1) // 2)
    second, first = np.ascontiguousarray(second.T), np.ascontiguousarray(first.T)
    sums = np.zeros((classes, second.shape[1]))
    for pair, (a, b) in enumerate(combinations(range(classes), 2)):
        sums[a] += first[pair]
        sums[b] += second[pair]
    return np.ascontiguousarray(sums.T)
