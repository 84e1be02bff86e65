"""`CodedLabels`: class numbers for classifiers that accept no other labels."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from confml.errors import ConfmlError
from confml.measures.prediction import Prediction
from confml.methods.known_labels import check_known_labels
from confml.methods.validation import class_codes


class CodedLabels:
    """Labels of a training part as class numbers 0, 1, ... without gaps.

    labels: (c,) the classes, sorted. codes: (m,) class number of each example.
    """

    def __init__(self, y: Any):
        self.labels, self.codes = class_codes(np.asarray(y))
        self._columns: np.ndarray | None = None

    def code_class_weights(self, estimator: Any) -> None:
        """Replace the labels in each ``class_weight`` of an estimator by class numbers.

        Classes without training examples are left out. Raises ConfmlError if no key is a class.
        """
        numbers = {str(label): number for number, label in enumerate(self.labels.tolist())}
        for name, value in estimator.get_params().items():
            if name.rpartition("__")[2] == "class_weight" and isinstance(value, Mapping):
                weights = {numbers[str(key)]: weight for key, weight in value.items() if str(key) in numbers}
                if value and not weights:
                    check_known_labels(self.labels, value, "the classes are", f"{name} has")
                estimator.set_params(**{name: weights})

    def order_columns(self, classes: Any, name: str) -> np.ndarray:
        """Return the labels of ``classes``, the ``classes_`` of a fitted classifier, sorted.

        The columns of its scores are put into the same order by `in_order`. None stands for all classes.
        Raises ConfmlError for a class that is listed twice.
        """
        if classes is None:
            return self.labels
        numbers = self._numbers(np.asarray(classes), f"classes_ of {name}")
        if len(np.unique(numbers)) < len(numbers):
            raise ConfmlError(f"classes_ of {name} lists a class twice")
        self._columns = np.argsort(numbers)
        return self.labels[numbers[self._columns]]

    def in_order(self, scores: np.ndarray, what: str) -> np.ndarray:
        """Return scores (n, c) with the columns in the order of the sorted labels.

        Raises ConfmlError for another shape.
        """
        expected = len(self.labels) if self._columns is None else len(self._columns)
        if scores.ndim != 2 or scores.shape[1] != expected:
            raise ConfmlError(f"{what} has the shape {scores.shape}, expected {expected} columns")
        return scores if self._columns is None else scores[:, self._columns]

    def labels_of(self, predicted: np.ndarray, what: str, classes: np.ndarray) -> np.ndarray:
        """Return the labels (n,) of predicted class numbers; raise ConfmlError for anything else."""
        labels = self.labels[self._numbers(predicted, what)]
        strange = ~np.isin(labels, classes)
        if strange.any():
            raise ConfmlError(f"{what} has the class {labels[strange][0]!s}, which is not in its classes_")
        return labels

    def labelled(self, prediction: Prediction, what: str) -> Prediction:
        """Return a prediction of class numbers with their labels, and its columns in the order of the labels.

        Raises ConfmlError for a class that is not one of the class numbers.
        """
        numbers = self._numbers(prediction.classes, f"the classes of {what}")
        labels = self.labels[self._numbers(prediction.labels, what)]
        order, c = np.argsort(numbers), len(numbers)
        extra = {
            name: values[:, order] if values.ndim == 2 and values.shape[1] == c else values
            for name, values in prediction.extra.items()
        }
        classes, scores = self.labels[numbers[order]], prediction.scores[:, order]
        return replace(prediction, classes=classes, scores=scores, labels=labels, extra=extra)

    def _numbers(self, values: np.ndarray, what: str) -> np.ndarray:
        """Return class numbers as integers; some classifiers have them as floats, or as one column."""
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.ndim != 1:
            raise ConfmlError(f"{what} has the shape {values.shape}, expected one label per example")
        last = len(self.labels) - 1
        try:
            floats = values.astype(np.float64)
        except (TypeError, ValueError):
            floats = np.full(len(values), np.nan)
        wrong = ~((floats == np.rint(floats)) & (floats >= 0) & (floats <= last))
        if wrong.any():
            numbers = f"one of the class numbers 0 to {last} that it was fitted to"
            raise ConfmlError(f"{what} has {values[wrong][0]!r}, which is not {numbers}")
        return floats.astype(np.int64)
