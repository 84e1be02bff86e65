"""`PenaltyPath`: base class of methods that fit a whole path of one penalty parameter in one pass."""

import copy
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from confml._seeds import derived_generator
from confml._threads import cpu_seconds
from confml.methods.base import MarginMethod, Views
from confml.methods.validation import check_largest, class_codes, validated_test, validated_training
from confml.plugins.parameters import check_parameters


class SparseMethod(MarginMethod):
    """A method with margins that accepts scipy sparse matrices."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def check_fit_data(self, X, y):
        """Check parameters and training data as `Method.check_fit_data`; X may be CSR.

        Raises ConfmlError for values above 1e100.
        """
        check_parameters(type(self).__name__, self.parameters, self.get_params(deep=False))
        X, y = validated_training(self, X, y, accept_sparse="csr")
        self.classes_, codes = class_codes(y)
        check_largest(X, self.name)
        return X, codes

    def check_predict_data(self, X):
        check_is_fitted(self)
        return validated_test(self, X, accept_sparse="csr")


class PenaltyPath(SparseMethod):
    """A method that fits several values of the parameter named ``penalty`` in one pass.

    It has the view ``margin``. The result for one value does not depend on the other values.
    """

    penalty: ClassVar[str]
    _prepare_seconds = 0.0  # the part of the shared seconds that `Views.prepare_seconds` reports

    @abstractmethod
    def _fit_path(
        self, X, y, values: Sequence[float], state: Mapping[str, np.ndarray] | None
    ) -> tuple[float, dict[float, float]]:
        """Set ``path_``, the fits by value; return the seconds that all values share and those of each value.

        state: the result of `prepare` for (X, y).
        """

    @abstractmethod
    def _take(self, value: float) -> None:
        """Set the fitted attributes to the fit at one value, and delete ``path_``."""

    def _seed_counts(self) -> bool:
        """Return whether a fit depends on ``random_state``."""
        return False

    def fit(self, X, y):
        """Fit to training examples X (m, d), an array or a sparse matrix, with labels y (m,)."""
        value = getattr(self, self.penalty)
        self._fit_path(X, y, [value], None)
        self._take(value)
        return self

    def evaluate_path(self, X, y, X_test, grid, rng=None, state=None):
        """Evaluate a grid as `Method.evaluate_path`; points that differ in the penalty only share a path."""
        methods = []
        for point in grid:
            method = clone(self).set_params(**point)
            if rng is not None:
                method.seed_random_states(derived_generator(rng, point))
            methods.append(method)
        keys = [method._path_key() for method in methods]
        members: dict[str, list[PenaltyPath]] = {}
        for key, method in zip(keys, methods, strict=True):
            members.setdefault(key, []).append(method)
        fitted: dict[str, tuple] = {}
        for point, method, key in zip(grid, methods, keys, strict=True):
            value = getattr(method, self.penalty)
            if key not in fitted:
                values = [getattr(member, self.penalty) for member in members[key]]
                fitted[key] = method, len(values), *method._fit_path(X, y, values, state)
            first, count, shared, seconds = fitted[key]
            model = copy.copy(first).set_params(**method.get_params(deep=False))
            model._take(value)
            started = cpu_seconds()
            views = model.confident_predict(X_test)
            predicted = cpu_seconds() - started
            fit_seconds, findings = shared / count + seconds[value], (model.fit_metrics_, model.fit_details_)
            yield dict(point), Views(views, fit_seconds, predicted, *findings, model._prepare_seconds / count)

    def _path_key(self) -> str:
        """Return a key that is equal for points that can share a path."""
        params = self.get_params()  # deep, because the text of an estimator can be abbreviated
        del params[self.penalty]
        if not self._seed_counts():
            params.pop("random_state", None)
        return repr(sorted(params.items(), key=lambda item: item[0]))
