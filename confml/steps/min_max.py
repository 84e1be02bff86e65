"""`min-max`: scales each feature to [0, 1] on the training set."""

from typing import Self

import numpy as np

from confml.steps._columns import complete, rescale
from confml.steps.base import Step


class MinMax(Step):
    """Scale each feature to [0, 1] by its minimum and maximum in the training set.

    ``(x - min) / (max - min)``. Values of test examples outside the training range are not clipped. A feature
    that is constant in the training set becomes 0 in every training and test example. Codes of nominal
    features are not changed.
    """

    name = "min-max"
    stored = {"minimum_": "f8(d)", "range_": "f8(d)"}

    def fit(self, X: np.ndarray, y: np.ndarray, rng: np.random.Generator | None = None) -> Self:
        X = complete(X, self.name)
        self.minimum_ = X.min(axis=0)
        self.range_ = X.max(axis=0) - self.minimum_
        coded = self._coded(X)
        self.minimum_[coded], self.range_[coded] = 0.0, 1.0
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        return rescale(complete(X, self.name), self.minimum_, self.range_)
