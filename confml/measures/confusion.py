"""Confusion of classes: mean F1."""

import math
from collections.abc import Iterator

from confml.measures.case import Case
from confml.measures.measure import Measure, Row
from confml.measures.metric import HIGHER, share

_SOURCE = "Sokolova and Lapalme 2009"


def rows(case: Case) -> Iterator[Row]:
    """Yield the mean of F1 over the labels that are true or predicted."""
    f1 = case.confusion.f1
    yield Row("f1_macro", None, float(f1.mean()) if len(f1) else math.nan)


MEASURE = Measure(
    metrics={
        "f1_macro": share(
            "mean over the classes of the harmonic mean of precision and recall",
            HIGHER,
            "mean over c of 2 #{i: predicted c, y_i = c} / (#{i: predicted c} + #{i: y_i = c})",
            _SOURCE,
            heading="macro F1",
        ),
    },
    rows=rows,
)
