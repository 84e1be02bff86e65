"""`standardise`: scales each feature to mean 0 and standard deviation 1 on the training set."""

from typing import Self

import numpy as np

from confml.steps._columns import complete, rescale
from confml.steps.base import Step


class Standardise(Step):
    """Scale each feature to mean 0 and standard deviation 1, computed on the training set.

    The sum of squares is divided by the number of rows. A feature that is constant in the training set
    becomes 0 in every training and test example, because the training set does not show its scale. Codes of
    nominal features are not changed.
    """

    name = "standardise"
    stored = {"mean_": "f8(d)", "sd_": "f8(d)"}

    def fit(self, X: np.ndarray, y: np.ndarray, rng: np.random.Generator | None = None) -> Self:
        X = complete(X, self.name)
        self.mean_ = X.mean(axis=0)
        # The rounded mean of equal values can differ from them: constancy is read off the values.
        self.sd_ = np.where(X.max(axis=0) > X.min(axis=0), X.std(axis=0), 0.0)
        coded = self._coded(X)
        self.mean_[coded], self.sd_[coded] = 0.0, 1.0
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        return rescale(complete(X, self.name), self.mean_, self.sd_)
