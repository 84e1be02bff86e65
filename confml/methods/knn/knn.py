"""`knn`: plain k nearest neighbours, the baseline of everything that counts neighbours."""

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
    """The majority among the k nearest training examples; its confidence is the share of their votes.

    View ``vote``: the share of the k votes that each class gets. Distances are Euclidean on the attributes as
    they are, so attributes of different units want a scaling step ahead. A nominal attribute adds 0 to the
    squared distance where two rows have the same category, else 1 (eq. 3.2); where all attributes are
    nominal, the distance is the number of those that differ (Hamming).

    Ties are settled without chance. Several training examples at the k-th distance: all of them count, each
    with the share of the places left (two examples for one place have half a vote each). Equal votes: the
    class whose voters' distances have the smaller sum, counted with those shares; then the first class in
    sorted order. With fewer than k training examples, all of them vote.

    Distances are roots of squared differences added in attribute order, in 64-bit floating point, so equal
    distances are equal numbers, and the prediction of an example does not depend on which others are asked.
    All k of a sweep or a tuning grid come from one search.

    Source: Fix and Hodges, Discriminatory analysis: nonparametric discrimination (1951); Kubat, An
    Introduction to Machine Learning (2015), chapter 3.
    """

    name: ClassVar[str] = "knn"
    version: ClassVar[int] = 2
    views: ClassVar[tuple[str, ...]] = ("vote",)
    takes_nominal: ClassVar[bool] = True
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "k": Integer("how many nearest training examples vote", low=1),
        "nominal": NOMINAL,
    }

    def __init__(self, k: int = 1, nominal: str | Sequence[int] = "auto"):
        self.k = k
        self.nominal = nominal

    def fit(self, X, y) -> KNN:
        """Make training examples X (m, d) with labels y (m,) ready for the search."""
        X, codes = self.check_fit_data(X, y)
        self._rows = nearest_rows(X, codes, len(self.classes_), nominal_mask(self.nominal, X.shape[1]))
        return self

    def predict_proba(self, X) -> np.ndarray:
        """(n, c) shares of the votes, in the order of ``classes_``."""
        return self.confident_predict(X)["vote"].scores.copy()

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """The view ``vote`` of X (n, d)."""
        X = self.check_predict_data(X)
        return self._vote(self._rows.query(X, self.k), self.k)

    def test_block(self, train_rows: int, test_rows: int) -> int | None:
        """Blocks of some seconds where a cell takes longer."""
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
        """One search for the largest k serves all of them; each is charged an equal part of its time."""
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
    def warm(cls) -> None:
        """Compile all ways of searching, and the vote."""
        for attributes, nominal in ((2, "auto"), (20, "auto"), (2, [0])):
            X = np.arange(3.0 * attributes).reshape(3, attributes)
            cls(nominal=nominal).fit(X, [0, 1, 1]).predict(X)

    def _vote(self, neighbours: Neighbours, k: int) -> dict[str, Prediction]:
        shares, winners = neighbours.vote(k)
        return {"vote": Prediction(self.classes_, shares, "vote", self.classes_[winners])}
