"""`LinearGroup`: base class of one-vs-rest groups of linear classifiers."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from confml.measures.metric import Metric, share
from confml.measures.prediction import Prediction
from confml.methods.base import MarginMethod
from confml.methods.multiclass import two_class_scores
from confml.methods.validation import finite_scores


@dataclass(frozen=True)
class Learnt:
    """One fitted binary classifier.

    weights: (w + 1,), the bias first. presentations: number of examples presented until there were no
    mistakes; None if there are mistakes at the end. epochs: number of passes over the training set.
    """

    weights: np.ndarray
    presentations: int | None = 0
    epochs: int = 0


class LinearGroup(MarginMethod):
    """One-vs-rest group of binary linear classifiers (a single one for two classes).

    A subclass fits one classifier (`_learn`) and may transform the features first (`_inputs`). View
    ``margin``: the weighted sums of eq. 4.3, one column per class; the master classifier predicts the largest
    (Kubat, An Introduction to Machine Learning, 2015, section 4.4). With two classes the columns are -f/2 and
    f/2 of the one sum f. Ties go to the first class in sorted order; with two classes this is the rule of
    Table 4.1, "positive if the sum exceeds 0".
    """

    metrics: ClassVar[Mapping[str, Metric]] = {
        "training_error": share("fraction of training examples whose predicted label is wrong", "lower")
    }

    @abstractmethod
    def _learn(self, X: np.ndarray, targets: np.ndarray, rng: np.random.Generator) -> Learnt:
        """Fit one binary classifier to inputs X (m, w) with targets (m,) float64, 1 for its class, else 0."""

    def _fit_inputs(self, X: np.ndarray) -> None:
        """Fit the transformation of features into inputs to training examples X (m, d)."""

    def _inputs(self, X: np.ndarray) -> np.ndarray:
        """Return the inputs (n, w) of examples X (n, d)."""
        return X

    def fit(self, X, y):
        """Fit the group to training examples X (m, d) with labels y (m,)."""
        X, codes = self.check_fit_data(X, y)
        self._fit_inputs(X)
        inputs = np.ascontiguousarray(self._inputs(X))
        c = len(self.classes_)
        rng = np.random.default_rng(getattr(self, "random_state", None))
        positives = {1: [], 2: [1]}.get(c, range(c))
        learnt = [
            self._learn(inputs, (codes == code).astype(np.float64), np.random.default_rng(seed))
            for code, seed in zip(positives, rng.integers(2**63 - 1, size=c), strict=False)
        ]
        # One row of weights per binary classifier, the bias first.
        self.weights_ = np.array([fit.weights for fit in learnt]).reshape(len(learnt), inputs.shape[1] + 1)
        needed = [fit.presentations for fit in learnt if fit.presentations is not None]
        self.presentations_ = sum(needed) if len(needed) == len(learnt) else None
        self.epochs_ = max((fit.epochs for fit in learnt), default=0)
        scores = self._scores(inputs)
        self.training_error_ = float(np.mean(np.argmax(scores, axis=1) != codes))
        return self

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the view ``margin`` of test examples X (n, d)."""
        X = self.check_predict_data(X)
        scores = finite_scores(self._scores(self._inputs(X)), self.name)
        return {"margin": Prediction(self.classes_, scores, "margin")}

    def _scores(self, inputs: np.ndarray) -> np.ndarray:
        if len(self.classes_) == 1:
            return np.zeros((len(inputs), 1))
        # Summed in feature order: the last bits of a matrix product depend on the other rows.
        sums = np.repeat(self.weights_[None, :, 0], len(inputs), axis=0)
        for column, weights in zip(inputs.T, self.weights_[:, 1:].T, strict=True):
            sums += column[:, None] * weights
        return two_class_scores(sums[:, 0]) if len(self.classes_) == 2 else sums


class Boxed:
    """Min-max scaling to [0, 1] of the features that have training values outside [0, 1].

    Other features, such as boolean ones, are not changed. A constant feature outside [0, 1] becomes 0.
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


class MistakeDriven(LinearGroup):
    """One-vs-rest group of classifiers that learn from mistakes, on features scaled to [0, 1] by `Boxed`."""

    metrics: ClassVar[Mapping[str, Metric]] = {
        "presentations": Metric(
            "number of training examples presented until the method converged",
            "lower",
            heading="presentations of examples",
            digits=0,
        ),
        "epochs": Metric("number of passes over the training set", "lower"),
        **LinearGroup.metrics,
        "converged": share(
            "1 if no training example is classified wrongly after the fit, else 0",
            "higher",
            heading="fits without training error",
        ),
    }

    @property
    def fit_metrics_(self) -> dict[str, float]:
        needed = {} if self.presentations_ is None else {"presentations": float(self.presentations_)}
        errors = {"training_error": self.training_error_, "converged": float(self.training_error_ == 0)}
        return needed | {"epochs": float(self.epochs_)} | errors

    def _fit_inputs(self, X: np.ndarray) -> None:
        self._boxed = Boxed(X)

    def _inputs(self, X: np.ndarray) -> np.ndarray:
        return self._boxed(X)
