"""`Case`: one view on one test part with its true labels, and the arrays that measures use."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from confml.measures.confusion_matrix import Confusion
from confml.measures.context import Context
from confml.measures.p_values import (
    counted_examples,
    has_label_conditional_p_values,
    smoothed_p_values,
    smoothing_taus,
)
from confml.measures.prediction import ORDERED_APART, Prediction, accepted, columns_of
from confml.measures.rejection import RejectionCurve, rejection_curve


class Regions(NamedTuple):
    """Prediction regions (n, c) at one level, their sizes (n,), and whether each contains the true label."""

    labels: np.ndarray
    sizes: np.ndarray
    covered: np.ndarray


@dataclass(frozen=True, eq=False)
class Case:
    """One view on one test part, with its true labels (n,). Raises ValueError if the lengths differ.

    Arrays that several measures use are computed once; they must not be changed.
    """

    prediction: Prediction
    truth: np.ndarray
    levels: Sequence[float] = ()
    thresholds: Sequence[float] = ()
    context: Context = Context()

    def __post_init__(self):
        object.__setattr__(self, "truth", np.asarray(self.truth))
        if self.truth.shape != (len(self.prediction),):
            raise ValueError(f"truth must be ({len(self.prediction)},), got {self.truth.shape}")

    @cached_property
    def correct(self) -> np.ndarray:
        """(n,) bool: predicted label = true label."""
        return np.asarray(self.prediction.labels == self.truth, dtype=bool)

    @cached_property
    def true_columns(self) -> np.ndarray:
        """(n,) column of each true label in the scores; -1 for an absent class."""
        return columns_of(self.truth, self.prediction.classes)

    @cached_property
    def known(self) -> np.ndarray:
        """(n,) bool: the class of the true label is not absent from training."""
        return self.true_columns >= 0

    @cached_property
    def predicted_columns(self) -> np.ndarray:
        """(n,) column of each predicted label; -1 if it is not one of the classes."""
        return columns_of(self.prediction.labels, self.prediction.classes)

    @cached_property
    def certainty(self) -> np.ndarray:
        """(n,) `Prediction.certainty`."""
        return self.prediction.certainty

    @cached_property
    def confidence(self) -> np.ndarray:
        """(n,) `Prediction.confidence`."""
        apart = self.prediction.kind in ORDERED_APART
        return self.prediction.confidence if apart else self.certainty

    def accepted(self, threshold: float) -> np.ndarray:
        """Return (n,) bool: `Prediction.accepted`."""
        return accepted(self.prediction.kind, self.confidence, self.certainty, threshold)

    @cached_property
    def curve(self) -> RejectionCurve | None:
        """Accuracy-rejection curve; None with a NaN confidence, which cannot be sorted."""
        if np.isnan(self.certainty).any():
            return None
        top = 1.0 if self.prediction.kind == "envelope" else np.inf
        return rejection_curve(self.certainty, self.correct, always_accepted_from=top)

    @cached_property
    def _regions(self) -> dict[float, Regions]:
        return {}

    def regions(self, level: float) -> Regions:
        """Return the prediction regions at a level. The label of an absent class is in no region."""
        if level not in self._regions:
            labels = self.prediction.region(level)
            covered = self.known & labels[np.arange(len(self.truth)), self.true_columns]
            self._regions[level] = Regions(labels, labels.sum(axis=1), covered)
        return self._regions[level]

    def covered(self, level: float) -> np.ndarray:
        """Return (n,) bool: the region contains the true label."""
        return self.regions(level).covered

    @cached_property
    def labels(self) -> tuple[np.ndarray, np.ndarray]:
        """True labels that occur, sorted, and the position (n,) of each true label among them."""
        if not self.known.all():
            return np.unique(self.truth, return_inverse=True)
        classes = self.prediction.classes  # they are sorted, and integers are sorted faster than texts
        used = np.bincount(self.true_columns, minlength=len(classes)) > 0
        return classes[used], (np.cumsum(used) - 1)[self.true_columns]

    def class_coverage(self, level: float) -> dict[Any, tuple[int, int]]:
        """Return for each true label the number of test examples and of those whose region contains it."""
        labels, codes = self.labels
        rows, covered = np.bincount(codes), np.bincount(codes, weights=self.covered(level))
        pairs = zip(rows.tolist(), covered.astype(np.int64).tolist(), strict=True)
        return dict(zip(labels.tolist(), pairs, strict=True))

    @cached_property
    def confusion(self) -> Confusion:
        """Confusion matrix of true and predicted labels."""
        if min(self.true_columns.min(initial=0), self.predicted_columns.min(initial=0)) < 0:
            return Confusion.of(self.truth, self.prediction.labels)
        k = len(self.prediction.classes)  # integers are counted faster than texts
        counts = np.bincount(self.true_columns * k + self.predicted_columns, minlength=k * k).reshape(k, k)
        used = counts.any(axis=0) | counts.any(axis=1)
        return Confusion(self.prediction.classes[used], counts[used][:, used])

    # ---- p-values, as `confml.measures.p_values` defines them

    @cached_property
    def taus(self) -> np.ndarray | None:
        """(n,) `smoothing_taus` of the prediction."""
        return smoothing_taus(self.prediction)

    @property
    def is_label_conditional(self) -> bool:
        """Whether the config asks for label-conditional p-values."""
        return has_label_conditional_p_values(self.context.params)

    @cached_property
    def smoothed(self) -> np.ndarray:
        """(n,) `smoothed_p_values` of the true labels of a view with counts."""
        return smoothed_p_values(self.prediction, self.true_columns, self.taus)

    @cached_property
    def counted(self) -> np.ndarray | None:
        """(n,) `counted_examples`."""
        return counted_examples(self.prediction, self.truth, self.true_columns, self.context)
