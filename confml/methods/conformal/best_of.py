"""`best_of`: p-values of the classifier with the smallest regions, chosen so that their bound is kept.

Source: Liang, Zhu, Barber, Conformal Prediction After Efficiency-Oriented Model Selection, 2024.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from confml.measures.metric import Metric
from confml.methods.conformal.scores import counts_against, rounding_errors
from confml.plugins.by import MOST

BEST_OF_METRICS = {
    f"chosen_{number}": Metric(
        f"fraction of test examples and labels whose p-value is of candidate {number} of best-of"
        + " (the method itself)" * (number == 1),
        None,
    )
    for number in range(1, MOST + 1)
}


def smallest_regions(
    true_scores: Sequence[np.ndarray],
    every: Sequence[np.ndarray],
    sizes: Sequence[float],
    scores: Sequence[np.ndarray],
    level: float,
) -> np.ndarray:
    """Return the place (m, c) of the candidate with the smallest regions, for each label of m test examples.

    true_scores, every: for each candidate the sorted scores of the n calibration examples under their labels
    (n,), and under all labels (n c,). sizes: see `usual_size`. scores: (m, c) of the test examples.

    With a label for the test example each candidate has n + 1 scores. Its threshold is the
    ceil((1 - level) (n + 1))-th smallest of them, which is the new score or one of two calibration scores,
    and its size is the number of labels of all n + 1 examples whose score is at most the threshold. The
    choice treats the n + 1 examples alike, so the p-value keeps its bound. Ties go to the first candidate.
    """
    rank = math.ceil((1 - level) * (len(true_scores[0]) + 1) - 1e-9)
    labels = []
    for mine, all_labels, size, new in zip(true_scores, every, sizes, scores, strict=True):
        bounds = np.concatenate([[-np.inf], mine, [np.inf]])
        threshold = np.clip(new, bounds[rank - 1], bounds[rank])
        threshold = threshold + rounding_errors(threshold, size)
        counted = np.searchsorted(all_labels, threshold, side="right")
        for column in new.T:
            counted += column[:, None] <= threshold
        labels.append(counted)
    return np.argmin(labels, axis=0)


def smallest_alone(true_scores: Sequence[np.ndarray], every: Sequence[np.ndarray], level: float) -> int:
    """Return the place of the candidate with the smallest regions of calibration examples.

    It orders labels with equal p-values. P-values of this candidate alone have no bound, because the choice
    treats calibration and test examples differently.
    """
    rank = math.ceil((1 - level) * (len(true_scores[0]) + 1) - 1e-9)
    bounds = [np.append(mine, np.inf)[rank - 1] for mine in true_scores]
    sizes = [np.searchsorted(pool, bound, side="right") for pool, bound in zip(every, bounds, strict=True)]
    return int(np.argmin(sizes))


def best_counts(
    true_scores: Sequence[np.ndarray],
    sizes: Sequence[float],
    scores: Sequence[np.ndarray],
    chosen: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers (m, c) of calibration scores of the chosen candidates that exceed, and that equal,
    the scores of test examples."""
    counts = [counts_against(*candidate) for candidate in zip(true_scores, scores, sizes, strict=True)]
    greater, equal = np.take_along_axis(np.array(counts), chosen[None, None], axis=0)[0]
    return greater, equal
