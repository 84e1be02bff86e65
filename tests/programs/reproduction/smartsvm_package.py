"""`PackageSVM`: the authors' package smartsvm as a classifier that a config can name."""

import functools
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from confml.errors import ConfmlError


class PackageSVM(ClassifierMixin, BaseEstimator):
    """SmartSVM of the package smartsvm, with scikit-learn's LinearSVC at the nodes.

    The package has no parameter C, and the present scikit-learn does not take its class for a classifier. The
    Bayes errors of the same training rows are estimated once for all C.
    """

    def __init__(self, C: float = 1.0):
        self.C = C

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Fit the tree of classes of the package; return self."""
        from sklearn.svm import LinearSVC

        self.classes_ = np.unique(y)
        X = np.ascontiguousarray(X, dtype=np.float64)
        codes = np.searchsorted(self.classes_, y).astype(np.int64)
        tree = _package().SmartSVM(LinearSVC, {"C": self.C, "random_state": 0})
        self.model_ = tree.set_params(graph=_graph(X.tobytes(), X.shape, codes.tobytes())).fit(X, codes)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the labels of the rows of X."""
        return self.classes_[self.model_.predict(np.ascontiguousarray(X, dtype=np.float64)).astype(int)]


def _package() -> Any:
    try:
        import smartsvm
    except ImportError:
        hint = "pip install cython setuptools, then pip install --no-build-isolation smartsvm"
        raise ConfmlError("smartsvm is not installed", hint=hint) from None
    return smartsvm


@functools.lru_cache(maxsize=16)
def _graph(X: bytes, shape: tuple[int, int], codes: bytes) -> Any:
    """Return the package's graph of pairwise estimates of the Bayes error."""
    _package()
    from smartsvm.error_estimate import compute_error_graph

    return compute_error_graph(np.frombuffer(X).reshape(shape), np.frombuffer(codes, dtype=np.int64))
