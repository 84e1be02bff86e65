"""The nearest training rows of the predicted and of the runner-up class of new rows."""

from dataclasses import dataclass

import numpy as np

from confml.data.memory import dense
from confml.data.new_rows import NewRows
from confml.errors import ConfigError
from confml.measures.prediction import Prediction, nonconformity_of
from confml.predictions.model import Model

SIDES = ("predicted", "runner-up")
_FEATURES = 3  # that are named
_PAIRS = 1 << 22  # distances that are computed at a time


@dataclass(frozen=True)
class Explanation:
    """The nearest training rows of k new rows.

    runner_up: (k,) the label that would be predicted if the predicted label were not possible. lines,
    distances: for each side, k sequences, the nearest row first. features: k lists of at most three
    features, in which the new row differs most from the nearest row of the predicted class; None
    where the steps make new features.
    """

    runner_up: np.ndarray
    lines: dict[str, list[list[str]]]
    distances: dict[str, list[np.ndarray]]
    features: list[list[str]] | None


class Explainer:
    """Finds the ``count`` nearest training rows per class.

    Distances are Euclidean, after the steps of the config; categories that come as codes differ by 1. Of rows
    at one distance the earlier one comes first.
    """

    def __init__(self, model: Model, count: int):
        self.count = count
        rows = model.neighbours
        self._X, self._y, self._coded, self._names = dense(rows.X), rows.y, rows.coded, rows.names
        self._steps, self._lines = rows.steps, rows.lines.tolist()
        if len(np.unique(self._y)) < 2:
            raise ConfigError("an explanation needs two classes in the training rows")
        self._model = model

    def explain(self, rows: NewRows, prediction: Prediction) -> Explanation:
        """Return the nearest training rows of those of ``rows`` that have a prediction."""
        X = self._model.chosen(rows)
        X = dense(self._model.transformed(X, self._steps, self._X.shape[1]) if X.shape[0] else X)
        conditional = prediction.kind == "p-value" and self._model.facts.is_label_conditional
        scores = np.array(-nonconformity_of(prediction) if conditional else prediction.scores)
        at = np.arange(len(scores))
        predicted = prediction.predicted_columns
        scores[at, predicted] = -np.inf
        second = np.argmax(scores, axis=1) if len(scores) else at
        differing: list[list[str]] = [[] for _ in at]
        lines: dict[str, list[list[str]]] = {}
        distances: dict[str, list[np.ndarray]] = {}
        for side, columns in zip(SIDES, (predicted, second), strict=True):
            side_lines: list[list[str]] = [[] for _ in at]
            side_distances: list[np.ndarray] = [np.empty(0) for _ in at]
            for column in np.unique(columns):
                of_class = np.flatnonzero(columns == column)
                train = np.flatnonzero(self._y == prediction.classes[column])
                block = max(1, _PAIRS // max(1, len(train)))
                for first in range(0, len(of_class), block):
                    part = of_class[first : first + block]
                    for row, row_distances in zip(part, self._distances(X[part], train), strict=True):
                        near = _nearest(row_distances, self.count)
                        side_lines[row] = [self._lines[neighbour] for neighbour in train[near]]
                        side_distances[row] = row_distances[near]
                        if side == SIDES[0] and self._names is not None and len(near):
                            differing[row] = self._differing(X[row], self._X[train[near[0]]])
            lines[side], distances[side] = side_lines, side_distances
        features = None if self._names is None else differing
        return Explanation(prediction.classes[second], lines, distances, features)

    def _differing(self, new: np.ndarray, near: np.ndarray) -> list[str]:
        """Return the features with the largest differences, the largest first; none without a difference."""
        apart = np.where(self._coded, new != near, np.abs(new - near))
        order = np.argsort(-apart, kind="stable")[:_FEATURES]
        names = self._names or []
        return [names[column] for column in order.tolist() if apart[column] > 0]

    def _distances(self, rows: np.ndarray, train: np.ndarray) -> np.ndarray:
        from scipy.spatial.distance import cdist

        numeric = ~self._coded
        squared = cdist(rows[:, numeric], self._X[np.ix_(train, numeric)], "sqeuclidean")
        for column in np.flatnonzero(self._coded):
            squared += rows[:, column, None] != self._X[train, column]
        return np.sqrt(squared)


def _nearest(distances: np.ndarray, count: int) -> np.ndarray:
    """Return the positions of the ``count`` smallest distances, the first of equal ones before the others."""
    count = min(count, len(distances))
    if not count:
        return np.empty(0, dtype=np.intp)
    largest = np.partition(distances, count - 1)[count - 1]
    near = np.flatnonzero(distances <= largest)
    return near[np.argsort(distances[near], kind="stable")][:count]
