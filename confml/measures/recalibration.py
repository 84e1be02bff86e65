"""The event whose calibration a reliability diagram shows."""

from typing import NamedTuple

import numpy as np

from confml.measures.case import Case


class Event(NamedTuple):
    """Probabilities (n,) of one event of each test example, and whether it happened (n,) bool."""

    p: np.ndarray
    happened: np.ndarray


def event_of(case: Case) -> Event:
    """Return the event "second class" with two classes, and "the prediction is correct" with more.

    The probability of the latter is the largest one of each example. Labels of absent classes are not the
    second class.
    """
    scores = case.prediction.scores
    if scores.shape[1] == 2:
        return Event(scores[:, 1], case.true_columns == 1)
    return Event(scores.max(axis=1, initial=0.0), case.correct)
