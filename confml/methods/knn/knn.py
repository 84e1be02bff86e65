"""`knn`: k nearest neighbours with equal votes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from confml.measures.prediction import Prediction
from confml.methods.base import Method, Views
from confml.methods.nominal import NOMINAL, nominal_mask
from confml.neighbours.mixed_rows import nearest_rows
from confml.neighbours.nearest_rows import Neighbours
from confml.plugins.parameters import Integer, Parameter, check_parameters


class KNN(Method):
    """Majority vote of the k nearest training examples; the confidence is the share of the votes.

    View ``vote``: the share of the k votes for each class. Distances are Euclidean on the features as they
    are: use a scaling step first if features have different units. A nominal feature adds 0 to the squared
    distance of two rows with the same category, else 1 (eq. 3.2); if all features are nominal, the distance
    is the number of features that differ (Hamming distance).

    Ties are broken without randomness. If several training examples are at the k-th distance, all of them
    count, each with an equal share of the remaining places (two examples for one place have half a vote
    each). Equal votes: the class whose voters have the smaller sum of distances, counted with those shares;
    then the first class in sorted order. With fewer than k training examples, all of them vote.

    Distances are roots of squared differences added in the order of the features, in float64: equal distances
    are equal numbers, and the prediction of an example does not depend on the other test examples. Features
    whose squares leave the range of float64 (values near 1e160 or 1e-300) are multiplied by a power of two,
    which changes no vote. All k of a sweep or a tuning grid come from one search.

    Source: Fix and Hodges, Discriminatory analysis: nonparametric discrimination (1951); Kubat, An
    Introduction to Machine Learning (2015), chapter 3.
    """

    name: ClassVar[str] = "knn"
    version: ClassVar[int] = 3
    views: ClassVar[tuple[str, ...]] = ("vote",)
    takes_nominal: ClassVar[bool] = True
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "k": Integer("number of nearest training examples that vote", low=1),
        "nominal": NOMINAL,
    }

    def __init__(self, k: int = 1, nominal: str | Sequence[int] = "auto"):
        self.k = k
        self.nominal = nominal

    def fit(self, X, y) -> KNN:
        """Prepare training examples X (m, d) with labels y (m,) for the search."""
        X, codes = self.check_fit_data(X, y)
        self._rows = nearest_rows(X, codes, len(self.classes_), nominal_mask(self.nominal, X.shape[1]))
        return self

    def predict_proba(self, X) -> np.ndarray:
        """Return the shares of the votes (n, c), in the order of ``classes_``."""
        return self.confident_predict(X)["vote"].scores.copy()

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the view ``vote`` of X (n, d)."""
        X = self.check_predict_data(X)
        return self._vote(self._rows.query(X, self.k), self.k)

    def test_chunk_size(self, train_rows: int, test_rows: int) -> int | None:
        """Return the block size for some seconds of work; None if the whole test part takes no longer."""
        block = max(1000, 200_000_000 // train_rows)
        return block if block < test_rows else None

    def evaluate_path(
        self,
        X,
        y,
        X_test,
        grid: Sequence[Mapping[str, Any]],
        rng: np.random.Generator | None = None,
        state: Mapping[str, np.ndarray] | None = None,
    ) -> Iterator[tuple[dict[str, Any], Views]]:
        """Search once, for the largest k; each point of the grid is charged an equal part of the time."""
        if not grid:
            return
        if len({str(point.get("nominal", self.nominal)) for point in grid}) > 1:
            yield from super().evaluate_path(X, y, X_test, grid, rng, state)
            return
        points = [clone(self).set_params(**point) for point in grid]
        for point in points:
            check_parameters(type(self).__name__, self.parameters, point.get_params(deep=False))
        largest = max(points, key=lambda point: point.k)
        started = time.thread_time()
        largest.fit(X, y)
        fitted = time.thread_time()
        neighbours = largest._rows.query(largest.check_predict_data(X_test), largest.k)
        searched = time.thread_time()
        fit_seconds, search_seconds = (fitted - started) / len(grid), (searched - fitted) / len(grid)
        for given, point in zip(grid, points, strict=True):
            before = time.thread_time()
            views = largest._vote(neighbours, point.k)
            predict_seconds = search_seconds + time.thread_time() - before
            yield dict(given), Views(views, fit_seconds, predict_seconds, point.fit_metrics_)

    @classmethod
    def compile_kernels(cls) -> None:
        """Compile the kernels of all searches and of the vote."""
        for attributes, nominal in ((2, "auto"), (20, "auto"), (2, [0])):
            X = np.arange(3.0 * attributes).reshape(3, attributes)
            cls(nominal=nominal).fit(X, [0, 1, 1]).predict(X)

    def _vote(self, neighbours: Neighbours, k: int) -> dict[str, Prediction]:
        shares, winners = neighbours.vote(k)
        return {"vote": Prediction(self.classes_, shares, "vote", self.classes_[winners])}
