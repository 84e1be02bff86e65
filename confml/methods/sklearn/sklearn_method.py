"""`SklearnMethod`: any classifier with scikit-learn's interface as a method."""

import inspect
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from confml.errors import ConfmlError
from confml.measures.prediction import Prediction, real_numbers
from confml.methods.base import Method
from confml.methods.multiclass import decision_values, two_class_scores
from confml.methods.pipelines import confident_predict
from confml.methods.sklearn.coded_labels import CodedLabels
from confml.methods.sklearn.estimators import check_values, is_foreign, set_parameters
from confml.plugins.imports import without_output


class SklearnMethod(Method):
    """Classifier with scikit-learn's interface as a method, with the parameters of the classifier.

    The views are those of its ``confident_predict``, or of the last step of a pipeline, if it has one.
    Otherwise there is one view, the first of these that the classifier supports:

    - ``probability``: the columns of ``predict_proba``;
    - ``margin``: the columns of ``decision_function``. With two classes the decision value f is one number,
      and the columns are -f/2 and f/2, so the confidence (the largest minus the second largest) is |f|;
    - ``vote``: 1 for the predicted class and 0 for the others.

    Labels are those of the classifier's ``predict``, which can differ from the class with the largest score.
    A parameter whose value is a classifier takes a dotted name, such as ``sklearn.svm.LinearSVC``; the
    parameters of that classifier have two underscores, such as ``estimator__C``. Each ``random_state`` that
    is not given, also of nested classifiers, is set from the seed of the run.
    """

    version = 1
    # Parameters are checked by `new_classifier`, not by declarations.
    codes_: CodedLabels | None = None  # of a fit to class numbers

    def __init__(self, estimator):
        self.estimator = estimator

    # Parameters and copies are those of the classifier, so a grid has the names of its parameters.

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return self.estimator.get_params(deep)

    def set_params(self, **params) -> Self:
        """Set parameters of the classifier; raise ConfigError for an unknown name. `fit` checks values."""
        set_parameters(self.estimator, params)
        return self

    def __sklearn_clone__(self) -> "SklearnMethod":
        return SklearnMethod(clone(self.estimator))

    def __sklearn_tags__(self):
        if hasattr(self.estimator, "__sklearn_tags__"):
            return self.estimator.__sklearn_tags__()
        return super().__sklearn_tags__()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __repr__(self) -> str:
        return f"SklearnMethod({self.estimator!r})"

    def fit(self, X, y, sample_weight=None) -> Self:
        """Fit a copy of the classifier, ``estimator_``, to X (m, d) with labels y (m,).

        sample_weight: (m,) weights, for a classifier that takes them.
        """
        check_values(self.estimator)
        fitted = clone(self.estimator)
        weighted = {} if sample_weight is None else {"sample_weight": sample_weight}
        if not is_foreign(fitted) or type(fitted).__name__ == "FrozenEstimator":
            fitted.fit(X, y, **weighted)
            self.estimator_, self.classes_, self.codes_ = fitted, np.asarray(fitted.classes_), None
            return self
        self.codes_ = CodedLabels(y)
        self.codes_.code_class_weights(fitted)
        with without_output():
            fitted.fit(X, self.codes_.codes, **weighted)
        self.estimator_ = fitted
        self.classes_ = self.codes_.order_columns(getattr(fitted, "classes_", None), _name_of(fitted))
        return self

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the views of the classifier for test examples X (n, d)."""
        return self._labelled_views(X, rng) if _method_inside(self.estimator) else self._view(X)

    def _labelled_views(self, X, rng: np.random.Generator | None) -> dict[str, Prediction]:
        """Return the result of ``confident_predict`` of the classifier, with the labels of the fit."""
        check_is_fitted(self)
        name = f"confident_predict of {_name_of(self.estimator)}"
        views = confident_predict(self.estimator_, X, rng)
        if not isinstance(views, Mapping) or not views:
            raise ConfmlError(f"{name} returns {type(views).__name__}, expected a Prediction for each view")
        for view, prediction in views.items():
            if not isinstance(prediction, Prediction):
                kind = type(prediction).__name__
                raise ConfmlError(f"{name} returns {kind} for {view!r}, expected a Prediction")
        if self.codes_ is None:
            return dict(views)
        return {view: self.codes_.labelled(prediction, name) for view, prediction in views.items()}

    def _view(self, X, labelled: bool = True) -> dict[str, Prediction]:
        check_is_fitted(self)
        fitted = self.estimator_
        view = view_of(fitted)
        labels: Any = None
        with nullcontext() if self.codes_ is None else without_output():
            if labelled or view == "vote":
                labels = np.asarray(fitted.predict(X))
            if view == "probability":
                scores = self._checked("predict_proba", fitted.predict_proba(X))
            elif view == "margin":
                scores = self._checked("decision_function", fitted.decision_function(X))
        if labels is not None and self.codes_ is not None:
            labels = self.codes_.labels_of(labels, f"predict of {_name_of(fitted)}", self.classes_)
        if view == "vote":
            scores = (labels[:, None] == self.classes_).astype(np.float64)
        return {view: Prediction(self.classes_, scores, view, labels)}

    def probability_view(self, shares: np.ndarray) -> Prediction:
        """Return probabilities of the fitted classifier, with its columns, as a prediction of the labels."""
        return Prediction(self.classes_, self._checked("predict_proba", shares), "probability")

    @available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), "predict_proba"))
    def predict_proba(self, X) -> np.ndarray:
        """Return the classifier's probabilities (n, c)."""
        check_is_fitted(self)
        return self._checked("predict_proba", self.estimator_.predict_proba(X))

    @available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), "decision_function"))
    def decision_function(self, X) -> np.ndarray:
        """Return the classifier's decision values (n, c); with two classes (n,)."""
        check_is_fitted(self)
        return decision_values(self._checked("decision_function", self.estimator_.decision_function(X)))

    @property
    def takes_weights(self) -> bool:
        """Whether ``fit`` of the classifier has ``sample_weight``."""
        return "sample_weight" in inspect.signature(self.estimator.fit).parameters

    @property
    def n_features_in_(self) -> int:
        return self.estimator_.n_features_in_

    def _checked(self, function: str, scores) -> np.ndarray:
        """Return the scores as finite float64 numbers with one column per class."""
        scores = real_numbers(scores, f"{function} of {_name_of(self.estimator)}")
        if scores.ndim == 1 and len(self.classes_) == 2 and function == "predict_proba":
            scores = np.column_stack([1 - scores, scores])
        elif scores.ndim == 1:
            scores = two_class_scores(scores) if len(self.classes_) == 2 else scores[:, None]
        if self.codes_ is not None:
            scores = self.codes_.in_order(scores, f"{function} of {_name_of(self.estimator_)}")
        if not np.isfinite(scores).all():
            wrong = ~np.isfinite(scores).all(axis=1)
            raise ConfmlError(
                f"{function} of {_name_of(self.estimator)} returns numbers that are not finite for "
                f"{wrong.sum()} of {len(scores)} examples"
            )
        return scores


