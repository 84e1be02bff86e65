"""`consistent-subset`: a subset of the training set on which 1-NN makes no training error."""

from dataclasses import dataclass

import numpy as np

from confml.measures.metric import Metric
from confml.methods.knn import KNN
from confml.neighbours.mixed_rows import nearest_rows, rows_of_pairs
from confml.plugins.parameters import Choice
from confml.steps import _kernels_pairs as kernels
from confml.steps._columns import complete
from confml.steps.base import Step


@dataclass(eq=False, repr=False)
class ConsistentSubset(Step):
    """Reduce the training set to a subset on which 1-NN still classifies every training example correctly.

    Hart's condensed nearest neighbour. The subset begins with one random example of each class. In each pass,
    the training examples that 1-NN on the subset misclassifies are added, until there are no more. With
    ``add: all``, as in the book, they are added together at the end of a pass. With ``add: one``, Hart's
    rule, each is added before the next one is tried, which keeps far fewer examples. An example that is
    identical to one of another class may stay misclassified. Noisy examples make the subset large: use
    `tomek-links` before this step. Distances and ties are those of `knn`: use a scaling step before it.

    metrics: ``removed_rows``, ``kept_rows``, ``passes``.

    Source: Hart 1968; Kubat, An Introduction to Machine Learning (2015), Table 3.6, whose "go to step 1"
    means step 2.
    """

    name = "consistent-subset"
    breaks_exchangeability = True
    metrics = {
        "removed_rows": Metric("number of training rows that the step removed", None),
        "kept_rows": Metric("number of training rows that the step kept", None),
        "passes": Metric("number of passes over the training rows", None),
    }
    parameters = {
        "add": Choice(
            "add misclassified examples together at the end of a pass, or one by one",
            ("all", "one"),
        ),
    }
    stored = {"passes_": "int", "kept_": "int", "removed_": "int"}

    add: str = "all"

    def fit_training(
        self, X: np.ndarray, y: np.ndarray, rng: np.random.Generator | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        X = complete(X, self.name)
        rng = np.random.default_rng(0) if rng is None else rng
        classes, codes = np.unique(y, return_inverse=True)
        chosen = np.zeros(len(y), dtype=bool)
        for code in range(len(classes)):
            chosen[rng.choice(np.flatnonzero(codes == code))] = True
        if self.add == "one":
            rows, count = rows_of_pairs(X, self._coded(X))
            self.passes_ = kernels.condense(rows, count, codes, len(classes), chosen)
        else:
            self.passes_ = self._add_all(X, codes, len(classes), chosen)
        kept = np.flatnonzero(chosen)
        self.kept_, self.removed_ = len(kept), len(y) - len(kept)
        return X[kept], np.asarray(y)[kept], kept

    def _add_all(self, X: np.ndarray, codes: np.ndarray, classes: int, chosen: np.ndarray) -> int:
        """Run Table 3.6 on ``chosen`` (m,) bool, in place; return the number of passes."""
        passes = 0
        while True:
            passes += 1
            rows = nearest_rows(X[chosen], codes[chosen], classes, self._coded(X))
            _, winners = rows.query(X, 1).vote(1)
            wrong = (winners != codes) & ~chosen
            if not wrong.any():
                return passes
            chosen |= wrong

    @classmethod
    def compile_kernels(cls) -> None:
        """Compile the neighbour search and the kernels of pairs."""
        KNN.compile_kernels()
        cls(add="one").fit_training(np.arange(8.0).reshape(4, 2), np.array([0, 1, 0, 1]))

    @property
    def fit_metrics_(self) -> dict[str, float]:
        return {
            "removed_rows": float(self.removed_),
            "kept_rows": float(self.kept_),
            "passes": float(self.passes_),
        }
