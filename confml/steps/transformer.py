"""`TransformerStep`: a transformer with scikit-learn's interface as a step."""

import contextlib
import functools
import inspect
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import OneToOneFeatureMixin

from confml.errors import ConfigError, ConfmlError
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

    transformer: ClassVar[str]  # dotted name

    def __init__(self, **params: Any):
        self.params = params

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes with the name: the class of one transformer cannot be imported."""
        return {"name": self.name, "transformer": self.transformer, **vars(self)}

    def fit(self, X: np.ndarray, y: np.ndarray, rng: np.random.Generator | None = None) -> Self:
        if self.groups is not None and self.divides_groups(self.params):
            raise divided_groups(self.name)
        self.fitted_ = new_transformer(self.transformer, self.params)
        if rng is not None:
            _seed(self.fitted_, rng)
        self._numeric = ~self._coded(X)
        numbers = self._numbers(X)
        with without_output():
            self.fitted_.fit(numbers, y)
        self._width = self._transformed(numbers[:1]).shape[1]
        return self

    @classmethod
    def divides_groups(cls, params: Mapping[str, Any]) -> bool:
        """Return whether the transformer, or an estimator inside it, has the parameter ``cv``."""
        fitted = new_transformer(cls.transformer, params)
        if type(fitted).__name__ == "TargetEncoder":  # its folds are those of fit_transform, not of fit
            return False
        return any(name.rpartition("__")[2] == "cv" for name in fitted.get_params(deep=True))

    def transform(self, X: np.ndarray) -> np.ndarray:
        numbers = self._transformed(self._numbers(X)) if len(X) else np.empty((0, self._width))
        if self._numeric.all():
            return numbers
        if self._selected is None and self.new_nominal_ is not None:  # new columns, then the codes
            return np.hstack([numbers, X[:, ~self._numeric]])
        selected = self.kept_columns_
        columns = np.arange(X.shape[1]) if selected is None else selected
        result = X[:, columns].copy()
        result[:, self._numeric[columns]] = numbers
        return result

    @property
    def kept_columns_(self) -> np.ndarray | None:
        """The columns that a feature selector keeps, with those that hold codes; None for other steps."""
        if self._selected is None:
            return None
        is_kept = ~self._numeric
        is_kept[np.flatnonzero(self._numeric)[self._selected]] = True
        return np.flatnonzero(is_kept)

    @property
    def new_nominal_(self) -> np.ndarray | None:
        """(d',) bool, the columns with codes if the transformer makes new columns; else None."""
        is_one_to_one = isinstance(self.fitted_, OneToOneFeatureMixin)
        if self._selected is not None or is_one_to_one and self._width == int(self._numeric.sum()):
            return None
        return np.repeat([False, True], [self._width, int(np.sum(~self._numeric))])

    def _numbers(self, X: np.ndarray) -> np.ndarray:
        """Return the columns without codes; the order of their bytes decides the last digits of products."""
        return X if self._numeric.all() else np.ascontiguousarray(X[:, self._numeric])

    @property
    def _selected(self) -> np.ndarray | None:
        """(k,) the numeric columns that a feature selector keeps."""
        if not hasattr(self.fitted_, "get_support"):
            return None
        selected = np.asarray(self.fitted_.get_support(indices=True))
        return selected if len(selected) == self._width else None

    def _transformed(self, X: np.ndarray) -> np.ndarray:
        """Return the transformed examples (n, d') as finite float64 numbers."""
        with without_output():
            transformed = self.fitted_.transform(X)
        if hasattr(transformed, "toarray"):  # a sparse matrix
            transformed = transformed.toarray()
        try:
            transformed = np.asarray(transformed).astype(np.float64)
        except (TypeError, ValueError):
            raise ConfmlError(f"step '{self.transformer}' returns values that are not numbers") from None
        if transformed.ndim != 2 or len(transformed) != len(X):
            raise ConfmlError(
                f"step '{self.transformer}' returns the shape {transformed.shape}, expected {len(X)} rows"
            )
        if np.isinf(transformed).any() or np.isnan(transformed).any() > np.isnan(X).any():
            raise ConfmlError(
                f"step '{self.transformer}' returns values that are not finite",
                hint="scale the features first, for example with the step 'standardise'",
            )
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
    return type(
        "TransformerStep",
        (TransformerStep,),
        {"name": name, "transformer": name, "learns": learns, "breaks_exchangeability": uses_labels},
    )


def _selects_by_labels(transformer: Any) -> bool:
    """Return whether it is a feature selector that uses the labels, which its tags do not say."""
    from sklearn.feature_selection import SelectorMixin, VarianceThreshold

    return isinstance(transformer, SelectorMixin) and not isinstance(transformer, VarianceThreshold)


def _seed(transformer: Any, rng: np.random.Generator) -> None:
    for name, value in sorted(transformer.get_params().items()):
        if name.rpartition("__")[2] == "random_state" and value is None:
            transformer.set_params(**{name: int(rng.integers(2**31))})
