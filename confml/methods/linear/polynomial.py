"""`polynomial`: linear classifiers on all products of attributes up to an order."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.preprocessing import PolynomialFeatures

from confml.errors import ConfmlError
from confml.measures.metrics import Metric
from confml.measures.prediction import Prediction
from confml.methods.base import Method
from confml.methods.linear.linear_group import Boxed, LinearGroup
from confml.methods.linear.linear_svm import LinearSVM
from confml.methods.linear.perceptron import Perceptron
from confml.methods.linear.winnow import Winnow
from confml.plugins.parameters import AnyOf, Choice, IncompatibleParameters, Integer, Nothing, Parameter

LEARNERS: Mapping[str, type[LinearGroup]] = {cls.name: cls for cls in (LinearSVM, Perceptron, Winnow)}
OF_LEARNERS = ("C", "rate", "alpha", "epochs")  # parameters that are handed to the learner
MOST_NUMBERS = 200_000_000  # products of a training set: 1.6 GB, and LIBLINEAR's nodes twice that
_BLOCK_NUMBERS = 10_000_000  # products of test examples at a time


class Polynomial(Method):
    """A linear classifier on new attributes: all products of attributes up to ``order`` factors.

    n attributes and order r make C(n + r, r) weights for each binary classifier (eq. 4.14), the bias
    included. Any linear learner finds them: `linear-svm`, `perceptron` or `winnow`. Attributes with training
    values outside [0, 1] are brought into it by min-max on training data first, so that no product dwarfs the
    others. ``C`` goes to the linear SVM, ``rate`` to the perceptron, ``alpha`` to WINNOW and ``epochs`` to
    the last two; null is the learner's own default.

    View ``margin``: the learner's weighted sums, the polynomial's value; the largest decides, and of equal
    ones the first class in sorted order. metrics: those of the learner, and ``products``, how many new
    attributes there are.

    Source: Kubat, An Introduction to Machine Learning (2015), sections 4.5 and 4.6.
    """

    name: ClassVar[str] = "polynomial"
    version: ClassVar[int] = 2
    views: ClassVar[tuple[str, ...]] = ("margin",)
    metrics: ClassVar[Mapping[str, Metric]] = {
        **LinearSVM.metrics,
        **Perceptron.metrics,
        **Winnow.metrics,
        "products": Metric("number of products of features that the learner is given", None),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "order": Integer("the most factors of a product", low=1),
        "learner": Choice("what finds the weights", options=tuple(sorted(LEARNERS))),
        "C": AnyOf("of linear-svm", of=(LinearSVM.parameters["C"], Nothing(""))),
        "rate": AnyOf("of the perceptron", of=(Perceptron.parameters["rate"], Nothing(""))),
        "alpha": AnyOf("of WINNOW", of=(Winnow.parameters["alpha"], Nothing(""))),
        "epochs": AnyOf("of perceptron and WINNOW", of=(Perceptron.parameters["epochs"], Nothing(""))),
        "random_state": AnyOf(
            "the learner's seed; the run's where it is null", of=(Integer("", low=0), Nothing(""))
        ),
    }

    def __init__(
        self,
        order: int = 2,
        learner: str = "linear-svm",
        C: float | None = None,
        rate: float | None = None,
        alpha: float | None = None,
        epochs: int | None = None,
        random_state: int | None = None,
    ):
        self.order = order
        self.learner = learner
        self.C = C
        self.rate = rate
        self.alpha = alpha
        self.epochs = epochs
        self.random_state = random_state

    def fit(self, X, y) -> Polynomial:
        """Learn the weights of all products from training examples X (m, d) with labels y (m,)."""
        X, _ = self.check_fit_data(X, y)
        learner = self._new_learner()
        weights = number_of_weights(X.shape[1], self.order)
        if weights * len(X) > MOST_NUMBERS:
            raise ConfmlError(
                f"order {self.order} makes {weights:,} products of {X.shape[1]} attributes, too many for "
                f"{len(X):,} examples",
                hint="lower the order, or select attributes",
            )
        self._boxed = Boxed(X)
        self._products = PolynomialFeatures(self.order, include_bias=False).fit(X)
        self.learner_ = learner.fit(self._inputs(X), y)
        return self

    def decision_function(self, X) -> np.ndarray:
        """The weighted sums: (n, c), or (n,) of two classes, above 0 for the second one."""
        scores = self.confident_predict(X)["margin"].scores
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores.copy()

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict:
        """The view ``margin`` of X (n, d)."""
        X = self.check_predict_data(X)
        block = max(1, _BLOCK_NUMBERS // self._products.n_output_features_)
        parts = (self._inputs(X[start : start + block]) for start in range(0, len(X), block))
        scores = [self.learner_.confident_predict(part)["margin"].scores for part in parts]
        return {"margin": Prediction(self.classes_, np.concatenate(scores), "margin")}

    @property
    def fit_metrics_(self) -> dict[str, float]:
        return self.learner_.fit_metrics_ | {"products": float(self._products.n_output_features_)}

    @classmethod
    def compile_kernels(cls) -> None:
        """Compile the learners' kernels."""
        Perceptron.compile_kernels()
        Winnow.compile_kernels()

    def _inputs(self, X: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(self._products.transform(self._boxed(X)))

    @classmethod
    def check_combination(cls, params: Mapping[str, Any]) -> None:
        """Raise `IncompatibleParameters` for a parameter that the learner does not have."""
        learner = params.get("learner", "linear-svm")
        for name in OF_LEARNERS:
            if params.get(name) is not None and name not in LEARNERS[learner].parameters:
                message = f"polynomial with learner {learner} has no parameter '{name}'"
                raise IncompatibleParameters(message, owner=cls.name, parameter=name, value=params[name])

    def _new_learner(self) -> LinearGroup:
        self.check_combination(self.get_params(deep=False))
        cls = LEARNERS[self.learner]
        given = {name: value for name in OF_LEARNERS if (value := getattr(self, name)) is not None}
        if "random_state" in cls.parameters:
            given["random_state"] = self.random_state
        return cls(**given)


def number_of_weights(attributes: int, order: int) -> int:
    """Eq. 4.14: C(n + r, r), the bias included."""
    return math.comb(attributes + order, order)
