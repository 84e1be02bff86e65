"""`StepTransformer`: a step of a config as a transformer of scikit-learn."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from confml.data.large_integers import warn_of_rounded_integers
from confml.errors import ConfigError
from confml.steps.registry import build_step, changes_rows, imputes


class StepTransformer(TransformerMixin, BaseEstimator):
    """Step of a config as a transformer, for pipelines, data frames and ``set_output``.

    Steps that remove or relabel training examples are refused, because a transformer keeps every row.

    Parameters
    ----------
    step : str, default="standardise"
        A step of ``confml describe``.
    params : dict, optional
        Parameters of the step.
    random_state : int, RandomState or None, default=0
        Random seed of the fit.

    Attributes
    ----------
    step_ : Step
        The fitted step.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [20.0, 40.0], "height": [150.0, 170.0]})
    >>> StepTransformer("min-max").set_output(transform="pandas").fit_transform(frame)
       age  height
    0  0.0     0.0
    1  1.0     1.0
    """

    def __init__(
        self,
        step: str = "standardise",
        params: Mapping[str, Any] | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ):
        self.step = step
        self.params = params
        self.random_state = random_state

    def fit(self, X, y=None) -> Self:
        """Fit the step.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Training examples.
        y : array-like of shape (m,), optional
            Their labels, for steps that use them.

        Returns
        -------
        StepTransformer
            The fitted object.

        Raises
        ------
        ConfigError
            For an unknown step, wrong parameters, and a step that changes rows.
        """
        X = self._checked(X, reset=True)
        if changes_rows(self.step):
            hint = "use it in steps: of a config, or in confml.predict"
            raise ConfigError(f"step '{self.step}' changes the rows of the training set", hint=hint)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        self.step_ = build_step(self.step, dict(self.params or {})).fit(X, y, rng)
        self.n_features_out_ = self.step_.transform(X[:1]).shape[1]
        return self

    def transform(self, X) -> np.ndarray:
        """Transform examples.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Examples.

        Returns
        -------
        ndarray of shape (n, d')
            The transformed examples.
        """
        check_is_fitted(self)
        return self.step_.transform(self._checked(X, reset=False))

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Return the names of the transformed features: those of a transformer, or after the step.

        Parameters
        ----------
        input_features : array-like of shape (d,), optional
            Names of the features, where those of the fit have none.

        Returns
        -------
        ndarray of shape (d',)
            The names.
        """
        check_is_fitted(self)
        feature_names = getattr(self, "feature_names_in_", input_features)
        names = [f"x{j}" for j in range(self.n_features_in_)] if feature_names is None else feature_names
        transformer: Any = getattr(self.step_, "fitted_", None)
        if hasattr(transformer, "get_feature_names_out"):
            return transformer.get_feature_names_out(names)
        columns = self.step_.kept_columns_
        if columns is None and self.n_features_out_ != self.n_features_in_:
            names = [f"{self.step}-{j}" for j in range(self.n_features_out_)]
        names = np.asarray(names, dtype=object)
        return names if columns is None else names[columns]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = imputes(self.step)
        return tags

    def _checked(self, X, reset: bool) -> np.ndarray:
        warn_of_rounded_integers(X)
        finite = "allow-nan" if imputes(self.step) else True
        return validate_data(self, X, reset=reset, dtype=np.float64, ensure_all_finite=finite)
