"""`Confusion`: counts of true and predicted labels."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np


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
    def of(cls, truth: np.ndarray, predicted: np.ndarray) -> "Confusion":
        """Return the confusion matrix of true and predicted labels (n,)."""
        labels, codes = np.unique(np.concatenate([truth, predicted]), return_inverse=True)
        k, codes = len(labels), codes.reshape(-1)
        pairs = codes[: len(truth)] * k + codes[len(truth) :]
        return cls(labels, np.bincount(pairs, minlength=k * k).reshape(k, k))

    @cached_property
    def rows(self) -> np.ndarray:
        """(k,) number of rows of each class."""
        return self.counts.sum(axis=1)

    @cached_property
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
