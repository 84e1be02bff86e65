"""p-values of true labels from calibration labels of which a known fraction is wrong.

Source: Sesia, Wang, Tong, Adaptive Conformal Classification with Noisy Labels, 2023.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from confml.errors import ConfmlError
from confml.methods.conformal.scores import rounding_errors


def noise_weights(label_noise: float | Any, classes: int) -> np.ndarray:
    """Return the inverse (c, c) of the matrix of probabilities of observed labels (columns) given true ones.

    label_noise: the matrix, or the fraction of wrong labels, with equal probabilities of all other labels.
    Raises ConfmlError for a matrix of other classes, or one that has no inverse.
    """
    matrix = np.array(label_noise, dtype=np.float64)
    if matrix.ndim == 0:
        if matrix >= 1 - 1 / classes:
            raise ConfmlError(
                f"label_noise must be below 1 - 1/{classes} for {classes} classes, got {label_noise}",
                hint="labels with this rate say nothing about the true labels",
            )
        other = matrix / max(classes - 1, 1)
        matrix = np.full((classes, classes), other) + np.eye(classes) * (1 - matrix - other)
    if matrix.shape != (classes, classes):
        raise ConfmlError(f"label_noise has {len(matrix)} rows, expected one for each of {classes} classes")
    if np.linalg.cond(matrix) > 1e8:
        raise ConfmlError(
            "label_noise has no inverse: some true labels have the same observed ones",
            hint="merge these classes",
        )
    return np.linalg.inv(matrix)


class CleanCounts(NamedTuple):
    """Estimated numbers of calibration examples whose score under the true label is at least a score.

    scores: (k,) sorted scores under all labels. largest: (k + 1,) the largest estimate, at least 0, for any
    threshold from each score on. rows: number of calibration examples. size: see `usual_size`.
    """

    scores: np.ndarray
    largest: np.ndarray
    rows: int
    size: float

    def at_least(self, scores: np.ndarray) -> np.ndarray:
        """Return the estimates (m, c) for scores (m, c) of test examples, at most the number of rows."""
        places = np.searchsorted(self.scores, scores - rounding_errors(scores, self.size), side="left")
        return np.minimum(self.largest[places], self.rows)


CleanCounts.stored = {"scores": "f8(*)", "largest": "f8(*)", "rows": "int in 0..", "size": "float"}  # type: ignore[attr-defined]


def clean_counts(scores: np.ndarray, codes: np.ndarray, weights: np.ndarray, size: float) -> CleanCounts:
    """Return the estimates from scores (n, c), observed labels (n,) and `noise_weights`.

    If wrong labels do not depend on the features, an example with observed label o counts for each label j
    with weight W[o, j], and the sums are unbiased: the expected sum over all observed labels of an example
    with true label y is 1 for j = y and 0 for other labels.
    """
    flat, shares = scores.ravel(), weights[codes].ravel()
    order = np.argsort(flat, kind="stable")
    placed, sums = flat[order], np.cumsum(shares[order][::-1])[::-1]
    with np.errstate(invalid="ignore"):  # inf - inf, which are equal
        starts = np.diff(placed, prepend=-np.inf) > rounding_errors(placed, size)
    starts[:1] = True
    estimates = np.append(np.where(starts, np.maximum(sums, 0), 0), 0)
    return CleanCounts(placed, np.maximum.accumulate(estimates[::-1])[::-1], len(codes), size)
