"""`TreeNetwork`: naive Bayes on intervals with a tree of dependent features, a stand-in for CASTLE."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class TreeNetwork(ClassifierMixin, BaseEstimator):
    """Tree-augmented naive Bayes (Friedman, Geiger & Goldszmidt 1997) on intervals of equal width.

    Each feature depends on the class and on one other feature. The tree has the largest sum of mutual
    informations given the class. Each count is increased by 1. bins: number of intervals of a feature.
    """

    def __init__(self, bins: int = 5):
        self.bins = bins

    def fit(self, X: np.ndarray, y: np.ndarray) -> TreeNetwork:
        """Fit the intervals, the tree and the counts; return self."""
        from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

        X = np.asarray(X, dtype=float)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.low_, width = X.min(axis=0), np.ptp(X, axis=0)
        self.width_ = np.where(width > 0, width, 1.0)
        features, bins = X.shape[1], self.bins
        indicators = np.eye(bins)[self._intervals(X)].reshape(len(X), -1)
        # counts[c, i, a, j, b]: rows of class c with feature i in interval a and feature j in interval b.
        counts = np.stack(
            [indicators[codes == code].T @ indicators[codes == code] for code in range(len(self.classes_))]
        )
        counts = counts.reshape(-1, features, bins, features, bins)
        self.class_counts_ = np.bincount(codes)
        each = np.einsum("ciaia->cia", counts)
        expected = (
            each[:, :, :, None, None] * each[:, None, None] / self.class_counts_[:, None, None, None, None]
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(counts > 0, counts * np.log(counts / expected), 0.0)
        information = terms.sum(axis=(0, 2, 4)) / len(X)
        tree = minimum_spanning_tree(-(information + 1e-9))  # a weight of 0 would be no edge
        order, self.parents_ = breadth_first_order(tree, 0, directed=False)
        self.log_root_ = np.log((each[:, order[0]] + 1) / (self.class_counts_[:, None] + bins))
        self.order_ = order
        pairs = [(counts[:, i, :, self.parents_[i]] + 1) for i in order[1:]]
        self.log_tables_ = [np.log(pair / pair.sum(axis=1, keepdims=True)) for pair in pairs]
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the most probable class of each row of X."""
        codes = self._intervals(np.asarray(X, dtype=float))
        scores = np.log(self.class_counts_) + self.log_root_[:, codes[:, self.order_[0]]].T
        for i, table in zip(self.order_[1:], self.log_tables_, strict=True):
            scores += table[:, codes[:, i], codes[:, self.parents_[i]]].T
        return self.classes_[scores.argmax(axis=1)]

    def _intervals(self, X: np.ndarray) -> np.ndarray:
        intervals = np.floor((X - self.low_) / self.width_ * self.bins)
        return np.clip(intervals, 0, self.bins - 1).astype(int)
