"""`standardise`: every attribute to mean 0 and standard deviation 1 on the training set."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from confml.steps._columns import complete, rescale
from confml.steps.base import Step


class Standardise(Step):
    """Each attribute to mean 0 and standard deviation 1, both learnt on the training set.

    The standard deviation is the population's (the sum of squares is divided by the number of rows). An
    attribute that is constant in the training set becomes 0 in every example, a test example with another
    value of it included: the training set says nothing about the scale of such a difference. Codes of nominal
    attributes stay as they are.
    """

    name: ClassVar[str] = "standardise"

    def fit(self, X: np.ndarray, y: np.ndarray, rng: np.random.Generator | None = None) -> Standardise:
        X = complete(X, self.name)
        self.mean_ = X.mean(axis=0)
        # The rounded mean of equal values can differ from them: constancy is read off the values.
        self.sd_ = np.where(X.max(axis=0) > X.min(axis=0), X.std(axis=0), 0.0)
        coded = self._coded(X)
        self.mean_[coded], self.sd_[coded] = 0.0, 1.0
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        return rescale(complete(X, self.name), self.mean_, self.sd_)
