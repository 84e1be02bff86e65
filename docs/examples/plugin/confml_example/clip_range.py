"""Step that clips features."""

from typing import ClassVar

import numpy as np

from confml.steps.base import Step


class ClipRange(Step):
    """Clip each feature to its range in the training part."""

    name: ClassVar = "clip-range"

    def fit(self, X, y, rng=None):
        self.low_, self.high_ = X.min(axis=0), X.max(axis=0)
        return self

    def transform(self, X):
        return np.clip(X, self.low_, self.high_)
