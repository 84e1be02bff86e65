"""`select-attributes`: drops features one at a time while the inner accuracy of a method does not fall."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from confml.data.folds import fold_numbers
from confml.measures.metric import Metric
from confml.methods import METHODS
from confml.methods.registry import build, method_class
from confml.plugins.parameters import Choice, Integer
from confml.steps.base import ColumnSelection, complete


@dataclass(eq=False, repr=False)
class SelectAttributes(ColumnSelection):
    """Drop features one at a time as long as the cross-validated accuracy of a method does not decrease.

    Backward selection from all features. The training set is divided into ``folds`` stratified parts, and
    each part is classified by a method that is trained on the others. The rows of a group (``groups`` of the
    data set) stay in one part. In each round the feature whose removal gives the highest accuracy is dropped
    (the first one of several). The search ends when every removal would lower the accuracy. The 0/1 columns
    of a nominal feature are dropped one by one.

    metrics: ``removed_attributes``, ``kept_attributes``, ``score_before`` and ``score_after``, the
    cross-validated accuracies.

    References
    ----------
    Kubat, An Introduction to Machine Learning (2015), section 3.9, thought experiment 4.

    Examples
    --------
    >>> X = np.array([[0.0, 5.0], [1.0, 5.0], [8.0, 5.0], [9.0, 5.0]] * 5)
    >>> step = SelectAttributes().fit(X, np.array([0, 0, 1, 1] * 5), np.random.default_rng(0))
    >>> step.kept_columns_
    array([0])
    """

    name = "select-attributes"
    version = 2
    breaks_exchangeability = True
    metrics = {
        **ColumnSelection.metrics,
        "score_before": Metric("cross-validated accuracy with all features", "higher"),
        "score_after": Metric("cross-validated accuracy with the features kept", "higher"),
    }
    parameters = {
        "method": Choice("method whose accuracy is measured, with its default parameters", tuple(METHODS)),
        "folds": Integer("number of folds", low=2),
        "least": Integer("smallest number of features to keep", low=1),
    }

    method: str = "knn"
    folds: int = 5
    least: int = 1

    def fit(self, X: np.ndarray, y: np.ndarray, rng: np.random.Generator | None = None) -> Self:
        X, y = complete(X, self.name), np.asarray(y)
        rng = np.random.default_rng(0) if rng is None else rng
        codes = np.unique(y, return_inverse=True)[1]
        part = fold_numbers(codes, self.folds, rng, groups=self.groups, single_rows=True)
        seed = int(rng.integers(2**31))
        columns = list(range(X.shape[1]))
        least = self.least if _folds(part).size else len(columns)  # too few examples, or groups, to score
        score = self.score_before_ = self._score(X, y, columns, part, seed)
        while len(columns) > least:
            rests = [[rest for rest in columns if rest != column] for column in columns]
            scores = [self._score(X, y, rest, part, seed) for rest in rests]
            best = int(np.argmax(scores))
            if scores[best] < score:
                break
            score = scores[best]
            del columns[best]
        self.score_after_ = score
        self._keep(np.array(columns), X.shape[1])
        return self

    def _score(self, X: np.ndarray, y: np.ndarray, columns: list[int], part: np.ndarray, seed: int) -> float:
        """Return the cross-validated accuracy of the method on these columns."""
        coded = np.flatnonzero(self._coded(X)[columns])
        params: dict[str, Any] = {}
        if method_class(self.method).takes_nominal and len(coded):
            params["nominal"] = tuple(coded.tolist())
        if "random_state" in method_class(self.method).parameters:
            params["random_state"] = seed
        is_right = []
        for fold in _folds(part):
            in_fold = part == fold
            method = build(self.method, params).fit(X[~in_fold][:, columns], y[~in_fold])
            is_right.extend(method.predict(X[in_fold][:, columns]) == y[in_fold])
        return sum(is_right) / max(len(is_right), 1)


def _folds(part: np.ndarray) -> np.ndarray:
    """Return the folds that have other examples to train on; examples of no fold (-1) are never tested."""
    folds = np.unique(part)
    return folds[folds >= 0] if folds.size > 1 else folds[:0]
