"""`consistent-subset`: few examples that classify the training set as all of it does."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from confml.methods._mixed_neighbours import nearest_rows
from confml.steps._base import Step
from confml.steps._columns import complete


class ConsistentSubset(Step):
    """Keeps a subset of the training set by which 1-NN classifies all of it right: the redundant go.

    Begins with one random example of each class; then, again and again, all training examples that 1-NN gets
    wrong by the subset join it, until there are none that are not in it already. What stays wrong are
    examples with an identical one of another class. Distances and ties are those of `knn`: put a scaling step
    ahead.

    metrics: ``removed_rows``, ``kept_rows``, ``passes``.

    Source: Hart 1968; Kubat, An Introduction to Machine Learning (2015), Table 3.6, whose "go to step 1"
    means step 2.
    """

    name: ClassVar[str] = "consistent-subset"

    def fit_training(
        self, X: np.ndarray, y: np.ndarray, rng: np.random.Generator | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        X = complete(X, self.name)
        rng = np.random.default_rng(0) if rng is None else rng
        classes, codes = np.unique(y, return_inverse=True)
        chosen = np.zeros(len(y), dtype=bool)
        for code in range(len(classes)):
            chosen[rng.choice(np.flatnonzero(codes == code))] = True
        self.passes_ = 0
        while True:
            self.passes_ += 1
            rows = nearest_rows(X[chosen], codes[chosen], len(classes), self._coded(X))
            _, winners = rows.query(X, 1).vote(1)
            wrong = (winners != codes) & ~chosen
            if not wrong.any():
                break
            chosen |= wrong
        kept = np.flatnonzero(chosen)
        self.kept_, self.removed_ = len(kept), len(y) - len(kept)
        return X[kept], np.asarray(y)[kept], kept

    @property
    def fit_metrics_(self) -> dict[str, float]:
        return {
            "removed_rows": float(self.removed_),
            "kept_rows": float(self.kept_),
            "passes": float(self.passes_),
        }
