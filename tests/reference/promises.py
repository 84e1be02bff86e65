"""Literal definitions of guarantees for groups, and after a choice of method."""

import math
from fractions import Fraction


def group_p_value(scores, groups, t, group):
    """p-value of a score among the calibration examples of its group."""
    mine = [s for s, g in zip(scores, groups, strict=True) if g == group]
    return (1 + sum(s >= t for s in mine)) / (1 + len(mine))


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
