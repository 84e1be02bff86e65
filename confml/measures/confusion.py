"""Confusion of classes: counts of true and predicted labels, precision, recall and F1."""

import math
from collections.abc import Iterator

from confml.measures.case import Case
from confml.measures.measure import Measure, Row
from confml.measures.metric import HIGHER, share

_SOURCE = "Sokolova and Lapalme 2009"


def rows(case: Case) -> Iterator[Row]:
    """Yield the means of precision, recall and F1 over the labels that are true or predicted."""
    found = case.confusion
    for name, values in (("precision", found.precision), ("recall", found.recall), ("f1", found.f1)):
        yield Row(f"{name}_macro", None, float(values.mean()) if len(values) else math.nan)


MEASURE = Measure(
    metrics={
        "precision_macro": share(
            "mean over the classes of the share of correct predictions among the rows predicted as the "
            "class; 0 "
            "for a class that is never predicted",
            HIGHER,
            "mean over c of #{i: predicted c, y_i = c} / #{i: predicted c}, c a true or predicted label",
            _SOURCE,
            heading="macro precision",
        ),
        "recall_macro": share(
            "mean over the classes of the share of correct predictions among the rows of the class; 0 for a "
            "predicted class without test rows",
            HIGHER,
            "mean over c of #{i: predicted c, y_i = c} / #{i: y_i = c}, c a true or predicted label",
            _SOURCE,
            heading="macro recall",
        ),
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
