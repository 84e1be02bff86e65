"""`row-standardise`: scales each example to mean 0 and standard deviation 1."""

import numpy as np

from confml.steps._columns import complete
from confml.steps.base import Step


class RowStandardise(Step):
    """Scale each example to mean 0 and standard deviation 1 over its own features.

    The sum of squares is divided by the number of features. An example whose features are all equal becomes
    zeros. Nothing is learnt from the training set: the result for an example does not depend on other
    examples, to the last bit. Use it where all features have the same unit, such as the grey values of an
    image. Codes of nominal features are not changed and do not enter the mean.
    """

    name = "row-standardise"
    learns = False
    stored = {}

    def transform(self, X: np.ndarray) -> np.ndarray:
        X = complete(X, self.name)
        coded = self._coded(X)
        if coded.any():
            scaled = X.copy()
            if not coded.all():
                scaled[:, ~coded] = self._standardised(np.ascontiguousarray(X[:, ~coded]))
            return scaled
        return self._standardised(X)

    @staticmethod
    def _standardised(X: np.ndarray) -> np.ndarray:
        # In C order every row is summed by itself, in the same order whatever the number of rows.
        centred = X - X.mean(axis=1, keepdims=True)
        sd = np.sqrt(np.mean(centred * centred, axis=1, keepdims=True))
        # The rounded mean of equal values can differ from them: constancy is read off the values.
        varies = (X.max(axis=1, keepdims=True) > X.min(axis=1, keepdims=True)) & (sd > 0)
        return np.divide(centred, sd, out=np.zeros_like(centred), where=varies)
