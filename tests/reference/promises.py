"""Literal definitions of guarantees for groups, and after a choice of method."""

import math
from fractions import Fraction

import numpy as np
from reference.tcm_nn import all_alphas, distances


def group_p_value(scores, groups, t, group):
    """p-value of a score among the calibration examples of its group."""
    mine = [s for s, g in zip(scores, groups, strict=True) if g == group]
    return (1 + sum(s >= t for s in mine)) / (1 + len(mine))


def tcm_p_value(X, y, groups, x, group, label, k, by_label):
    """TCM-NN p-value of a label among the examples of the group of the new one, itself included."""
    Z, labels, of_rows = np.vstack([X, x]), np.append(y, label), [*groups, group]
    alphas = all_alphas(distances(Z, Z), labels, k)
    counted = [g == group and (j == label or not by_label) for g, j in zip(of_rows, labels, strict=True)]
    return np.mean(alphas[counted] >= alphas[-1])


def best_of_p_value(calibration, labels, new, label, level):
    """p-value of a label under the method with the smallest regions of all n + 1 examples, and the method.

    calibration, new: for each method the scores (n, c) of the calibration examples, and (c,) of the new one.
    """
    n, best = len(labels), None
    for method, (scores, t) in enumerate(zip(calibration, new, strict=True)):
        completed = [*(row[j] for row, j in zip(scores, labels, strict=True)), t[label]]
        threshold = sorted(completed)[math.ceil((1 - Fraction(str(level))) * (n + 1)) - 1]
        size = sum(s <= threshold for row in [*scores, t] for s in row)
        if best is None or size < best[0]:
            best = size, method, sum(s >= t[label] for s in completed) / (n + 1)
    return best[2], best[1]
