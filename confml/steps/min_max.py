"""`min-max`: every attribute to [0, 1] on the training set."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from confml.steps._columns import complete, rescale
from confml.steps.base import Step


class MinMax(Step):
    """Each attribute to [0, 1], from the smallest and largest value in the training set.

    ``(x - min) / (max - min)``. A test example beyond the training range falls outside [0, 1]; it is not
    clipped. An attribute that is constant in the training set becomes 0 in every example, a test example with
    another value of it included. Codes of nominal attributes stay as they are.
    """

    name: ClassVar[str] = "min-max"

    def fit(self, X: np.ndarray, y: np.ndarray, rng: np.random.Generator | None = None) -> MinMax:
        X = complete(X, self.name)
        self.minimum_ = X.min(axis=0)
        self.range_ = X.max(axis=0) - self.minimum_
        coded = self._coded(X)
        self.minimum_[coded], self.range_[coded] = 0.0, 1.0
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        return rescale(complete(X, self.name), self.minimum_, self.range_)
