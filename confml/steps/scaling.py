"""`min-max`, `standardise` and `row-standardise`: steps that scale features or examples."""

from typing import Any, Self

import numpy as np

from confml.data.memory import is_sparse
from confml.steps.base import Step, complete


class MinMax(Step):
    """Scale each feature to [0, 1] by its minimum and maximum in the training set.

    ``(x - min) / (max - min)`` (Kubat, An Introduction to Machine Learning, 2015, eq. 3.3). Values of test
    examples outside the training range are not clipped. A feature that is constant in the training set
    becomes 0 in every training and test example. Codes of nominal features are not changed.

    Examples
    --------
    >>> MinMax().fit(np.array([[2.0], [4.0]]), None).transform(np.array([[3.0], [6.0]]))
    array([[0.5],
           [2. ]])
    """

    name = "min-max"

    def fit(self, X: np.ndarray, y: np.ndarray, rng: np.random.Generator | None = None) -> Self:
        X = complete(X, self.name)
        self.minimum_ = X.min(axis=0)
        with np.errstate(over="ignore"):
            self.range_ = np.minimum(X.max(axis=0) - self.minimum_, _LARGEST)
        coded = self._coded(X)
        self.minimum_[coded], self.range_[coded] = 0.0, 1.0
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        return _rescaled(complete(X, self.name), self.minimum_, self.range_)


class Standardise(Step):
    """Scale each feature to mean 0 and standard deviation 1, computed on the training set.

    The sum of squares is divided by the number of rows. A feature that is constant in the training set
    becomes 0 in every training and test example, because the training set does not show its scale. Codes of
    nominal features are not changed.

    Sparse rows (very many 0/1 columns of categories) stay sparse: the mean is not subtracted from 0/1 columns
    that are 1 in at most half of the training rows. Methods with an intercept without penalty, such as
    scikit-learn's ``LogisticRegression``, predict the same.

    Examples
    --------
    >>> Standardise().fit(np.array([[2.0], [4.0]]), None).transform(np.array([[3.0], [6.0]]))
    array([[0.],
           [3.]])
    """

    name = "standardise"
    takes_sparse = True

    def fit(self, X: Any, y: np.ndarray, rng: np.random.Generator | None = None) -> Self:
        if is_sparse(X):
            from sklearn.utils.sparsefuncs import mean_variance_axis

            self.centred_ = np.flatnonzero(2 * X.getnnz(axis=0) > X.shape[0])
            self.mean_, self.sd_ = np.zeros(X.shape[1]), np.sqrt(mean_variance_axis(X, axis=0)[1])
            mean, sd = _moments(complete(X[:, self.centred_].toarray(), self.name), axis=0)
            self.mean_[self.centred_], self.sd_[self.centred_] = mean[0], sd[0]
            return self
        X = complete(X, self.name)
        self.mean_, self.sd_ = (moment[0] for moment in _moments(X, axis=0))
        coded = self._coded(X)
        self.mean_[coded], self.sd_[coded] = 0.0, 1.0
        return self

    def transform(self, X: Any) -> Any:
        if not is_sparse(X):
            return _rescaled(complete(X, self.name), self.mean_, self.sd_)
        from scipy.sparse import csr_matrix

        (n, _), k = X.shape, len(self.centred_)
        numbers = complete(X[:, self.centred_].toarray(), self.name)
        numbers = _rescaled(numbers, self.mean_[self.centred_], self.sd_[self.centred_])
        pattern = np.tile(self.centred_, n), np.arange(n + 1) * k
        factors = np.divide(1.0, self.sd_, out=np.zeros_like(self.sd_), where=self.sd_ > 0)
        factors[self.centred_] = 0.0
        rest = csr_matrix((X.data * factors[X.indices], X.indices, X.indptr), shape=X.shape)
        return rest + csr_matrix((numbers.ravel(), *pattern), shape=X.shape)


class RowStandardise(Step):
    """Scale each example to mean 0 and standard deviation 1 over its own features.

    The sum of squares is divided by the number of features. An example whose features are all equal becomes
    zeros. Nothing is learnt from the training set: the result for an example does not depend on other
    examples, to the last bit. Use it where all features have the same unit, such as the grey values of an
    image. Codes of nominal features are not changed and do not enter the mean.

    Examples
    --------
    >>> RowStandardise().transform(np.array([[1.0, 3.0], [5.0, 5.0]]))
    array([[-1.,  1.],
           [ 0.,  0.]])
    """

    name = "row-standardise"
    learns = False

    def transform(self, X: np.ndarray) -> np.ndarray:
        X = complete(X, self.name)
        numeric = ~self._coded(X)
        scaled = X.copy()
        if numeric.any():
            # In C order every row is summed by itself, in the same order whatever the number of rows.
            numbers = np.ascontiguousarray(X[:, numeric])
            scaled[:, numeric] = _rescaled(numbers, *_moments(numbers, axis=1))
        return scaled


_LARGEST = np.finfo(np.float64).max


@np.errstate(over="ignore", invalid="ignore")
def _moments(X: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Return means and standard deviations along an axis, which has length 1; equal values have sd 0."""
    # A power of two changes no digit, and brings squares into the range of float64.
    unit = np.ldexp(1.0, np.frexp(np.abs(X).max(axis=axis, keepdims=True))[1] - 1)
    near = X / unit
    mean, sd = near.mean(axis=axis, keepdims=True) * unit, near.std(axis=axis, keepdims=True) * unit
    # The rounded mean of equal values can differ from them: constancy is read off the values.
    varies = X.max(axis=axis, keepdims=True) > X.min(axis=axis, keepdims=True)
    return mean, np.where(varies, sd, 0.0)


@np.errstate(over="ignore")
def _rescaled(X: np.ndarray, centre: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return ``(X - centre) / scale`` (n, d), cut to the range of float64, and 0 where the scale is 0."""
    scaled = np.divide(X - centre, scale, out=np.zeros_like(X), where=scale > 0)
    if np.isinf(scaled).any():  # the difference of halves does not overflow
        halves = np.divide(X / 2 - centre / 2, scale / 2, out=np.zeros_like(X), where=scale > 0)
        scaled = np.where(np.isinf(scaled), np.clip(halves, -_LARGEST, _LARGEST), scaled)
    return scaled
