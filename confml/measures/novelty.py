"""Examples of classes that training never saw: are they told apart by low credibility?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from confml.measures._case import Case, Measure, Row, fraction
from confml.measures.metrics import HIGHER, LOWER, Metric


def familiarity(case: Case) -> np.ndarray:
    """(n,) how well each example fits what was trained on: credibility of p-values, else the confidence."""
    credibility = case.prediction.credibility
    return case.prediction.confidence if credibility is None else credibility


def separation(known: np.ndarray, unseen: np.ndarray) -> float:
    """The probability that a value of ``known`` exceeds one of ``unseen``, ties counted half (AUROC)."""
    if len(known) == 0 or len(unseen) == 0:
        return float("nan")
    ranked = np.sort(unseen)
    below = np.searchsorted(ranked, known, side="left") + np.searchsorted(ranked, known, side="right")
    return float(below.sum()) / (2.0 * len(known) * len(unseen))


def _compute(case: Case) -> Iterator[Row]:
    unseen = case.true_columns < 0
    if not unseen.any():
        return
    values = familiarity(case)
    yield Row("unseen_separation", None, separation(values[~unseen], values[unseen]))
    if case.prediction.credibility is None:
        return
    for level in case.levels:
        low = values <= level
        yield Row("unseen_no_class", level, fraction(np.count_nonzero(low & unseen), unseen.sum()))
        yield Row("known_no_class", level, fraction(np.count_nonzero(low & ~unseen), (~unseen).sum()))


MEASURE = Measure(
    metrics={
        "unseen_separation": Metric(
            "probability that a test example of a class in training has a higher "
            "credibility (confidence where there is none) than one of a class that is not",
            HIGHER,
            "P(credibility of a known > of an absent class) + P(equal) / 2",
        ),
        "unseen_no_class": Metric(
            "share of empty regions among test examples of classes that are not in training",
            HIGHER,
            "#{i: y_i absent, |G_i| = 0} / #{i: y_i absent}",
        ),
        "known_no_class": Metric(
            "share of empty regions among test examples of classes that are",
            LOWER,
            "#{i: y_i known, |G_i| = 0} / #{i: y_i known}",
        ),
    },
    compute=_compute,
)
