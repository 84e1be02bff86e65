"""Thresholds that are certified together over methods, views and thresholds.

`confml.measures.certified` certifies the thresholds of one method. If several methods are certified like that
and the best one is chosen, the guarantee is lost: with ten equal methods, one of them has a false certificate
in 17 to 26 % of all calibration parts at delta = 5 %. Here, all hypotheses are tested together (Learn then
Test, Angelopoulos et al. 2021, with the graphical procedure of Bretz et al. 2009), so any choice among the
certified thresholds keeps the guarantee.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from confml.measures.certified import binomial_p_value, counts_at


class Path(NamedTuple):
    """Thresholds (t,) of one candidate in the order in which they are tested, with their p-values (t,).

    accepted, errors: (t,) numbers of calibration rows with confidence >= threshold, and of errors among
    these. The thresholds and their order must not depend on the calibration part.
    """

    thresholds: np.ndarray
    p_values: np.ndarray
    accepted: np.ndarray
    errors: np.ndarray

    @classmethod
    def of_errors(cls, confidence, correct, thresholds, risk: float) -> "Path":
        """Test at each threshold whether the error rate of the accepted rows is above ``risk``.

        confidence, correct: (n,) of the calibration rows. Raises ValueError for NaN, or arrays of different
        lengths.
        """
        confidence, correct = np.asarray(confidence, dtype=np.float64), np.asarray(correct, dtype=bool)
        if confidence.ndim != 1 or confidence.shape != correct.shape or np.isnan(confidence).any():
            raise ValueError("confidence and correct must both have shape (n,), without NaN")
        thresholds = np.asarray(thresholds, dtype=np.float64)
        accepted, errors = counts_at(confidence, correct, thresholds)
        return cls(thresholds, binomial_p_value(errors, accepted, risk), accepted, errors)


def certify_paths(paths: Sequence[Path], delta: float = 0.05) -> list[int]:
    """Return the number of certified thresholds of each path: the first ones in its order.

    Each path has an equal part of ``delta`` as its budget. Its next threshold is certified if its p-value is
    at most the budget; a path whose thresholds are all certified gives its budget in equal parts to the paths
    that are not finished. Paths without thresholds get no budget.

    With probability at least 1 - ``delta`` over calibration parts, no certified threshold is above its limit.
    So any choice among them keeps the guarantee, whatever the dependence between methods. Raises ValueError
    unless 0 < delta < 1.
    """
    if not 0.0 < delta < 1.0:
        raise ValueError(f"delta must be above 0 and below 1, got {delta}")
    certified = [0] * len(paths)
    going = [number for number, path in enumerate(paths) if len(path.thresholds)]
    budget = delta / max(len(going), 1)  # equal for all paths that are not finished, at every moment
    while True:
        for number in going:
            p = paths[number].p_values
            while certified[number] < len(p) and p[certified[number]] <= budget:
                certified[number] += 1
        left = [number for number in going if certified[number] < len(paths[number].thresholds)]
        if len(left) in (0, len(going)):
            return certified
        going, budget = left, delta / len(left)


def most_accepting(paths: Sequence[Path], certified: Sequence[int]) -> tuple[int, int] | None:
    """Return the certified (path, threshold) that accepts most calibration rows; None without one.

    The first path of several, and its first threshold.
    """
    best: tuple[int, int] | None = None
    most = -1
    for number, (path, count) in enumerate(zip(paths, certified, strict=True)):
        if count:
            index = int(np.argmax(path.accepted[:count]))
            if path.accepted[index] > most:
                best, most = (number, index), int(path.accepted[index])
    return best
