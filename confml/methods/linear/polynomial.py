"""`polynomial`: linear classifiers on all products of features up to an order."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from confml.errors import ConfmlError
from confml.measures.metric import Metric
from confml.measures.prediction import Prediction
from confml.methods.base import MarginMethod
from confml.methods.linear.linear_group import Boxed
from confml.methods.linear.linear_svm import LinearSVM
from confml.plugins.parameters import SEED, Integer

MOST_NUMBERS = 200_000_000  # largest number of products of a training set: 1.6 GB, twice that in LIBLINEAR
_BLOCK_NUMBERS = 10_000_000  # number of products per block of test examples


@dataclass(eq=False, repr=False)
class Polynomial(MarginMethod):
    """Linear classifier on all products of features with up to ``order`` factors.

    With n features and order r, each binary classifier has C(n + r, r) weights (eq. 4.14), including the
    bias. They are fitted by ``linear-svm``. Features with training values outside [0, 1] are first scaled to
    [0, 1] by min-max on the training data, so that products have similar ranges.

    Notes
    -----
    View ``margin``: the weighted sums, which are the values of the polynomials. The class with the largest
    one is predicted. Ties go to the first class in sorted order. metrics: those of `linear-svm`, and
    ``products``, the number of products.

    References
    ----------
    Kubat, An Introduction to Machine Learning (2015), sections 4.5 and 4.6.
    """

    name = "polynomial"
    example = ""
    version = 2
    metrics = {**LinearSVM.metrics, "products": Metric("number of products of features", None)}
    parameters = {
        "order": Integer("largest number of factors of a product", low=1),
        "C": LinearSVM.parameters["C"],
        "random_state": SEED,
    }

    order: int = 2
    C: float = 1.0
    random_state: int | None = None

    def fit(self, X, y) -> Self:
        """Fit to training examples X (m, d) with labels y (m,). Raises ConfmlError for too many products."""
        X, _ = self.check_fit_data(X, y)
        weights = number_of_weights(X.shape[1], self.order)
        if weights * len(X) > MOST_NUMBERS:
            raise ConfmlError(
                f"order {self.order} makes {weights:,} products of {X.shape[1]} features for {len(X):,} "
                f"examples, and at most {MOST_NUMBERS:,} numbers are allowed",
                hint="lower the order, or select features",
            )
        from sklearn.preprocessing import PolynomialFeatures

        self._boxed = Boxed(X)
        self._products = PolynomialFeatures(self.order, include_bias=False).fit(X)
        self.learner_ = LinearSVM(C=self.C, random_state=self.random_state).fit(self._inputs(X), y)
        return self

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict:
        """Return the view ``margin`` of test examples X (n, d)."""
        X = self.check_predict_data(X)
        block = max(1, _BLOCK_NUMBERS // self._products.n_output_features_)
        parts = (self._inputs(X[start : start + block]) for start in range(0, len(X), block))
        scores = [self.learner_.confident_predict(part)["margin"].scores for part in parts]
        return {"margin": Prediction(self.classes_, np.concatenate(scores), "margin")}

    @property
    def fit_metrics_(self) -> dict[str, float]:
        return self.learner_.fit_metrics_ | {"products": float(self._products.n_output_features_)}

    def _inputs(self, X: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(self._products.transform(self._boxed(X)))

    @classmethod
    def check_combination(cls, params: Mapping[str, Any]) -> None:
        """Raise ConfigError if LIBLINEAR is not installed."""
        LinearSVM.check_combination({})


def number_of_weights(attributes: int, order: int) -> int:
    """Return C(n + r, r), the number of weights including the bias (eq. 4.14)."""
    return math.comb(attributes + order, order)
