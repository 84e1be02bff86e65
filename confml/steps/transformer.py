"""`TransformerStep`: a transformer with scikit-learn's interface as a step."""

import contextlib
import functools
import inspect
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import OneToOneFeatureMixin

from confml.data.memory import is_sparse
from confml.errors import ConfigError, ConfmlError
from confml.methods.base import draw_seeds
from confml.methods.sklearn.estimators import new_estimator
from confml.methods.sklearn.names import TRANSFORMER, find_estimator
from confml.plugins.imports import without_output
from confml.plugins.registry import required_parameters
from confml.steps.base import Step


class TransformerStep(Step):
    """Transformer of scikit-learn, or of a package whose import is allowed, with its parameters.

    It is fitted to the training part. Codes of nominal features are left out of the fit and keep their
    values. Each ``random_state`` that is not given is set from the seed of the run.
    """

    def __init__(self, **params: Any):
        self.params = params

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes with the name: the class of one transformer cannot be imported."""
        return {"name": self.name, **vars(self)}

    def fit(self, X: np.ndarray, y: np.ndarray, rng: np.random.Generator | None = None) -> Self:
        if self.groups is not None and self.divides_groups(self.params):
            raise divided_groups(self.name)
        self.fitted_ = new_transformer(self.name, self.params)
        if rng is not None:
            draw_seeds(self.fitted_, rng)
        self._numeric = ~self._coded(X)
        numbers = self._numbers(X)
        with without_output():
            self.fitted_.fit(numbers, y)
        self._width = self._transformed(numbers[:1]).shape[1]
        self.kept_columns_ = self.new_nominal_ = None
        numeric = np.flatnonzero(self._numeric)
        selected = self.fitted_.get_support(indices=True) if hasattr(self.fitted_, "get_support") else []
        if len(selected) == self._width:  # a feature selector keeps these, and the columns that hold codes
            self.kept_columns_ = np.setdiff1d(np.arange(X.shape[1]), np.delete(numeric, selected))
        elif not (isinstance(self.fitted_, OneToOneFeatureMixin) and self._width == len(numeric)):
            self.new_nominal_ = np.repeat([False, True], [self._width, X.shape[1] - len(numeric)])
        return self

    @classmethod
    def divides_groups(cls, params: Mapping[str, Any]) -> bool:
        """Return whether the transformer, or an estimator inside it, has the parameter ``cv``."""
        fitted = new_transformer(cls.name, params)
        if type(fitted).__name__ == "TargetEncoder":  # its folds are those of fit_transform, not of fit
            return False
        return any(name.rpartition("__")[2] == "cv" for name in fitted.get_params(deep=True))

    def transform(self, X: np.ndarray) -> np.ndarray:
        numbers = self._transformed(self._numbers(X)) if len(X) else np.empty((0, self._width))
        if self._numeric.all():
            return numbers
        if self.new_nominal_ is not None:  # new columns, then the codes
            return np.hstack([numbers, X[:, ~self._numeric]])
        columns = np.arange(X.shape[1]) if self.kept_columns_ is None else self.kept_columns_
        result = X[:, columns].copy()
        result[:, self._numeric[columns]] = numbers
        return result

    def _numbers(self, X: np.ndarray) -> np.ndarray:
        """Return the columns without codes; the order of their bytes decides the last digits of products."""
        return X if self._numeric.all() else np.ascontiguousarray(X[:, self._numeric])

    def _transformed(self, X: np.ndarray) -> np.ndarray:
        """Return the transformed examples (n, d') as finite float64 numbers."""
        with without_output():
            transformed = self.fitted_.transform(X)
        transformed = transformed.toarray() if is_sparse(transformed) else np.asarray(transformed)
        try:
            transformed = transformed.astype(np.float64)
        except (TypeError, ValueError):
            raise ConfmlError(f"step '{self.name}' returns values that are not numbers") from None
        if transformed.ndim != 2 or len(transformed) != len(X):
            shape = f"the shape {transformed.shape}, expected {len(X)} rows"
            raise ConfmlError(f"step '{self.name}' returns {shape}")
        if np.isinf(transformed).any() or np.isnan(transformed).any() > np.isnan(X).any():
            hint = "scale the features first, for example with the step 'standardise'"
            raise ConfmlError(f"step '{self.name}' returns values that are not finite", hint=hint)
        return transformed


def divided_groups(name: str) -> ConfigError:
    """Return the error for a step that validates inside, with data that have groups."""
    return ConfigError(
        f"step '{name}' cross-validates inside and would divide the groups of the data set",
        hint="use select-attributes, which keeps groups together, or leave out groups:",
    )


def find_transformer(name: str) -> Any:
    """Return the class of a transformer, or a transformer, with this dotted name.

    Raises ConfigError for a name that is unknown, or of a package whose import is not allowed.
    """
    return find_estimator(name, "step", TRANSFORMER)


def new_transformer(name: str, params: Mapping[str, Any]) -> Any:
    """Return an unfitted transformer. Raises the errors of `confml.methods.sklearn`."""
    return new_estimator(name, find_transformer(name), params)


@functools.cache
def transformer_step(name: str, transformer_class: Any) -> type[TransformerStep]:
    """Return a subclass for one transformer, with the properties that its tags state."""
    learns, uses_labels = True, True
    if not inspect.isclass(transformer_class) or not required_parameters(transformer_class):
        transformer: Any = transformer_class() if inspect.isclass(transformer_class) else transformer_class
        with contextlib.suppress(Exception):  # without tags, the careful answer
            tags = transformer.__sklearn_tags__()
            learns = tags.requires_fit
            uses_labels = tags.target_tags.required or _selects_by_labels(transformer)
    properties = {"name": name, "learns": learns, "breaks_exchangeability": uses_labels}
    return type("TransformerStep", (TransformerStep,), properties)


def _selects_by_labels(transformer: Any) -> bool:
    """Return whether it is a feature selector that uses the labels, which its tags do not say."""
    from sklearn.feature_selection import SelectorMixin, VarianceThreshold

    return isinstance(transformer, SelectorMixin) and not isinstance(transformer, VarianceThreshold)
