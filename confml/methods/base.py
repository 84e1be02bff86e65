"""`Method`: the public contract of methods, scikit-learn classifiers that give the confidence of predictions.

Other packages build on this module, `confml.methods.details`, `confml.plugins.parameters` and
`confml.measures.Prediction`; modules whose names begin with ``_`` are not part of the contract.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from confml._seeds import derived_generator
from confml._threads import cpu_seconds, limits_blas
from confml.measures.metric import Metric
from confml.measures.prediction import Prediction
from confml.methods.details import FitDetails
from confml.methods.multiclass import decision_values
from confml.methods.validation import (
    class_codes,
    parameter_names,
    validated_test,
    validated_training,
    without_weights,
)
from confml.plugins.docstrings import add_sections
from confml.plugins.parameters import Parameter, check_parameters


class Views(dict[str, Prediction]):
    """Predictions of one fit by the name of the view, with the time and the findings of the fit.

    fit_seconds, predict_seconds: on one thread. fit_metrics: the method's own quantities
    (`Method.fit_metrics_`). fit_details: its other findings (`Method.fit_details_`). prepare_seconds: the
    part of fit_seconds that one training set needs once, whatever the grid is (spanning trees, for example).
    """

    def __init__(
        self,
        views: Mapping[str, Prediction],
        fit_seconds: float = 0.0,
        predict_seconds: float = 0.0,
        fit_metrics: Mapping[str, float] | None = None,
        fit_details: FitDetails | None = None,
        prepare_seconds: float = 0.0,
    ):
        super().__init__(views)
        self.fit_seconds, self.predict_seconds = fit_seconds, predict_seconds
        self.prepare_seconds = prepare_seconds
        self.fit_metrics = dict(fit_metrics or {})
        self.fit_details = fit_details or FitDetails()


_PREDICTIONS = ("predict", "confident_predict", "predict_p_values", "predict_proba", "decision_function")


class Method(ClassifierMixin, BaseEstimator, ABC):
    """A classifier with at least one kind of confidence (view). Subclass it to add a method.

    A subclass has ``fit``, `confident_predict`, and one or more of ``predict_p_values``, ``predict_proba``
    and ``decision_function``. It sets these class attributes:

    name: its name in configs: lower case, words joined by "-".
    version: an integer that is raised whenever results change; stored results of older versions are then
        computed again.
    views: the keys of the result of `confident_predict` with default parameters, in order.
    parameters: the declaration of each constructor argument (`confml.plugins.parameters`).
    example: arguments of the constructor in the example of the docstring; for methods of `confml` only.
    takes_nominal: whether it uses nominal features as they are. It then has a parameter ``nominal``
        (`confml.methods.nominal.NOMINAL`) with the numbers of the columns that hold codes of categories,
        and gets those codes instead of 0/1 columns.
    takes_rows: whether it gets the numbers of rows of the data set (m, 1) in place of their features, because
        its predictions were computed before; see `confml.methods.external`.
    metrics: the declaration of each number that `fit_metrics_` may hold, with its better direction.

    Three functions are optional: `prepare`, `evaluate_path` and `fit_metrics_`. A method that can predict
    examples one at a time and learn each has ``evaluate_online(X, y, X_new, y_new, classes, grid, rng)``. It
    learns (X, y); then, for each example of X_new (n, d) in turn, it predicts the example and learns its
    label, and yields results as `evaluate_path`. ``classes`` (c,) are all labels that can occur, sorted;
    (X, y) may be empty.

    The methods of this class are public: those that a subclass must or may override, and those that it calls
    (`check_fit_data`, `check_predict_data`). confml calls the others.

    Examples
    --------
    >>> class Constant(Method):
    ...     def fit(self, X, y):
    ...         X, codes = self.check_fit_data(X, y)
    ...         return self
    ...
    ...     def confident_predict(self, X, rng=None):
    ...         shares = np.full((len(self.check_predict_data(X)), len(self.classes_)), 0.5)
    ...         return {"probability": Prediction(self.classes_, shares, "probability")}
    >>> Constant().fit([[0.0], [1.0]], ["a", "b"]).predict([[2.0]])
    array(['a'], dtype='<U1')
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    views: ClassVar[tuple[str, ...]] = ()
    example: ClassVar[str | None] = None
    takes_nominal: ClassVar[bool] = False
    takes_rows: ClassVar[bool] = False
    parameters: ClassVar[Mapping[str, Parameter]] = {}
    metrics: ClassVar[Mapping[str, Metric]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        """Complete the docstring; limit BLAS to one thread in the fits and predictions of the subclass."""
        super().__init_subclass__(**options)
        cls._document()
        for name in ("fit", *_PREDICTIONS):
            function = vars(cls).get(name)
            if inspect.isfunction(function):
                function = without_weights(function) if name == "fit" else function
                setattr(cls, name, limits_blas(function))

    @classmethod
    def _document(cls) -> None:
        """Add the sections Parameters and Attributes to the docstring, from the declarations."""
        add_sections(cls, cls.parameters)

    # ---- to implement

    @abstractmethod
    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the predictions of test examples, with their confidence.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Test examples.
        rng : numpy.random.Generator, optional
            Generator for methods that draw random numbers when they predict; by default they use their
            ``random_state``.

        Returns
        -------
        dict of Prediction
            The predictions of each view, by its name, in the order of ``views``.

        Raises
        ------
        NotFittedError
            If the method is not fitted.
        ConfmlError, ValueError
            If X is not a finite matrix with the columns of the training examples.
        """

    def predict(self, X) -> np.ndarray:
        """Return the labels of the first view.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Test examples.

        Returns
        -------
        ndarray of shape (n,)
            Predicted labels.
        """
        return next(iter(self.confident_predict(X).values())).labels.copy()

    @property
    def fit_metrics_(self) -> dict[str, float]:
        """The method's own quantities after a fit (kept rows, R-hat), each declared in ``metrics``."""
        return {}

    @property
    def fit_details_(self) -> FitDetails:
        """Findings of a fit that are not single numbers, such as a tree of classes, for the report."""
        return FitDetails()

    # ---- to override where a method can do better than the default

    def prepare(self, X, y, grid: Sequence[Mapping[str, Any]] = ()) -> dict[str, np.ndarray] | None:
        """Return work on one outer training set that its inner folds may use.

        It has seen the validation rows of the inner folds.

        Parameters
        ----------
        X : ndarray of shape (m, d)
            Training examples.
        y : ndarray of shape (m,)
            Their labels.
        grid : sequence of mapping
            Points that `evaluate_path` will be called with.

        Returns
        -------
        dict of ndarray or None
            Named arrays; None if there is nothing to share.
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
        """Fit on (X, y) and predict X_test for each point of a grid.

        ``sweep:`` and ``tune:`` both call it. A method that can evaluate a whole grid in one pass overrides
        it. The points come in the order of the grid, and the result of a point does not depend on the other
        points: each has a separate random generator, derived from ``rng`` and the point, which also seeds
        every ``random_state`` that is None.

        Parameters
        ----------
        X : ndarray of shape (m, d)
            Training examples.
        y : ndarray of shape (m,)
            Their labels.
        X_test : ndarray of shape (n, d)
            Test examples.
        grid : sequence of mapping
            Points: values of parameters, by name.
        rng : numpy.random.Generator, optional
            Generator from which those of the points are derived.
        state : mapping of ndarray, optional
            Result of `prepare` for (X, y).

        Yields
        ------
        point : dict
            The point.
        views : Views
            Its predictions, with the seconds of the fit and of the predictions.
        """
        for point in grid:
            method = clone(self).set_point(point)
            point_rng = None if rng is None else derived_generator(rng, point)
            if point_rng is not None:
                method.share_random_states(rng, point)
                method.seed_random_states(point_rng)
            started = cpu_seconds()
            method.fit(X, y)
            fitted = cpu_seconds()
            views = method.confident_predict(X_test, point_rng)
            seconds = fitted - started, cpu_seconds() - fitted
            yield dict(point), Views(views, *seconds, method.fit_metrics_, method.fit_details_)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, as scikit-learn does, which reads the signature of the class at each call.

        Parameters
        ----------
        deep : bool, default=True
            Whether to return the parameters of parameters that are estimators too.

        Returns
        -------
        dict
            Values by name.
        """
        params = {name: getattr(self, name) for name in parameter_names(type(self))}
        nested = {name: value for name, value in params.items() if deep and hasattr(value, "get_params")}
        for name, value in nested.items():
            if not isinstance(value, type):
                params |= {f"{name}__{key}": item for key, item in value.get_params().items()}
        return params

    @classmethod
    def check_combination(cls, params: Mapping[str, Any]) -> None:
        """Refuse parameters that are each accepted and cannot be combined.

        Parameters
        ----------
        params : mapping
            Parameters that are given, by name; the others have their defaults.

        Raises
        ------
        ParameterError
            If they cannot be combined.
        """

    # ---- random states

    def seed_random_states(self, rng: np.random.Generator) -> None:
        """Draw a seed for every ``random_state`` that is None, also those of nested estimators.

        Parameters
        ----------
        rng : numpy.random.Generator
            Generator of the seeds.
        """
        draw_seeds(self, rng)

    def set_point(self, point: Mapping[str, Any]) -> "Method":
        """Set the parameters of a point of a grid.

        Parameters
        ----------
        point : mapping
            Values of parameters, by name.

        Returns
        -------
        Method
            The method itself.
        """
        return self.set_params(**point)

    def share_random_states(self, rng: np.random.Generator, point: Mapping[str, Any]) -> None:
        """Set the random states that several points of a grid have in common.

        It is called before `seed_random_states`. By default no random state is shared.

        Parameters
        ----------
        rng : numpy.random.Generator
            Generator of the whole grid.
        point : mapping
            Values of parameters, by name.
        """

    # ---- for subclasses to call

    def check_fit_data(self, X, y) -> tuple[np.ndarray, np.ndarray]:
        """Check the parameters and the training data, and set ``classes_``.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Training examples.
        y : array-like of shape (m,)
            Their labels.

        Returns
        -------
        X : ndarray of shape (m, d)
            The examples, C-ordered float64.
        codes : ndarray of shape (m,)
            Number of the class of each example, from 0.

        Raises
        ------
        ConfmlError, ValueError
            If a parameter is not accepted, X is not a finite matrix, or y has labels of several types.
        """
        check_parameters(type(self).__name__, self.parameters, self.get_params(deep=False))
        X, y = validated_training(self, X, y)
        self.classes_, codes = class_codes(y)
        return X, codes

    def check_predict_data(self, X) -> np.ndarray:
        """Check that the method is fitted, and the test data.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Test examples.

        Returns
        -------
        ndarray of shape (n, d)
            The examples, C-ordered float64.

        Raises
        ------
        NotFittedError
            If the method is not fitted.
        ConfmlError, ValueError
            If X is not a finite matrix with the columns of the training examples.
        """
        check_is_fitted(self)
        return validated_test(self, X)


class ProbabilityMethod(Method):
    """A method whose first view has probabilities or shares of votes."""

    def predict_proba(self, X) -> np.ndarray:
        """Return the probabilities or shares of votes of the classes.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Test examples.

        Returns
        -------
        ndarray of shape (n, c)
            Scores of the first view, in the order of ``classes_``.
        """
        return self.confident_predict(X)[self.views[0]].scores.copy()


class MarginMethod(Method):
    """A method with the view ``margin``."""

    views: ClassVar[tuple[str, ...]] = ("margin",)

    def decision_function(self, X) -> np.ndarray:
        """Return the margins of the classes.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Test examples.

        Returns
        -------
        ndarray of shape (n, c) or (n,)
            Margins, in the order of ``classes_``; with two classes (n,), positive for the second class.
        """
        return decision_values(self.confident_predict(X)["margin"].scores)


class PValueMethod(Method):
    """A method whose only view is ``p-value``."""

    views: ClassVar[tuple[str, ...]] = ("p-value",)

    def predict_p_values(self, X) -> np.ndarray:
        """Return the p-values of the classes.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Test examples.

        Returns
        -------
        ndarray of shape (n, c)
            P-values, in the order of ``classes_``.
        """
        return self.confident_predict(X)["p-value"].scores.copy()


def draw_seeds(estimator: Any, rng: np.random.Generator) -> None:
    """Draw a seed for every ``random_state`` that is None of an estimator, nested ones included."""
    for name, value in sorted(estimator.get_params().items()):
        if name.rpartition("__")[2] == "random_state" and value is None:
            estimator.set_params(**{name: int(rng.integers(2**31))})
