"""`LinearGroup`: one linear classifier for each class, and a master that picks the largest sum."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from confml.measures.prediction import Prediction
from confml.methods.base import Method, finite_scores


@dataclass(frozen=True)
class Learnt:
    """What one binary classifier came to: weights (w + 1,), the bias first, and its own quantities.

    presentations: of examples until there were no mistakes; None where some remain.
    """

    weights: np.ndarray
    presentations: int | None = 0
    epochs: int = 0


class LinearGroup(Method):
    """A group of binary linear classifiers, one for each class against the rest (one in all for two classes).

    A subclass says how one of them learns (`_learn`), and how it changes the attributes first (`_inputs`).
    View ``margin``: the weighted sums of eq. 4.3, one column a class; the master classifier takes the largest
    (Kubat, An Introduction to Machine Learning, 2015, section 4.4). For two classes the columns are minus and
    plus half the one sum, so that the largest less the smaller is its distance from 0. Equal sums: the first
    class in sorted order; for two classes this is Table 4.1's "positive where the sum exceeds 0".
    """

    views: ClassVar[tuple[str, ...]] = ("margin",)

    @abstractmethod
    def _learn(self, X: np.ndarray, targets: np.ndarray, rng: np.random.Generator) -> Learnt:
        """One binary classifier of inputs X (m, w) with targets (m,) float64, 1 for its class and else 0."""

    def _fit_inputs(self, X: np.ndarray) -> None:
        """Learn how attributes become inputs, on training examples X (m, d)."""

    def _inputs(self, X: np.ndarray) -> np.ndarray:
        """The inputs (n, w) of examples X (n, d)."""
        return X

    def fit(self, X, y):
        """Learn the group on training examples X (m, d) with labels y (m,)."""
        X, codes = self.check_fit_data(X, y)
        self._fit_inputs(X)
        inputs = np.ascontiguousarray(self._inputs(X))
        c = len(self.classes_)
        rng = np.random.default_rng(getattr(self, "random_state", None))
        positives = {1: [], 2: [1]}.get(c, range(c))
        learnt = [
            self._learn(inputs, (codes == one).astype(np.float64), np.random.default_rng(seed))
            for one, seed in zip(positives, rng.integers(2**63 - 1, size=c), strict=False)
        ]
        # One row of weights a binary classifier, the bias first.
        self.weights_ = np.array([one.weights for one in learnt]).reshape(len(learnt), inputs.shape[1] + 1)
        needed = [one.presentations for one in learnt]
        self.presentations_ = None if None in needed else sum(needed)
        self.epochs_ = max((one.epochs for one in learnt), default=0)
        scores = self._scores(inputs)
        self.training_error_ = float(np.mean(np.argmax(scores, axis=1) != codes))
        return self

    def decision_function(self, X) -> np.ndarray:
        """The weighted sums: (n, c), or (n,) of two classes, above 0 for the second one."""
        scores = self.confident_predict(X)["margin"].scores
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores.copy()

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """The view ``margin`` of X (n, d)."""
        X = self.check_predict_data(X)
        scores = finite_scores(self._scores(self._inputs(X)), self.name)
        return {"margin": Prediction(self.classes_, scores, "margin")}

    def _scores(self, inputs: np.ndarray) -> np.ndarray:
        if len(self.classes_) == 1:
            return np.zeros((len(inputs), 1))
        # Added up in attribute order, row by row: a product's last bits depend on which rows stand together.
        sums = np.repeat(self.weights_[None, :, 0], len(inputs), axis=0)
        for column, weights in zip(inputs.T, self.weights_[:, 1:].T, strict=True):
            sums += column[:, None] * weights
        if len(self.classes_) == 2:
            return np.hstack([-sums / 2, sums / 2])
        return sums


class Boxed:
    """Attributes brought into [0, 1] where training values lie outside of it, by min-max on training data.

    Boolean attributes, 0 and 1, and others within [0, 1] stay as they are. A constant outside becomes 0.
    """

    def __init__(self, X: np.ndarray):
        low, high = X.min(axis=0), X.max(axis=0)
        # The range of values near both ends of double precision overflows: such features are halved first.
        self.factor = np.where(high / 2 - low / 2 > np.finfo(float).max / 2, 0.5, 1.0)
        low, high = self.factor * low, self.factor * high
        inside = (low >= 0) & (high <= 1)
        self.low = np.where(inside, 0.0, low)
        self.range = np.where(inside, 1.0, high - self.low)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):  # `finite_scores` refuses test examples that are too far away
            moved = self.factor * X - self.low
            return np.divide(moved, self.range, out=np.zeros_like(X), where=self.range > 0)
