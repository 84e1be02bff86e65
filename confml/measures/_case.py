"""The input of a measure, `Case`, and its output, `Row`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, SupportsFloat

import numpy as np

from confml.measures.metrics import Metric
from confml.measures.prediction import Prediction


class Row(NamedTuple):
    """One value of a metric at one level; NaN if undefined.

    level: significance level of a region metric, threshold of an acceptance metric, None for other metrics.
    """

    metric: str
    level: float | None
    value: float


@dataclass(frozen=True)
class Context:
    """The training part and the parameters behind a prediction.

    train_rows: number of training examples; train_class_counts: number per class. params: parameters of the
    method that the config sets.
    """

    train_rows: int = 0
    train_class_counts: Mapping = field(default_factory=dict)
    params: Mapping = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Case:
    """One view on one test part, with its true labels (n,). Raises ValueError if the lengths differ."""

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

    def share(self, chosen: np.ndarray) -> float:
        """Return the fraction of test examples that a (n,) mask selects; NaN for an empty test part."""
        return fraction(np.count_nonzero(chosen), len(self.truth))


@dataclass(frozen=True)
class Measure:
    """The metrics of one file: ``metrics`` declares them, ``compute`` returns their rows for a case."""

    metrics: Mapping[str, Metric]
    compute: Callable[[Case], Iterable[Row]]


def columns_of(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return (n,) the position of each label among the sorted ``classes``, -1 if it is not one of them."""
    columns = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    return np.where(classes[columns] == labels, columns, -1)


def fraction(part: SupportsFloat, whole: SupportsFloat) -> float:
    """Return part / whole, NaN for 0 / 0."""
    return float(part) / float(whole) if whole else float("nan")
