"""Literal definitions of guarantees for groups, and after a choice of method."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np


def group_p_value(scores, groups, t, group):
    """p-value of a score among the calibration examples of its group."""
    mine = [s for s, g in zip(scores, groups, strict=True) if g == group]
    return (1 + sum(s >= t for s in mine)) / (1 + len(mine))


def tcm_p_value(X, y, groups, x, group, label, k, by_label):
    """TCM-NN p-value of a label among the examples of the group of the new one, itself included."""
    Z, labels, own = np.vstack([X, x]), [*y, label], [*groups, group]
    alphas = []
    for i in range(len(Z)):
        distances = [math.sqrt(sum((a - b) ** 2)) for a, b in zip(Z, [Z[i]] * len(Z), strict=True)]
        pairs = [(d, labels[j] == labels[i]) for j, d in enumerate(distances) if j != i]
        same = sorted(d for d, is_same in pairs if is_same)[:k]
        other = sorted(d for d, is_same in pairs if not is_same)[:k]
        a = sum(same) if len(same) == k else math.inf
        b = sum(other) if len(other) == k else math.inf
        alphas.append(math.inf if a == math.inf else 1.0 if a == b == 0 else math.inf if b == 0 else a / b)
    counted = [
        alpha
        for alpha, g, j in zip(alphas, own, labels, strict=True)
        if g == group and (j == label or not by_label)
    ]
    return sum(alpha >= alphas[-1] for alpha in counted) / len(counted)


def best_of_p_value(known, labels, new, label, level):
    """p-value of a label under the method with the smallest regions of all n + 1 examples, and its place.

    known, new: for each method the scores (n, c) of the calibration examples, and (c,) of the new one.
    """
    n, best = len(labels), None
    for place, (scores, t) in enumerate(zip(known, new, strict=True)):
        own = [*(row[j] for row, j in zip(scores, labels, strict=True)), t[label]]
        threshold = sorted(own)[math.ceil((1 - Fraction(str(level))) * (n + 1)) - 1]
        size = sum(s <= threshold for row in [*scores, t] for s in row)
        if best is None or size < best[0]:
            best = size, place, sum(s >= t[label] for s in own) / (n + 1)
    return best[2], best[1]
