"""The contract of a method: a scikit-learn classifier that says how far its predictions can be trusted."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from confml._seeds import derived_generator
from confml.errors import ConfmlError
from confml.measures.prediction import Prediction
from confml.plugins.parameters import Parameter, check_parameters


class Views(dict[str, Prediction]):
    """The views of one fit on one test part by name, and what the fit cost and found.

    fit_seconds, predict_seconds: on one thread. fit_metrics: the method's own quantities. fit_details: what
    else it found, as plain data (`Method.fit_details_`). prepare_seconds: those of fit_seconds that one
    training set takes once, whatever the grid is (spanning trees, say).
    """

    def __init__(
        self,
        views: Mapping[str, Prediction],
        fit_seconds: float = 0.0,
        predict_seconds: float = 0.0,
        fit_metrics: Mapping[str, float] | None = None,
        fit_details: Mapping[str, Any] | None = None,
        prepare_seconds: float = 0.0,
    ):
        super().__init__(views)
        self.fit_seconds, self.predict_seconds = fit_seconds, predict_seconds
        self.prepare_seconds = prepare_seconds
        self.fit_metrics = dict(fit_metrics or {})
        self.fit_details = dict(fit_details or {})


class Method(ClassifierMixin, BaseEstimator, ABC):
    """A classifier with at least one view of confidence. Subclass it in a file of its own under ``methods/``.

    name: what a config calls it. version: raised whenever its results change, so that stored cells of the
    older version are computed again. views: the keys of what `confident_predict` returns with default
    parameters, in order. parameters: what each constructor argument may be. takes_nominal: whether it can
    use nominal attributes as they are; then it has a parameter ``nominal`` (`_nominal.NOMINAL`), and gets
    codes of categories instead of dummy columns, and the numbers of the columns that hold them. Each has
    ``fit``, ``predict`` and `confident_predict`, and one or more of ``predict_p_values``,
    ``predict_proba`` and ``decision_function``. learns_online: whether it can predict examples one at a time
    and learn each; then it has `evaluate_online`.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    views: ClassVar[tuple[str, ...]] = ()
    takes_nominal: ClassVar[bool] = False
    learns_online: ClassVar[bool] = False
    parameters: ClassVar[Mapping[str, Parameter]] = {}

    # ---- what a method must offer

    @abstractmethod
    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Every view of the test examples ``X`` (n, d), by name; ``rng`` only where chance enters."""

    def predict(self, X) -> np.ndarray:
        """(n,) the labels of the first view."""
        return next(iter(self.confident_predict(X).values())).labels.copy()

    @property
    def fit_metrics_(self) -> dict[str, float]:
        """The method's own quantities after a fit (kept rows, bounces, R-hat), for ``metrics.csv``."""
        return {}

    @property
    def fit_details_(self) -> dict[str, Any]:
        """What a fit found and no number can say (a tree), as what JSON knows, for the report."""
        return {}

    # ---- what a method may do better than these defaults

    def prepare(self, X, y, grid: Sequence[Mapping[str, Any]] = ()) -> dict[str, np.ndarray] | None:
        """Work on one outer training set that all its tasks share, as named arrays; None for no such work.

        ``grid`` holds the points that `evaluate_path` will be asked for.
        """
        return None

    def subset_state(self, state: Mapping[str, np.ndarray], rows: np.ndarray) -> dict[str, np.ndarray] | None:
        """What of `prepare`'s state still holds for the training rows ``rows`` alone (an inner fold).

        None by default: a state that saw the inner validation rows must not leak into their prediction.
        """
        return None

    def test_block(self, train_rows: int, test_rows: int) -> int | None:
        """How many test examples make one task where a cell is large; None for all of them in one.

        Only for methods whose predictions of one example do not depend on which others are asked. It must
        not depend on the number of workers.
        """
        return None

    def evaluate_path(
        self,
        X,
        y,
        X_test,
        grid: Sequence[Mapping[str, Any]],
        rng: np.random.Generator | None = None,
        state: Mapping[str, np.ndarray] | None = None,
    ) -> Iterator[tuple[dict[str, Any], Views]]:
        """Fit on (X, y) and predict ``X_test`` for every point of a grid: yields (parameters, `Views`).

        The points come in the order of the grid. A method that can serve a whole grid in one pass overrides
        this; ``tune:`` and ``sweep:`` both go through it. ``state`` is what `prepare` returned for (X, y).
        What a point gives never depends on the other points: chance comes from a generator of its own,
        derived from ``rng`` and the point, which also seeds a ``random_state`` that is not given.
        """
        for point in grid:
            method = clone(self)._set_point(point)
            point_rng = None if rng is None else derived_generator(rng, point)
            if point_rng is not None:
                method._share_seeds(rng, point)
                method._seed(point_rng)
            started = time.thread_time()
            method.fit(X, y)
            fitted = time.thread_time()
            views = method.confident_predict(X_test, point_rng)
            predicted = time.thread_time()
            yield (
                dict(point),
                Views(views, fitted - started, predicted - fitted, method.fit_metrics_, method.fit_details_),
            )

    def evaluate_online(
        self,
        X,
        y,
        X_new,
        y_new,
        classes: np.ndarray,
        grid: Sequence[Mapping[str, Any]],
        rng: np.random.Generator | None = None,
    ) -> Iterator[tuple[dict[str, Any], Views]]:
        """Learn (X, y), then take ``X_new`` (n, d) one at a time: predict it, and learn it with its label.

        As `evaluate_path` otherwise. classes: (c,) all labels that may come, sorted; some may not have come
        when an example is predicted, and (X, y) may be empty. Only of methods with ``learns_online``.
        """
        raise ConfmlError(
            f"{type(self).__name__} does not learn one example at a time",
            hint="protocol: {kind: online} is for methods that do, such as tcm-nn",
        )

    @classmethod
    def warm(cls) -> None:
        """Compile the kernels, by running them once on a few rows; nothing to do for a method without any."""

    # ---- shared by the subclasses

    def _seed(self, rng: np.random.Generator) -> None:
        """Give every ``random_state`` that is None a seed, those of nested estimators as well."""
        for name, value in sorted(self.get_params().items()):
            if name.rpartition("__")[2] == "random_state" and value is None:
                self.set_params(**{name: int(rng.integers(2**31))})

    def _set_point(self, point: Mapping[str, Any]) -> Method:
        """Set the parameters of a point of a grid and return the method."""
        return self.set_params(**point)

    def _share_seeds(self, rng: np.random.Generator, point: Mapping[str, Any]) -> None:
        """Ahead of `_seed`, set what chance decides alike for several points of a grid."""

    def _check_fit(self, X, y) -> tuple[np.ndarray, np.ndarray]:
        """Check parameters and training data, set ``classes_``: (X (m, d) float64 C-ordered, codes (m,))."""
        check_parameters(type(self).__name__, self.parameters, self.get_params(deep=False))
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", ensure_min_samples=1)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        return X, np.ascontiguousarray(codes, dtype=np.int64)

    def _check_predict(self, X) -> np.ndarray:
        """Checked test data (n, d) float64 C-ordered of a fitted method."""
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, order="C", reset=False)
