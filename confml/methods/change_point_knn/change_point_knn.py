"""`change-point-knn`: k nearest neighbours with the exact posterior of k."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from confml.measures.prediction import Prediction
from confml.methods.base import ProbabilityMethod
from confml.methods.change_point_knn import _kernels as kernels
from confml.methods.nominal import NOMINAL, nominal_mask
from confml.neighbours.mixed_rows import nearest_rows
from confml.plugins.parameters import Integer, Number


@dataclass(eq=False, repr=False)
class ChangePointKNN(ProbabilityMethod):
    """k nearest neighbours with the exact posterior of k for each test example.

    The training labels, ordered by distance from the test example, are divided into segments: between two
    neighbouring places there is a change with probability ``change``, independently. Labels of a segment are
    independent with class probabilities of this segment. The prior of these is Dirichlet(a, ..., a) with a =
    ``prior``. k is the number of training examples in the segment of the test example, so every test example
    has its own posterior of k. The sum over all segmentations is computed exactly, from far to near.

    Notes
    -----
    View ``probability``: P(y = j) = sum_k P(k) (a + n_j(k)) / (c a + k), where n_j(k) of the k nearest are of
    class j; its extra ``k`` is the posterior mean of k.

    Examples at equal distances are in the same segment, so the order of the rows does not matter. Only the
    ``k_max`` nearest training examples count, with all ties of the last one. With ``change`` = 0.05 the prior
    probability of a k above 200 is 4e-5. Where classes hardly change with distance, a larger ``k_max`` can
    change probabilities by 0.01. A ``prior`` of 10 moves probabilities towards equality; 1 is often better.
    Distances, scales and nominal features are those of `knn`. In contrast to `bayes-knn`, there is no
    parameter beta, and k differs between test examples.

    References
    ----------
    Nuti, An efficient algorithm for Bayesian nearest neighbours, Methodology and Computing in Applied
    Probability 21 (2019). The model is that of its abstract; the ends of segments in tied groups are those of
    confml.
    """

    name = "change-point-knn"
    example = "k_max=3"
    version = 1
    views = ("probability",)
    takes_nominal = True
    parameters = {
        "change": Number(
            "probability of a change between two neighbouring places", 0.0, 1.0, low_open=True, high_open=True
        ),
        "prior": Number(
            "parameter of the Dirichlet prior of the class probabilities, the same for each class",
            0.0,
            1e6,
            low_open=True,
        ),
        "k_max": Integer("number of nearest training examples that count", 1),
        "nominal": NOMINAL,
    }
    stored = {"_rows": "NearestRows(d, c) | MixedRows(d, c)"}

    change: float = 0.05
    prior: float = 10.0
    k_max: int = 200
    nominal: str | Sequence[int] = "auto"

    def fit(self, X, y) -> Self:
        """Prepare training examples X (m, d) with labels y (m,) for the search."""
        X, codes = self.check_fit_data(X, y)
        self._rows = nearest_rows(X, codes, len(self.classes_), nominal_mask(self.nominal, X.shape[1]))
        return self

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the view ``probability`` of X (n, d), with the posterior means of k (n,) as extra ``k``."""
        X = self.check_predict_data(X)
        found = self._rows.query(X, self.k_max)
        probabilities, k_means = np.empty(found.beyond.shape), np.empty(len(X))
        kernels.predict(
            float(self.change),
            float(self.prior),
            found.distances,
            found.codes,
            found.beyond,
            probabilities,
            k_means,
        )
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        return {"probability": Prediction(self.classes_, probabilities, "probability", extra={"k": k_means})}

    def test_chunk_size(self, train_rows: int, test_rows: int) -> int | None:
        block = max(1000, 100_000_000 // train_rows)
        return block if block < test_rows else None

    @classmethod
    def compile_kernels(cls) -> None:
        for attributes, nominal in ((2, "auto"), (20, "auto"), (2, [0])):
            X = np.arange(3.0 * attributes).reshape(3, attributes)
            cls(nominal=nominal).fit(X, [0, 1, 1]).predict(X)
