"""The reject option at fixed thresholds: sure and correct, sure and incorrect, unsure."""

from __future__ import annotations

from collections.abc import Iterator

from confml.measures._case import Case, Measure, Row


def _compute(case: Case) -> Iterator[Row]:
    """What `Prediction.accepted` accepts is sure, the rest unsure; the row's level is the threshold."""
    for threshold in case.thresholds:
        accepted = case.prediction.accepted(threshold)
        yield Row("sure_correct", threshold, case.share(accepted & case.correct))
        yield Row("sure_incorrect", threshold, case.share(accepted & ~case.correct))
        yield Row("unsure", threshold, case.share(~accepted))


MEASURE = Measure(
    metrics={
        "sure_correct": "share of test examples accepted at the threshold and predicted rightly",
        "sure_incorrect": "share of test examples accepted at the threshold and predicted wrongly",
        "unsure": "share of test examples rejected at the threshold",
    },
    compute=_compute,
)
