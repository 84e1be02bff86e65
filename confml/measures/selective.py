"""The reject option: sure and correct, sure and incorrect, unsure at thresholds; areas over all of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from confml.measures._case import Case, Measure, Row
from confml.measures.rejection import curve_of, sureness

AREAS = ("augrc", "aurc", "e_aurc", "auroc_correct")


def _compute(case: Case) -> Iterator[Row]:
    """What `Prediction.accepted` accepts is sure, the rest unsure; the row's level is the threshold."""
    if np.isnan(case.prediction.certainty).any():
        areas = dict.fromkeys(AREAS, float("nan"))  # a confidence that is NaN has no place in an order
    else:
        areas = curve_of(case.prediction, case.truth).summary()
    for name in AREAS:
        yield Row(name, None, areas[name])
    for threshold in case.thresholds:
        found = sureness(case.prediction.accepted(threshold), case.correct)
        yield Row("sure_correct", threshold, found.correct)
        yield Row("sure_incorrect", threshold, found.incorrect)
        yield Row("unsure", threshold, found.unsure)
        yield Row("expected_loss", threshold, found.expected_loss())


MEASURE = Measure(
    metrics={
        "augrc": "area under errors accepted against coverage, 0 (best) to 1/2: the one to compare by",
        "aurc": "area under risk against coverage: mean error of the accepted over all coverages",
        "e_aurc": "aurc less that of the best order of the same predictions, 0 at best",
        "auroc_correct": "probability that a right prediction is more confident than a wrong one",
        "sure_correct": "share of test examples accepted at the threshold and predicted rightly",
        "sure_incorrect": "share of test examples accepted at the threshold and predicted wrongly",
        "unsure": "share of test examples rejected at the threshold",
        "expected_loss": "2 sure_incorrect - sure_correct at the threshold, unsure being free",
    },
    compute=_compute,
)
