"""Two views at one proportion: the best that each can do with the same sure-incorrect or sure-correct share.

Table 2 of Krzanowski et al. (2006) matches views at equal proportions, at a threshold of one of them. Where
several predictions have equal confidence, no threshold gives the proportion; a part of the group is then
accepted, each prediction of it with the same weight, which is the mean over all orders of the group.
"""

from typing import NamedTuple

import numpy as np

from confml.measures.rejection import RejectionCurve

EQUAL = 1e-9  # of numbers of predictions


class AtProportion(NamedTuple):
    """Predictions that one view accepts at a proportion.

    weights: (n,) 1 for accepted predictions, a part of 1 for those of one group. threshold: the least
    confidence that is accepted. tied: number of predictions in the group that is accepted in part, 0 for
    none.
    """

    weights: np.ndarray
    threshold: float
    tied: int


def at_incorrect(curve: RejectionCurve, certainty: np.ndarray, errors: float) -> AtProportion | None:
    """Return the most predictions with this expected number of errors; None if a view cannot have so few.

    certainty: (n,) of the predictions of ``curve``.
    """
    place = int(np.flatnonzero(curve.errors <= errors + EQUAL)[-1])
    part = 0.0
    if place + 1 < len(curve.errors):
        part = (errors - curve.errors[place]) / (curve.errors[place + 1] - curve.errors[place])
    return _accepted(curve, certainty, place, max(part, 0.0))


def at_correct(curve: RejectionCurve, certainty: np.ndarray, correct: float) -> AtProportion | None:
    """Return the fewest predictions with this expected number of correct ones, else as `at_incorrect`."""
    right = curve.accepted - curve.errors
    reached = np.flatnonzero(right >= correct - EQUAL)
    if not len(reached):
        return None
    place = int(reached[0])
    if place == 0:
        return _accepted(curve, certainty, 0, 0.0)
    part = (correct - right[place - 1]) / (right[place] - right[place - 1])
    return _accepted(curve, certainty, *((place, 0.0) if part >= 1.0 - EQUAL else (place - 1, part)))


def _accepted(curve: RejectionCurve, certainty: np.ndarray, groups: int, part: float) -> AtProportion | None:
    """Return the first ``groups`` groups of a curve and a part of the next one."""
    edges = np.concatenate([[np.inf], curve.confidences])
    weights = (certainty >= edges[groups]).astype(np.float64) if groups else np.zeros(len(certainty))
    if part <= EQUAL:
        found = AtProportion(weights, float(edges[groups]), 0)
    else:
        group = certainty == edges[groups + 1]
        weights[group] = part
        found = AtProportion(weights, float(edges[groups + 1]), int(np.count_nonzero(group)))
    return found if weights.sum() >= curve.always_accepted - EQUAL else None
