"""Choice of a point of a parameter grid by its mean score over folds."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from confml.measures.point import adjusted_rand_index
from confml.measures.prediction import Prediction


def fold_score(prediction: Prediction, truth: np.ndarray, select_by: str) -> float:
    """Return ``accuracy``, ``error`` or ``ari`` (adjusted Rand index) of the predicted labels."""
    labels = np.asarray(prediction.labels)
    if select_by == "ari":
        return adjusted_rand_index(truth, labels)
    accuracy = float(np.mean(labels == truth))
    return 1 - accuracy if select_by == "error" else accuracy


def best_point(
    grid: Sequence[Mapping[str, Any]], folds: Sequence[Sequence[float | None]], sign: int
) -> tuple[int | None, list[dict[str, Any]]]:
    """Return the number of the point with the best mean score, and the scores of all points.

    folds: for each point its score on each fold, None if it failed. sign: 1 if larger scores are better, -1
    if smaller scores are better. Ties go to the first point of the grid. A point without scores, or that
    failed on a fold, is excluded; the number is None if all points are excluded. The scores have the keys
    params, mean, sd and folds.
    """
    best, best_mean, scores = None, -math.inf, []
    for number, (point, found) in enumerate(zip(grid, folds, strict=True)):
        known = [score for score in found if score is not None]
        mean = sd = None
        if known and len(known) == len(found):
            # fsum, because points with the same scores in another order of folds must tie.
            mean = math.fsum(known) / len(known)
            sd = statistics.stdev(known) if len(known) > 1 else 0.0
            if best is None or sign * mean > best_mean:
                best, best_mean = number, sign * mean
        scores.append({"params": dict(point), "mean": mean, "sd": sd, "folds": list(found)})
    return best, scores
