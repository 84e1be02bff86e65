"""Selection of a point of a parameter grid by inner cross-validation."""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from confml.measures import known_metrics
from confml.measures.costs import costs_of, mean_cost
from confml.measures.point import adjusted_rand_index
from confml.measures.prediction import Prediction


def inner_score(
    prediction: Prediction, truth: np.ndarray, select_by: str, costs: Mapping[str, Any] | None = None
) -> float:
    """Return the ``accuracy``, ``error``, ``ari`` or ``cost`` of a prediction with true labels (n,).

    costs: those of the config, for ``cost``.
    """
    if select_by == "cost":
        return mean_cost(prediction, truth, costs_of(costs))
    labels = prediction.labels
    if select_by == "ari":
        return adjusted_rand_index(truth, labels)
    right = float(np.mean(labels == truth))
    return 1 - right if select_by == "error" else right


def best_point(
    grid: Sequence[Mapping[str, Any]], scores: Sequence[Sequence[float | None]], select_by: str
) -> tuple[int | None, list[dict[str, Any]]]:
    """Return the number of the point with the best mean score, and a summary of each point.

    scores: for each point its scores on the folds; None for a fold where it failed. The best mean wins, in
    the direction that the metric declares; ties go to the first point. A point that failed on a fold is out;
    the number is None where all are. A summary has the keys ``params``, ``mean``, ``sd`` and ``folds``.
    """
    sign = known_metrics()[select_by].sign
    summaries: list[dict[str, Any]] = []
    best: int | None = None
    for number, (point, of_folds) in enumerate(zip(grid, scores, strict=True)):
        folds = [score for score in of_folds if score is not None]
        failed = not folds or len(folds) < len(of_folds)
        # fsum, because two points with the same scores in another order of the folds must tie.
        mean = None if failed else math.fsum(folds) / len(folds)
        sd = None if failed else (statistics.stdev(folds) if len(folds) > 1 else 0.0)
        summaries.append({"params": dict(point), "mean": mean, "sd": sd, "folds": list(of_folds)})
        if mean is None:
            continue
        if best is None or sign * (mean - summaries[best]["mean"]) > 0:
            best = number
    return best, summaries
