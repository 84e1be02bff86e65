"""`row-standardise`: every example by itself to mean 0 and standard deviation 1."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from confml.steps._columns import complete
from confml.steps.base import Step


class RowStandardise(Step):
    """Each example to mean 0 and standard deviation 1 over its own attributes.

    The standard deviation is the population's (the sum of squares is divided by the number of attributes).
    An example whose attributes are all equal becomes zeros. Nothing is learnt from the training set, and
    what an example becomes does not depend, to the last bit, on which others it stands among. It makes sense
    where all attributes are of one kind, as the grey values of an image. Codes of nominal attributes stay as
    they are and do not count.
    """

    name: ClassVar[str] = "row-standardise"
    learns: ClassVar[bool] = False

    def transform(self, X: np.ndarray) -> np.ndarray:
        X = complete(X, self.name)
        coded = self._coded(X)
        if coded.any():
            treated = X.copy()
            if not coded.all():
                treated[:, ~coded] = self._standardised(np.ascontiguousarray(X[:, ~coded]))
            return treated
        return self._standardised(X)

    @staticmethod
    def _standardised(X: np.ndarray) -> np.ndarray:
        # In C order every row is summed by itself, in the same order whatever the number of rows.
        centred = X - X.mean(axis=1, keepdims=True)
        sd = np.sqrt(np.mean(centred * centred, axis=1, keepdims=True))
        # The rounded mean of equal values can differ from them: constancy is read off the values.
        varies = (X.max(axis=1, keepdims=True) > X.min(axis=1, keepdims=True)) & (sd > 0)
        return np.divide(centred, sd, out=np.zeros_like(centred), where=varies)
