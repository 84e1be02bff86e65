"""Confusion of classes: counts of true and predicted labels, precision, recall and F1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from confml.measures._case import Case, Measure, Row
from confml.measures.metrics import HIGHER, Metric

if TYPE_CHECKING:
    from confml.measures.block import Block, Column

_SOURCE = "Sokolova and Lapalme 2009"


@dataclass(frozen=True)
class Confusion:
    """Confusion matrix: ``counts[i, j]`` is the number of rows of class ``labels[i]`` predicted as
    ``labels[j]``.

    labels: (k,) every true or predicted label, sorted. counts: (k, k) int64.

    A ratio 0 / 0 counts as 0, as in scikit-learn: the precision of a class that is never predicted, the
    recall of a class without test rows.
    """

    labels: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, truth: np.ndarray, predicted: np.ndarray) -> Confusion:
        """Return the confusion matrix of true and predicted labels (n,)."""
        labels, codes = np.unique(np.concatenate([truth, predicted]), return_inverse=True)
        k, codes = len(labels), codes.reshape(-1)
        pairs = codes[: len(truth)] * k + codes[len(truth) :]
        return cls(labels, np.bincount(pairs, minlength=k * k).reshape(k, k))

    @classmethod
    def of_case(cls, case: Case) -> Confusion:
        """Return the confusion matrix of a case, as `of` does."""
        return case.once("confusion", lambda: cls._of_case(case))

    @classmethod
    def _of_case(cls, case: Case) -> Confusion:
        classes, columns = case.prediction.classes, case.predicted_columns
        inside = np.minimum(columns, len(classes) - 1)
        if not case.known.all() or not (classes[inside] == case.prediction.labels).all():
            return cls.of(case.truth, case.prediction.labels)
        k = len(classes)  # integers are sorted faster than texts
        counts = np.bincount(case.true_columns * k + columns, minlength=k * k).reshape(k, k)
        used = np.flatnonzero(counts.sum(axis=0) + counts.sum(axis=1))
        return cls(classes[used], counts[np.ix_(used, used)])

    @property
    def rows(self) -> np.ndarray:
        """(k,) number of rows of each class."""
        return self.counts.sum(axis=1)

    @property
    def predicted(self) -> np.ndarray:
        """(k,) number of rows predicted as each class."""
        return self.counts.sum(axis=0)

    @property
    def correct(self) -> np.ndarray:
        """(k,) number of rows of each class that are predicted correctly."""
        return np.diagonal(self.counts)

    @property
    def precision(self) -> np.ndarray:
        """(k,) share of correct predictions among the rows predicted as each class."""
        return _ratio(self.correct, self.predicted)

    @property
    def recall(self) -> np.ndarray:
        """(k,) share of correct predictions among the rows of each class."""
        return _ratio(self.correct, self.rows)

    @property
    def f1(self) -> np.ndarray:
        """(k,) harmonic mean of precision and recall of each class."""
        return _ratio(2 * self.correct, self.rows + self.predicted)


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)


def _compute(case: Case) -> Iterator[Row]:
    found = Confusion.of_case(case)
    for name, values in (("precision", found.precision), ("recall", found.recall), ("f1", found.f1)):
        yield Row(f"{name}_macro", None, float(values.mean()) if len(values) else float("nan"))
    yield Row("f1_micro", None, case.share(case.correct))


def _compute_block(block: Block) -> Iterator[Column]:
    from confml.measures.block import Column

    for name in ("precision", "recall", "f1"):
        yield Column(f"{name}_macro", None, _macro_means(block, name))
    yield Column("f1_micro", None, block.shares(block.whole.correct))


def _macro_means(block: Block, name: str) -> np.ndarray:
    """Return the mean over the labels that occur in each case (s,), which are different numbers of labels."""
    counts = block.confusion
    if counts is None:
        return np.array([getattr(Confusion.of_case(case), name).mean() for case in block.cases])
    rows, predicted = counts.sum(axis=2), counts.sum(axis=1)
    correct = np.diagonal(counts, axis1=1, axis2=2)
    part, whole = {
        "precision": (correct, predicted),
        "recall": (correct, rows),
        "f1": (2 * correct, rows + predicted),
    }[name]
    ratios = np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)
    occurs = rows + predicted > 0
    found, number = np.zeros(len(block)), occurs.sum(axis=1)
    for k in np.unique(number).tolist():
        mine = number == k
        found[mine] = ratios[mine][occurs[mine]].reshape(-1, k).mean(axis=1)
    return found


MEASURE = Measure(
    metrics={
        "precision_macro": Metric(
            "mean over the classes of the share of correct predictions among the rows predicted as the "
            "class; 0 "
            "for a class that is never predicted",
            HIGHER,
            "mean over c of #{i: predicted c, y_i = c} / #{i: predicted c}, c a true or predicted label",
            _SOURCE,
        ),
        "recall_macro": Metric(
            "mean over the classes of the share of correct predictions among the rows of the class; 0 for a "
            "predicted class without test rows",
            HIGHER,
            "mean over c of #{i: predicted c, y_i = c} / #{i: y_i = c}, c a true or predicted label",
            _SOURCE,
        ),
        "f1_macro": Metric(
            "mean over the classes of the harmonic mean of precision and recall",
            HIGHER,
            "mean over c of 2 #{i: predicted c, y_i = c} / (#{i: predicted c} + #{i: y_i = c})",
            _SOURCE,
        ),
        "f1_micro": Metric(
            "F1 of the counts summed over the classes; with one label per row also the micro-averaged "
            "precision and "
            "recall, and the accuracy",
            HIGHER,
            "sum over c of 2 #{i: predicted c, y_i = c} / sum over c of (#{i: predicted c} + #{i: y_i = c})",
            _SOURCE,
        ),
    },
    compute=_compute,
    compute_block=_compute_block,
)
