"""`select-examples`: drops training examples one at a time while the accuracy of 1-NN does not fall."""

import numpy as np

from confml.measures.metric import Metric
from confml.methods.knn import KNN
from confml.neighbours.mixed_rows import rows_of_pairs
from confml.steps import _kernels_pairs as kernels
from confml.steps._columns import complete
from confml.steps.base import Step


class SelectExamples(Step):
    """Drop training examples one at a time as long as the training accuracy of 1-NN does not decrease.

    Examples are tried in random order, in rounds, until a round drops none. The accuracy is that of 1-NN on
    the examples that are left, measured on all training examples, including those already dropped. Distances
    and ties are those of `knn` with k = 1: use a scaling step before it. The time grows with the square of
    the number of examples.

    metrics: ``removed_rows``, ``kept_rows``, ``rounds``.

    Source: Kubat, An Introduction to Machine Learning (2015), section 3.9, thought experiment 3.
    """

    name = "select-examples"
    metrics = {
        "removed_rows": Metric("number of training rows that the step removed", None),
        "kept_rows": Metric("number of training rows that the step kept", None),
        "rounds": Metric("number of rounds of the search", None),
    }
    breaks_exchangeability = True
    stored = {"rounds_": "int", "kept_": "int", "removed_": "int"}

    def fit_training(
        self, X: np.ndarray, y: np.ndarray, rng: np.random.Generator | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        X = complete(X, self.name)
        rng = np.random.default_rng(0) if rng is None else rng
        classes, codes = np.unique(y, return_inverse=True)
        ordered, count = rows_of_pairs(X, self._coded(X))
        kept = np.ones(len(y), dtype=bool)
        order = rng.permutation(len(y))
        self.rounds_ = kernels.drop_examples(ordered, count, codes, len(classes), order, kept)
        rows = np.flatnonzero(kept)
        self.kept_, self.removed_ = len(rows), len(y) - len(rows)
        return X[rows], np.asarray(y)[rows], rows

    @classmethod
    def compile_kernels(cls) -> None:
        """Compile the neighbour search and the kernels of pairs."""
        KNN.compile_kernels()
        cls().fit_training(np.arange(8.0).reshape(4, 2), np.array([0, 1, 0, 1]))

    @property
    def fit_metrics_(self) -> dict[str, float]:
        return {
            "removed_rows": float(self.removed_),
            "kept_rows": float(self.kept_),
            "rounds": float(self.rounds_),
        }
