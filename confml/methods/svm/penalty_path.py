"""`PenaltyPath`: methods whose fits along one parameter, the weight of their penalty, share their work."""

from __future__ import annotations

import copy
import time
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, validate_data

from confml._seeds import derived_generator
from confml.measures.prediction import Prediction
from confml.methods.base import Method, Views, check_largest, class_codes
from confml.plugins.parameters import check_parameters


class SparseMethod(Method):
    """A method whose examples may be a scipy sparse matrix."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def check_fit_data(self, X, y):
        """As `Method.check_fit_data`; X may be CSR. Raises ConfmlError for values above 1e100."""
        check_parameters(type(self).__name__, self.parameters, self.get_params(deep=False))
        X, y = validate_data(
            self, X, y, dtype=np.float64, order="C", ensure_min_samples=1, accept_sparse="csr"
        )
        self.classes_, codes = class_codes(y)
        check_largest(X, self.name)
        return X, codes

    def check_predict_data(self, X):
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, order="C", reset=False, accept_sparse="csr")


class PenaltyPath(SparseMethod):
    """A method with a parameter ``penalty``, along which one pass makes many fits.

    A fit has the view ``margin``. What a value of the penalty gives does not depend on the other ones.
    """

    penalty: ClassVar[str]
    _prepare_seconds = 0.0  # of the seconds that all values share, those for `Views.prepare_seconds`

    @abstractmethod
    def _fit_path(
        self, X, y, values: Sequence[float], state: Mapping[str, np.ndarray] | None
    ) -> tuple[float, dict[float, float]]:
        """Set ``path_`` by value of the penalty: seconds that all ``values`` share, and seconds by value.

        state: of `prepare`, for (X, y).
        """

    @abstractmethod
    def _take(self, value: float) -> None:
        """Be the fit at one value of ``path_``, which goes."""

    @abstractmethod
    def _seed_counts(self) -> bool:
        """Whether a fit depends on ``random_state``."""

    def fit(self, X, y):
        """Train on examples X (m, d), an array or a sparse matrix, with labels y (m,)."""
        value = getattr(self, self.penalty)
        self._fit_path(X, y, [value], None)
        self._take(value)
        return self

    def evaluate_path(
        self,
        X,
        y,
        X_test,
        grid: Sequence[Mapping[str, Any]],
        rng: np.random.Generator | None = None,
        state: Mapping[str, np.ndarray] | None = None,
    ) -> Iterator[tuple[dict[str, Any], Views]]:
        """As `Method.evaluate_path`; points that differ in the penalty alone share one path."""
        methods = []
        for point in grid:
            method = clone(self).set_params(**point)
            if rng is not None:
                method.seed_random_states(derived_generator(rng, point))
            methods.append(method)
        keys = [method._path_key() for method in methods]
        fitted: dict[str, tuple] = {}
        for point, method, key in zip(grid, methods, keys, strict=True):
            value = getattr(method, self.penalty)
            if key not in fitted:
                same = [other for other, its in zip(methods, keys, strict=True) if its == key]
                values = [getattr(other, self.penalty) for other in same]
                fitted[key] = method, len(values), *method._fit_path(X, y, values, state)
            first, count, shared, seconds = fitted[key]
            one = copy.copy(first).set_params(**method.get_params(deep=False))
            one._take(value)
            started = time.thread_time()
            views = one.confident_predict(X_test)
            predicted = time.thread_time() - started
            yield (
                dict(point),
                Views(
                    views,
                    shared / count + seconds[value],
                    predicted,
                    one.fit_metrics_,
                    one.fit_details_,
                    one._prepare_seconds / count,
                ),
            )

    def _path_key(self) -> str:
        """What two points must have in common to share a path."""
        params = self.get_params()  # deep, as the text of an estimator can be cut short
        del params[self.penalty]
        if not self._seed_counts():
            del params["random_state"]
        return repr(sorted(params.items(), key=lambda item: item[0]))

    def decision_function(self, X) -> np.ndarray:
        """The scores of the view ``margin``: (n, c), or (n,) of two classes, positive for the second."""
        return margin_of(self.confident_predict(X)["margin"])


def margin_of(view: Prediction) -> np.ndarray:
    """Scores as scikit-learn's ``decision_function`` gives them: (n, c), or (n,) of two classes."""
    scores = view.scores
    return scores[:, 1] - scores[:, 0] if len(view.classes) == 2 else scores.copy()
