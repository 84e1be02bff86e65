"""Confusion of classes: counts of true and predicted labels, precision, recall and F1."""

from collections.abc import Iterator

import numpy as np

from confml.measures.block import Block
from confml.measures.measure import Column, Measure
from confml.measures.metric import HIGHER, PAGE, share

_SOURCE = "Sokolova and Lapalme 2009"


def _compute(block: Block) -> Iterator[Column]:
    counts = block.confusion
    rows, predicted = counts.sum(axis=2), counts.sum(axis=1)
    correct = np.diagonal(counts, axis1=1, axis2=2)
    yield Column("precision_macro", None, _macro_means(correct, predicted, rows + predicted > 0))
    yield Column("recall_macro", None, _macro_means(correct, rows, rows + predicted > 0))
    yield Column("f1_macro", None, _macro_means(2 * correct, rows + predicted, rows + predicted > 0))


def _macro_means(part: np.ndarray, whole: np.ndarray, occurs: np.ndarray) -> np.ndarray:
    """Return the mean of part / whole over the labels (s, l) that occur in each case (s,); 0 / 0 is 0."""
    ratios = np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)
    means, number = np.full(len(ratios), np.nan), occurs.sum(axis=1)
    for k in np.unique(number[number > 0]).tolist():
        mine = number == k
        means[mine] = ratios[mine][occurs[mine]].reshape(-1, k).mean(axis=1)
    return means


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
            tables=(PAGE,),
        ),
    },
    compute=_compute,
)
