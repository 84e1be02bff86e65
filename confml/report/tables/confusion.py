"""``confusion.csv`` and ``class-metrics.csv``: counts of labels; precision, recall and F1 of each class."""

from collections.abc import Iterator, Sequence

import numpy as np

from confml.measures import Metric
from confml.measures.confusion_matrix import Confusion
from confml.measures.metric import HIGHER
from confml.report.run.results import Split, Variant
from confml.report.tables.table import KEY, Row, Table, by_view

_SOURCE = "Sokolova and Lapalme 2009"
METRICS = {
    "precision": Metric(
        "share of correct predictions among the rows predicted as the class; 0 for a class that is never "
        "predicted",
        HIGHER,
        "#{i: predicted c, y_i = c} / #{i: predicted c}",
        _SOURCE,
    ),
    "recall": Metric(
        "share of correct predictions among the rows of the class; 0 for a class without test rows",
        HIGHER,
        "#{i: predicted c, y_i = c} / #{i: y_i = c}",
        _SOURCE,
    ),
    "f1": Metric(
        "harmonic mean of precision and recall of the class",
        HIGHER,
        "2 #{i: predicted c, y_i = c} / (#{i: predicted c} + #{i: y_i = c})",
        _SOURCE,
    ),
}
"""Declarations of the metrics of ``class-metrics.csv``."""


def confusion_of(splits: Sequence[Split]) -> Confusion:
    """Return the confusion matrix of the test rows of all splits together."""
    truth = np.concatenate([case.truth for _, case in splits])
    return Confusion.of(truth, np.concatenate([case.prediction.labels for _, case in splits]))


def confusion_rows(splits: Sequence[Split], variant: Variant) -> Iterator[Row]:
    """Count the test rows of each pair of a true and a predicted label that occurs.

    ``label``: true label; ``prediction``: predicted label; ``count``: number of rows over all splits.
    """
    confusion = confusion_of(splits)
    labels, counts = confusion.labels.tolist(), confusion.counts
    for true, predicted in np.argwhere(counts).tolist():
        yield labels[true], labels[predicted], int(counts[true, predicted])


def class_rows(splits: Sequence[Split], variant: Variant) -> Iterator[Row]:
    """Compute the measures of each class.

    ``rows``: its test rows; ``predicted``: the rows that are predicted as it; ``correct``: those of both; and
    its precision, recall and F1. All are computed from the counts of all splits together. The mean F1 over
    the classes and then over the splits is in ``summary.csv`` (``f1_macro``).
    """
    confusion = confusion_of(splits)
    columns = [confusion.labels, confusion.rows, confusion.predicted, confusion.correct]
    columns += [confusion.precision, confusion.recall, confusion.f1]
    yield from zip(*(column.tolist() for column in columns), strict=True)


CONFUSION = Table(
    "confusion.csv",
    "confusion matrices: counts of true and predicted labels over all splits",
    "dataset method params view label prediction count",
    by_view(confusion_rows),
)
CLASS_METRICS = Table(
    "class-metrics.csv",
    "precision, recall and F1 of each class over all splits",
    (*KEY, "class", "rows", "predicted", "correct", *METRICS),
    by_view(class_rows),
    metrics=METRICS,
)
