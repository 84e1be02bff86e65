"""`majority-class`: the most frequent class of training, whatever the features are."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.utils.validation import check_is_fitted

from confml.measures.prediction import Prediction
from confml.methods.base import ProbabilityMethod, Views
from confml.methods.validation import class_codes, validated_test, validated_training


@dataclass(eq=False, repr=False)
class MajorityClass(ProbabilityMethod):
    """Predict the most frequent class of training for every example (scikit-learn's DummyClassifier).

    View ``probability``: the fractions of the classes in the training set, which are the same for every test
    example. Equal frequencies are decided for the first class in sorted order. A run adds this method to
    those of its config: a method that is not shown to be better has learnt nothing from the features.

    Notes
    -----
    It is compared with each method, and is not among the pairs of methods: it changes none of their p-values
    or ranks.
    """

    name = "majority-class"
    example = ""
    views = ("probability",)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # it does not use the features
        tags.input_tags.sparse = True
        return tags

    def fit(self, X, y) -> Self:
        """Count the classes of the labels y (m,) of training examples X (m, d)."""
        X, y = validated_training(self, X, y, accept_sparse="csr")
        self.classes_, _ = class_codes(y)
        self.estimator_ = DummyClassifier(strategy="prior").fit(X, y)
        return self

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the view ``probability`` of X (n, d)."""
        check_is_fitted(self)
        X = validated_test(self, X, accept_sparse="csr")
        return {"probability": Prediction(self.classes_, self.estimator_.predict_proba(X), "probability")}

    def evaluate_online(self, X, y, X_new, y_new, classes, grid, rng=None):
        """Predict each example by the labels before it; before the first label all classes are equal."""
        labels = np.concatenate([y, y_new])
        counts = np.cumsum(labels[:, None] == classes, axis=0, dtype=np.float64)
        before = np.vstack([np.zeros(len(classes)), counts])[len(y) : len(labels)]
        totals = before.sum(axis=1, keepdims=True)
        scores = np.divide(before, totals, out=np.full_like(before, 1 / len(classes)), where=totals > 0)
        for point in grid:
            yield dict(point), Views({"probability": Prediction(classes, scores, "probability")})