def scored_views(method: Method, X: Any, rng: np.random.Generator | None) -> Mapping[str, Prediction]:
    """Return the views of a method for a caller of the scores alone.

    ``predict`` of a classifier is not called; the labels are the likeliest classes.
    """
    if isinstance(method, SklearnMethod) and not _method_inside(method.estimator):
        return method._view(X, labelled=False)
    return method.confident_predict(X, rng)


def _name_of(estimator: Any) -> str:
    return type(estimator).__name__


def _method_inside(estimator: Any) -> Any:
    """Return the estimator, the last step of a pipeline, or what a search fits, with ``confident_predict``.

    None without one.
    """
    if hasattr(estimator, "confident_predict"):
        return estimator
    if hasattr(estimator, "steps"):
        from sklearn.pipeline import Pipeline

        if isinstance(estimator, Pipeline):
            return _method_inside(estimator.steps[-1][1])
    if hasattr(estimator, "estimator"):
        from sklearn.model_selection import GridSearchCV, RandomizedSearchCV

        if isinstance(estimator, GridSearchCV | RandomizedSearchCV):
            return _method_inside(estimator.estimator)
    return None


def classifier_views(estimator: Any) -> list[str]:
    """Return the names of the views of a classifier with its current parameters."""
    method = _method_inside(estimator)
    if method is None:
        return [view_of(estimator)]
    return list(getattr(method, "views", ())) or [view_of(method)]


def view_of(estimator: Any) -> str:
    """Return the name of the view of a classifier with its current parameters."""
    if hasattr(estimator, "predict_proba"):
        return "probability"
    return "margin" if hasattr(estimator, "decision_function") else "vote"
