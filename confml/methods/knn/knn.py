"""`knn`: k nearest neighbours with equal votes, or with more votes for the examples of a teacher."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from confml.errors import ConfmlError
from confml.measures.prediction import Prediction
from confml.methods.base import ProbabilityMethod, Views
from confml.methods.knn import _kernels as kernels
from confml.methods.nominal import NOMINAL, nominal_mask
from confml.neighbours.checks import check_width
from confml.neighbours.distance_kinds import prepare_rows
from confml.neighbours.nearest_rows import Neighbours
from confml.plugins.parameters import (
    AnyOf,
    Choice,
    IncompatibleParameters,
    Integer,
    Number,
    Parameter,
    check_parameters,
    or_null,
)

DISTANCE_PARAMETERS: Mapping[str, Parameter] = {
    "distance": Choice(
        "euclidean; minkowski, the root of the sum of the differences to a power; mahalanobis, Euclidean "
        "after the training examples are scaled to unit covariance; polar, the angle between two examples",
        ("euclidean", "minkowski", "mahalanobis", "polar"),
    ),
    "power": AnyOf(
        "power of distance: minkowski; 1 is the sum of absolute differences, 2 the Euclidean distance, max "
        "the largest difference",
        (Number("", 1.0), Choice("", ("max",))),
    ),
}


@dataclass(eq=False, repr=False)
class KNN(ProbabilityMethod):
    """Majority vote of the k nearest training examples; the confidence is the share of the votes.

    View ``vote``: the share of the k votes for each class. Distances are Euclidean on the features as they
    are: use a scaling step first if features have different units. A nominal feature adds 0 to the squared
    distance of two rows with the same category, else 1 (eq. 3.2). If all features are nominal, the distance
    is the number of features that differ (Hamming distance).

    Notes
    -----
    With ``distance: minkowski`` it is (sum |x_i - z_i|^power)^(1/power), where a nominal feature adds 0 or 1
    to the sum. With ``distance: mahalanobis`` it is sqrt((x - z)^T S^+ (x - z)) with the covariance S of the
    training examples. Directions in which they do not vary are left out. With ``distance: polar`` it is the
    angle between x and z, so only their directions from the origin count. The angle between zero and any
    other example is pi / 2. The textbook names the last three without formulas.

    With ``teacher``, a column marks training examples that a teacher has chosen, whose votes count
    ``teacher_weight`` times (Kubat, section 3.9). The column is not part of the distance.

    Ties are broken without randomness. If several training examples are at the k-th distance, all of them
    count, each with an equal share of the remaining places. Two examples for one place have half a vote each.
    Equal votes: the class whose voters have the smaller sum of distances, counted with those shares; then the
    first class in sorted order. With fewer than k training examples, all of them vote.

    Distances are roots of squared differences added in the order of the features, in float64. Equal distances
    are therefore equal numbers, and the prediction of an example does not depend on the other test examples.
    Features whose squares leave the range of float64 (values near 1e160 or 1e-300) are multiplied by a power
    of two, which changes no vote. All k of a sweep or a tuning grid come from one search.

    References
    ----------
    Fix and Hodges, Discriminatory analysis: nonparametric discrimination (1951); Kubat, An
    Introduction to Machine Learning (2015), chapter 3.
    """

    name = "knn"
    example = ""
    version = 3
    views = ("vote",)
    takes_nominal = True
    parameters = {
        "k": Integer("number of nearest training examples that vote", low=1),
        "nominal": NOMINAL,
        **DISTANCE_PARAMETERS,
        "teacher": or_null("column, from 0, that is above 0 for a teacher's examples", Integer("", low=0)),
        "teacher_weight": Number("number of votes of a teacher's example", 0.0, low_open=True),
    }

    k: int = 1
    nominal: str | Sequence[int] = "auto"
    distance: str = "euclidean"
    power: float | str = 2.0
    teacher: int | None = None
    teacher_weight: float = 1.0

    @classmethod
    def check_combination(cls, params: Mapping[str, Any]) -> None:
        """Raise `IncompatibleParameters` for a power or a weight that the other parameters do not use."""
        check_power(cls.name, params.get("distance", "euclidean"), params.get("power", 2.0))
        if params.get("teacher_weight", 1.0) != 1.0 and params.get("teacher") is None:
            raise IncompatibleParameters(
                "teacher_weight needs teacher, the column that marks a teacher's examples",
                owner=cls.name,
                parameter="teacher_weight",
                value=params["teacher_weight"],
            )

    def fit(self, X, y) -> Self:
        """Prepare training examples X (m, d) with labels y (m,) for the search."""
        X, codes = self.check_fit_data(X, y)
        self.check_combination(self.get_params(deep=False))
        nominal, classes = nominal_mask(self.nominal, X.shape[1]), len(self.classes_)
        self._columns = _columns_of_distance(self.teacher, X.shape[1])
        if self.teacher is not None:
            codes = codes + classes * (X[:, self.teacher] > 0)
            X, nominal, classes = self._used(X), nominal[self._columns], 2 * classes
        self._rows = prepare_rows(X, codes, classes, nominal, self.distance, self.power)
        return self

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the view ``vote`` of X (n, d)."""
        X = self.check_predict_data(X)
        return self._vote(self._rows.query(self._used(X), self.k), self)

    def evaluate_path(self, X, y, X_test, grid, rng=None, state=None):
        """Search once, for the largest k; each point of the grid is charged an equal part of the time."""
        if not grid:
            return
        points = [clone(self).set_params(**point) for point in grid]
        for point in points:
            check_parameters(type(self).__name__, self.parameters, point.get_params(deep=False))
            self.check_combination(point.get_params(deep=False))
        if len({point._search for point in points}) > 1:
            yield from super().evaluate_path(X, y, X_test, grid, rng, state)
            return
        largest = max(points, key=lambda point: point.k)
        started = time.thread_time()
        largest.fit(X, y)
        fitted = time.thread_time()
        neighbours = largest._rows.query(largest._used(largest.check_predict_data(X_test)), largest.k)
        searched = time.thread_time()
        fit_seconds, search_seconds = (fitted - started) / len(grid), (searched - fitted) / len(grid)
        for values, point in zip(grid, points, strict=True):
            before = time.thread_time()
            views = largest._vote(neighbours, point)
            predict_seconds = search_seconds + time.thread_time() - before
            yield dict(values), Views(views, fit_seconds, predict_seconds, point.fit_metrics_)

    @property
    def _search(self) -> tuple[str, ...]:
        """The parameters of the search: with the same ones, different k share it."""
        return str(self.nominal), self.distance, str(self.power), str(self.teacher)

    def _used(self, X: np.ndarray) -> np.ndarray:
        """Return the columns of X (n, d) that are part of the distance."""
        return X if self.teacher is None else np.ascontiguousarray(X[:, self._columns])

    def _vote(self, neighbours: Neighbours, settings: "KNN") -> dict[str, Prediction]:
        """Return the view ``vote`` with the k and the weights of ``settings``."""
        check_width(neighbours.beyond, len(self.classes_) * (1 + (self.teacher is not None)))
        if self.teacher is None:
            shares, winners = neighbours.vote(settings.k)
        else:
            rows, codes = neighbours.beyond.shape
            shares, winners = np.empty((rows, codes // 2)), np.empty(rows, dtype=np.int64)
            kernels.teacher_vote(
                settings.k,
                float(settings.teacher_weight),
                neighbours.distances,
                neighbours.codes,
                neighbours.beyond,
                shares,
                winners,
            )
        return {"vote": Prediction(self.classes_, shares, "vote", self.classes_[winners])}


def check_power(method: str, distance: str, power: float | str) -> None:
    """Raise `IncompatibleParameters` for a power other than 2 of a distance that has none."""
    if distance != "minkowski" and power != 2:
        message = f"power is for distance: minkowski, and the distance is {distance}"
        raise IncompatibleParameters(
            message, owner=method, parameter="power", value=power, hint="set distance: minkowski"
        )


def _columns_of_distance(teacher: int | None, d: int) -> np.ndarray:
    """Return the columns without the one of the teacher; raise ConfmlError where no other one is left."""
    if teacher is not None and teacher >= d:
        raise ConfmlError(f"teacher is column {teacher}, but X has columns 0 to {d - 1}")
    if teacher is not None and d == 1:
        raise ConfmlError("X has no column other than the one that marks a teacher's examples")
    return np.array([column for column in range(d) if column != teacher], dtype=np.intp)
