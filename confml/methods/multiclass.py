"""Multiclass classification with binary classifiers: one-vs-rest and one-vs-one.

`one_vs_rest` and `one_vs_one` divide a training set into binary problems. A classifier is fitted to each, and
the functions below combine their results. Two classes make one problem, with the second class as positive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class BinaryProblem(NamedTuple):
    """A binary training set within a larger one.

    rows (l,): numbers of the training rows. targets (l,): +1. for those of class number ``positive``, -1. for
    those of ``negative``, or of all other classes where that is None.
    """

    rows: np.ndarray
    targets: np.ndarray
    positive: int
    negative: int | None


def one_vs_rest(codes: np.ndarray, classes: int) -> list[BinaryProblem]:
    """Return one problem per class, in the order of the classes. codes (n,): class numbers from 0."""
    if classes == 2:
        return one_vs_one(codes, 2)
    rows = np.arange(len(codes))
    return [BinaryProblem(rows, np.where(codes == label, 1.0, -1.0), label, None) for label in range(classes)]


def one_vs_one(codes: np.ndarray, classes: int) -> list[BinaryProblem]:
    """Return one problem per pair of classes a < b, ordered by a, then b; b is the positive class."""
    problems = []
    for first in range(classes):
        for second in range(first + 1, classes):
            rows = np.flatnonzero((codes == first) | (codes == second))
            targets = np.where(codes[rows] == second, 1.0, -1.0)
            problems.append(BinaryProblem(rows, targets, second, first))
    return problems


PROBLEMS: dict[str, Callable[[np.ndarray, int], list[BinaryProblem]]] = {
    "ovr": one_vs_rest,
    "ovo": one_vs_one,
}


def pairs(classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the class numbers (a, b) of the problems of `one_vs_one`, in their order."""
    return np.triu_indices(classes, 1)


def decision_scores(values: np.ndarray, classes: int, way: str) -> np.ndarray:
    """Return scores (n, c) from decision values (n, problems), which are positive for the positive class.

    Two classes: -f/2 and f/2, whose difference is f. ``ovr``: the values themselves. ``ovo``: for each class
    the mean of its values against the others.
    """
    if classes == 2:
        return np.column_stack([-values[:, 0] / 2, values[:, 0] / 2])
    if way == "ovr":
        return values.copy()
    return _added_by_class(values, -values, classes) / (classes - 1)


def vote_scores(values: np.ndarray, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the fractions (n, c) of the c (c - 1) / 2 votes, and the class numbers (n,) of the winners.

    values (n, pairs): positive for the second class of a pair; 0 gives half a vote to each. Equal votes are
    decided by the larger sum of decision values, then by the first class.
    """
    votes = _added_by_class(
        np.where(values > 0, 1.0, np.where(values < 0, 0.0, 0.5)),
        np.where(values < 0, 1.0, np.where(values > 0, 0.0, 0.5)),
        classes,
    )
    sums = _added_by_class(values, -values, classes)
    sums[votes < votes.max(axis=1, keepdims=True)] = -np.inf
    return votes / max(values.shape[1], 1), np.argmax(sums, axis=1)


def class_probabilities(positive: np.ndarray, classes: int, way: str) -> np.ndarray:
    """Return probabilities (n, c), which sum to 1, from P(positive class) (n, problems).

    ``ovr``: the values divided by their sum (equal probabilities where all values are 0). ``ovo``: the
    mean over a class's pairs, times 2 / c.
    """
    if classes == 2:
        return np.column_stack([1.0 - positive[:, 0], positive[:, 0]])
    if way == "ovr":
        total = positive.sum(axis=1, keepdims=True)
        even = np.full_like(positive, 1.0 / classes)
        return np.divide(positive, total, out=even, where=total > 0)
    return _added_by_class(positive, 1.0 - positive, classes) * (2.0 / (classes * (classes - 1)))


def class_errors(positive: np.ndarray, errors: np.ndarray, classes: int, way: str) -> np.ndarray:
    """Return standard errors (n, c) of `class_probabilities` from those of independent classifiers."""
    if classes == 2:
        return np.repeat(errors, 2, axis=1)
    squares = errors**2
    if way == "ovr":
        total = positive.sum(axis=1, keepdims=True)
        share = class_probabilities(positive, classes, way)
        spread = share**2 * squares.sum(axis=1, keepdims=True) + (1.0 - 2.0 * share) * squares
        root = np.sqrt(np.maximum(spread, 0.0))
        return np.divide(root, total, out=np.zeros_like(root), where=total > 0)
    return np.sqrt(_added_by_class(squares, squares, classes)) * (2.0 / (classes * (classes - 1)))


def _added_by_class(second: np.ndarray, first: np.ndarray, classes: int) -> np.ndarray:
    """Return sums (n, c) over the pairs of a class: ``second`` where it is the second one, else ``first``."""
    out = np.zeros((len(second), classes))
    for place, (a, b) in enumerate(zip(*pairs(classes), strict=True)):
        out[:, a] += first[:, place]
        out[:, b] += second[:, place]
    return out
