"""`impute-mean`: replaces missing values by means of the training set."""

from typing import Self

import numpy as np

from confml.measures.metric import Metric
from confml.steps.base import Step


class ImputeMean(Step):
    """Replace each missing value (NaN) by the mean of its feature in the training set.

    Missing values of a nominal feature are replaced by its most frequent category in the training set, the
    first one of equally frequent ones. Missing values of a feature without any known value in the training
    set are replaced by 0.

    metrics: ``imputed_values``, the number of values replaced in the training set.

    Examples
    --------
    >>> ImputeMean().fit(np.array([[1.0], [3.0]]), None).transform(np.array([[np.nan]]))
    array([[2.]])
    """

    name = "impute-mean"
    metrics = {"imputed_values": Metric("number of missing values filled in the training set", None)}

    def fit(self, X: np.ndarray, y: np.ndarray, rng: np.random.Generator | None = None) -> Self:
        X = np.asarray(X, dtype=np.float64)
        missing = np.isnan(X)
        present = len(X) - missing.sum(axis=0)
        totals = np.where(missing, 0.0, X).sum(axis=0)
        self.mean_ = np.divide(totals, present, out=np.zeros(X.shape[1]), where=present > 0)
        for column in np.flatnonzero(self._coded(X) & (present > 0)):
            codes, counts = np.unique(X[~missing[:, column], column], return_counts=True)
            self.mean_[column] = codes[np.argmax(counts)]
        self.imputed_values_ = int(missing.sum())
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        X = np.asarray(X, dtype=np.float64)
        return np.where(np.isnan(X), self.mean_, X)
