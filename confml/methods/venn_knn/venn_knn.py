"""`venn-knn`: the full k-NN Venn predictor."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone

from confml.measures.prediction import Prediction
from confml.methods.base import ProbabilityMethod
from confml.methods.nominal import NOMINAL, nominal_mask
from confml.methods.one_search import evaluate_with_one_search
from confml.methods.venn_knn import _kernels as kernels
from confml.methods.venn_knn.categories import Categories
from confml.neighbours.mixed_rows import nearest_rows, nominal_first
from confml.neighbours.nearest_rows import Neighbours
from confml.neighbours.scaling import SafeScale
from confml.plugins.parameters import Choice, Integer, check_parameters

_BLOCK_PAIRS = 250_000_000  # of a training and a test example: some seconds of work


@dataclass(eq=False, repr=False)
class VennKNN(ProbabilityMethod):
    """Venn predictor from nearest neighbours: calibrated probabilities with lower and upper bounds.

    A test example is added to the m training examples under each label v in turn. All m + 1 examples fall
    into categories by the labels of their neighbours. Row v of a matrix P is the distribution of the labels
    in the test example's category, itself included. The neighbours of an example are all others at most as
    far as its k-th nearest other. Ties at the k-th distance all count, so that the order of rows does not
    matter. With fewer than k others, all are neighbours.

    Notes
    -----
    View ``venn`` of kind probability, with ``extra``: ``lower`` and ``upper`` (n, c), the smallest and the
    largest entry of each column of P. point: ``mean`` of the rows, or ``minimax``, the diagonal of P divided
    by its sum, which minimises the largest regret of log loss for two classes. With many classes it
    overestimates rare ones. No class of the training examples has probability 0, so log loss is finite if
    every test example is of such a class. The prediction is the class with the largest point; ties go to the
    first class.

    Guarantee: if training and test examples are exchangeable and every class has a training example, the row
    of P that belongs to the true label is calibrated. In expectation, the frequency of each class then lies
    between the means of ``lower`` and ``upper``. The point has no guarantee.

    Distances are those of `knn`: Euclidean, in float64, with 0 or 1 for a nominal feature. Cost: the
    neighbours of every training example once, then O(m d) per test example. All k of a grid share the search.

    References
    ----------
    Vovk, Gammerman, Shafer, Algorithmic Learning in a Random World (2005), chapter 6.
    """

    name = "venn-knn"
    example = "k=1"
    version = 1
    views = ("venn",)
    takes_nominal = True
    parameters = {
        "k": Integer("number of nearest neighbours", low=1),
        "taxonomy": Choice(
            "rule for the category of an example: class of most neighbours with or without their number, or "
            "numbers of all classes",
            options=("votes", "majority", "counts"),
        ),
        "point": Choice("probability between the bounds", options=("mean", "minimax")),
        "nominal": NOMINAL,
    }
    stored = {
        "_search": "NearestRows(n, d, c) | MixedRows(n, d, c)",
        "_codes": "i8(n) in 0..c",
        "_order": "i8(d) in 0..d",
        "_nominal_count": "int in 0..d+1",
        "_scale": "SafeScale",
        "_rows": "real(n, d)",
        "_columns": "real(*, n)",
        "_found": "Neighbours(n, c)",
        "_own_training": "_Training(n)",
    }

    k: int = 3
    taxonomy: str = "votes"
    point: str = "mean"
    nominal: str | Sequence[int] = "auto"

    def fit(self, X, y) -> Self:
        """Find the neighbours of every training example X (m, d) with labels y (m,)."""
        self._fit(*self.check_fit_data(X, y), self.k, None)
        self._own_training = self._training(self)
        return self

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the view ``venn`` of X (n, d)."""
        X = self.check_predict_data(X)
        return self._predict(X, self._search.query(X, self.k), self, self._own_training)

    def test_chunk_size(self, train_rows: int, test_rows: int) -> int | None:
        block = max(200, _BLOCK_PAIRS // train_rows)
        return block if block < test_rows else None

    def prepare(self, X, y, grid: Sequence[Mapping[str, Any]] = ()) -> dict[str, np.ndarray] | None:
        """Return the nearest training rows of every training row, for all k; None for several ``nominal``."""
        points = [clone(self).set_params(**point) for point in grid] or [self]
        if len({str(point.nominal) for point in points}) > 1:
            return None
        first = clone(points[0])
        first._fit(*first.check_fit_data(X, y), max(point.k for point in points), None)
        found = first._found
        return {"distances": found.distances, "codes": found.codes, "beyond": found.beyond}

    def evaluate_path(self, X, y, X_test, grid, rng=None, state=None):
        """Search once, for the largest k; each point of the grid is charged an equal part of the time."""
        if not grid:
            return
        points = [clone(self).set_params(**point) for point in grid]
        if len({str(point.nominal) for point in points}) > 1:
            yield from super().evaluate_path(X, y, X_test, grid, rng, state)
            return
        for point in points:
            check_parameters(type(self).__name__, self.parameters, point.get_params(deep=False))
        fitted, largest = points[0], max(point.k for point in points)

        def search() -> tuple[np.ndarray, Neighbours]:
            T = fitted.check_predict_data(X_test)
            return T, fitted._search.query(T, largest)

        yield from evaluate_with_one_search(
            grid,
            points,
            fit=lambda: fitted._fit(*fitted.check_fit_data(X, y), largest, state),
            search=search,
            predict=lambda found, point: fitted._predict(*found, point, fitted._training(point)),
        )

    @classmethod
    def compile_kernels(cls) -> None:
        for features, nominal in ((2, "auto"), (40, "auto"), (2, [0])):
            X = np.arange(3.0 * features).reshape(3, features)
            cls(1, nominal=nominal).fit(X, [0, 1, 1]).predict(X)

    # ---- parts of fit and confident_predict

    def _fit(self, X: np.ndarray, codes: np.ndarray, k: int, state: Mapping[str, np.ndarray] | None) -> None:
        """Prepare the search, and find the k + 1 nearest training rows of each, with itself among them."""
        mask = nominal_mask(self.nominal, X.shape[1])
        self._search = nearest_rows(X, codes, len(self.classes_), mask)
        self._codes = codes
        self._order, self._nominal_count = nominal_first(mask)
        numeric = X[:, ~mask]
        self._scale = SafeScale.of(numeric) if numeric.shape[1] else SafeScale()
        self._rows = self._form(X)
        few = self._nominal_count == 0 and X.shape[1] <= kernels.COLUMNS_UP_TO
        self._columns = np.ascontiguousarray(self._rows.T) if few else np.empty((0, len(X)))
        places = min(k + 1, len(X))
        if state is not None and state["distances"].shape[1] >= places:
            self._found = Neighbours(state["distances"], state["codes"], state["beyond"])
        else:
            self._found = self._search.query(X, places)

    def _form(self, X: np.ndarray) -> np.ndarray:
        """Return rows X (n, d) on the scale of the search, nominal columns first."""
        return self._scale.apply(np.ascontiguousarray(X[:, self._order]))

    def _training(self, point: "VennKNN") -> "_Training":
        """Return the neighbour counts of the training examples with the parameters of ``point``."""
        m, c, found = len(self._codes), len(self.classes_), self._found
        radius, every, nearer = np.empty(m), np.empty((m, c), np.int32), np.empty((m, c), np.int32)
        kernels.training_counts(
            point.k, found.distances, found.codes, found.beyond, self._codes, radius, every, nearer
        )
        return _Training(radius, every, nearer, Categories.of(every, self._codes, point.taxonomy))

    def _predict(
        self, X: np.ndarray, neighbours: Neighbours, point: "VennKNN", training: "_Training"
    ) -> dict[str, Prediction]:
        """Return the view of X (n, d) with the parameters of ``point``."""
        n, c = len(X), len(self.classes_)
        own = np.empty((n, c), np.int32)
        kernels.new_counts(point.k, neighbours.distances, neighbours.codes, neighbours.beyond, own)
        own_kinds, base = training.categories.find(own)
        lower, upper, mean, diagonal = np.empty((4, n, c))
        rows = self._rows, self._columns, self._codes
        counts = training.radius, training.every, training.nearer, training.categories.kinds
        new_rows = self._form(X), own, own_kinds, base
        taxonomy, filled = training.categories.number, (lower, upper, mean, diagonal)
        kernels.distributions(rows, counts, new_rows, taxonomy, self._nominal_count, filled)
        scores = mean if point.point == "mean" else diagonal / diagonal.sum(axis=1, keepdims=True)
        extra = {"lower": lower, "upper": upper}
        return {"venn": Prediction(self.classes_, scores, "probability", extra=extra)}


class _Training(NamedTuple):
    """Neighbours of the training examples for one k: see `_kernels.training_counts`."""

    radius: np.ndarray
    every: np.ndarray
    nearer: np.ndarray
    categories: Categories


_Training.stored = {  # type: ignore[attr-defined]
    "radius": "f8(n)",
    "every": "i4(n, c)",
    "nearer": "i4(n, c)",
    "categories": "Categories(n, c)",
}
