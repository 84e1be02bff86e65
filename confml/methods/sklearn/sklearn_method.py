"""`SklearnMethod`: any classifier with scikit-learn's interface as a method."""

import inspect
import re
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any, Self

import numpy as np

from confml._sklearn import available_if, check_is_fitted, clone, is_classifier
from confml.errors import ConfigError, ConfmlError, did_you_mean
from confml.measures.prediction import Prediction, real_numbers
from confml.methods.base import Method
from confml.methods.multiclass import decision_values, two_class_scores
from confml.methods.sklearn.coded_labels import CodedLabels
from confml.methods.sklearn.foreign import accepts_keyword, is_foreign, new_foreign, use_one_thread
from confml.methods.sklearn.names import find_classifier, find_estimator
from confml.methods.sklearn.side_effects import check_side_effects
from confml.plugins.imports import import_permission, is_dotted_name, without_output
from confml.plugins.parameters import BadValue, MissingParameter, UnknownParameter
from confml.plugins.registry import required_parameters


class SklearnMethod(Method):
    """Classifier with scikit-learn's interface as a method, with the parameters of the classifier.

    It has one view, the first of these that the classifier supports:

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
    depends_on_processor = True
    # Parameters are checked by `new_classifier`, not by declarations.
    codes_: CodedLabels | None = None  # of a fit to class numbers

    stored = {
        "n_features_in_": None,
        "estimator": "object",
        "estimator_": "object",
        "codes_": "CodedLabels | None",
    }

    def __init__(self, estimator):
        self.estimator = estimator

    # Parameters and copies are those of the classifier, so a grid has the names of its parameters.

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return self.estimator.get_params(deep)

    def set_params(self, **params) -> Self:
        """Set parameters of the classifier; raise ConfigError for an unknown name. `fit` checks values."""
        _set_params(self.estimator, params)
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
        """Return the view of the classifier for test examples X (n, d)."""
        return self._view(X, labelled=True)

    def scored_views(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the view without calling ``predict``; labels are the likeliest classes."""
        return self._view(X, labelled=False)

    def _view(self, X, labelled: bool) -> dict[str, Prediction]:
        check_is_fitted(self)
        fitted, c = self.estimator_, len(self.classes_)
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
        rows = X.shape[0] if labels is None else len(labels)
        if scores.shape != (rows, c):
            raise ConfmlError(f"{self!r} gives scores of shape {scores.shape}, expected {(rows, c)}")
        return {view: Prediction(self.classes_, scores, view, labels)}

    @available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), "predict_proba"))
    def predict_proba(self, X) -> np.ndarray:
        """Return the classifier's probabilities (n, c)."""
        check_is_fitted(self)
        if self.codes_ is not None:
            return self._checked("predict_proba", self.estimator_.predict_proba(X))
        return self.estimator_.predict_proba(X)

    @available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), "decision_function"))
    def decision_function(self, X) -> np.ndarray:
        """Return the classifier's decision values (n, c); with two classes (n,)."""
        check_is_fitted(self)
        if self.codes_ is not None:
            return decision_values(self._checked("decision_function", self.estimator_.decision_function(X)))
        return self.estimator_.decision_function(X)

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

    def check_stored(self) -> None:
        """Raise ValueError if the labels of a model file are not those of its classifier."""
        fitted = self.estimator_
        columns = len(self.classes_) if self.codes_ is None else len(self.codes_.labels)
        if not hasattr(fitted, "predict") or len(getattr(fitted, "classes_", self.classes_)) > columns:
            raise ValueError("the classifier has other classes")


def new_classifier(name: str, params: Mapping[str, Any]) -> Any:
    """Return an unfitted classifier by dotted name, of scikit-learn or of a permitted package.

    Raises ConfigError for an unknown name, an unknown or missing parameter, or a value that is not accepted.
    """
    estimator = new_estimator(name, find_classifier(name), params)
    if not _is_classifier(estimator):
        raise ConfigError(
            f"{name} with these parameters is not a classifier",
            hint=None if name.startswith("sklearn.") else "an own class needs sklearn.base.ClassifierMixin",
        )
    return estimator


def new_estimator(name: str, source: Any, params: Mapping[str, Any]) -> Any:
    """Return an unfitted estimator: of a class, or a copy of an estimator, with parameters. Errors as above.

    name: dotted name, for messages. source: class or estimator of this name.
    """
    first = {key: value for key, value in params.items() if "__" not in key}
    for key, value in first.items():
        check_side_effects(source, key, value)
    if name.startswith("sklearn."):
        estimator = _new_of_sklearn(source, first)
    else:
        if not inspect.isclass(source):  # its parameters are set below, at any depth
            first = {}
        values = {key: _as_value(value) for key, value in first.items()}
        estimator = new_foreign(name, source, values)
    _set_params(estimator, {key: value for key, value in params.items() if key not in first})
    check_values(estimator)
    use_one_thread(estimator)
    return estimator


def _new_of_sklearn(cls: Any, params: Mapping[str, Any]) -> Any:
    known = cls._get_param_names()
    for key in params:
        if key not in known:
            _unknown(cls.__name__, key, known)
    for missing in sorted(required_parameters(cls) - set(params)):
        hint = None
        if missing.endswith("estimator"):
            hint = f"give one, as {missing}: sklearn.linear_model.LogisticRegression"
        elif missing in ("steps", "estimators"):
            hint = f"give names and classes, as {missing}: [[one, sklearn.naive_bayes.GaussianNB]]"
        raise MissingParameter(cls.__name__, missing, hint=hint)
    return cls(**{key: _as_value(value) for key, value in params.items()})


def _is_classifier(estimator: Any) -> bool:
    if getattr(estimator, "_estimator_type", None) == "classifier":
        return True
    try:
        return is_classifier(estimator)
    except Exception:  # an estimator without tags, or a pipeline whose steps are wrong
        return False


def check_values(estimator: Any, prefix: str = "") -> None:
    """Raise ConfigError for a parameter value that scikit-learn does not accept, at any depth."""
    if hasattr(estimator, "_validate_params") and hasattr(estimator, "_parameter_constraints"):
        try:
            estimator._validate_params()
        except ValueError as error:
            raise _reworded(error, estimator, prefix) from None
    values = estimator.get_params(deep=False)
    if values.get("decision_function_shape") == "ovo":
        raise BadValue(
            type(estimator).__name__,
            f"{prefix}decision_function_shape",
            "ovo",
            "'ovr'",
            hint="a margin needs one column for each class",
        )
    for name, value in estimator.get_params().items():  # deep: also the estimators of a pipeline
        if "__" not in name and hasattr(value, "get_params") and not isinstance(value, type):
            check_values(value, f"{prefix}{name}__")


def _name_of(estimator: Any) -> str:
    return type(estimator).__name__


def view_of(estimator: Any) -> str:
    """Return the name of the view of a classifier with its current parameters."""
    if hasattr(estimator, "predict_proba"):
        return "probability"
    return "margin" if hasattr(estimator, "decision_function") else "vote"


def _set_params(estimator: Any, params: Mapping[str, Any]) -> None:
    """Call ``set_params`` with confml's errors; outer parameters first, because inner ones belong to them."""
    for key in sorted(params, key=lambda name: name.count("__")):
        known = estimator.get_params()
        owner, _, inner = key.rpartition("__")
        if key not in known and not accepts_keyword(known.get(owner) if owner else estimator, inner):
            if owner and known.get(owner, inner) is None:
                raise MissingParameter(key, owner, hint=f"name a classifier as {owner}")
            _unknown(type(estimator).__name__, key, known)
        check_side_effects(known.get(owner) if owner else estimator, key, params[key])
        estimator.set_params(**{key: _as_value(params[key])})


def _as_value(value: Any) -> Any:
    """Return the classifier of a dotted name, with classes in lists of [name, class]; other values unchanged.

    A dotted name of a package that is not permitted is a text like any other.
    """
    if _is_class_name(value):
        return new_classifier(value, {})
    if isinstance(value, list) and any(_is_named_class(item) for item in value):
        return [
            (item[0], new_estimator(item[1], find_estimator(item[1], "estimator", ("fit", "get_params")), {}))
            if _is_named_class(item)
            else (tuple(item) if isinstance(item, list) else item)
            for item in value
        ]
    return value


def _is_class_name(value: Any) -> bool:
    return is_dotted_name(value) and (value.startswith("sklearn.") or import_permission().permits(value))


def _is_named_class(item: Any) -> bool:
    return isinstance(item, list | tuple) and len(item) == 2 and _is_class_name(item[1])


def _unknown(owner: str, key: str, known) -> None:
    outer = key.partition("__")[0]
    hint = did_you_mean(key if outer in known else outer, known)
    raise UnknownParameter(owner, key, hint=hint)


def _reworded(error: ValueError, estimator: Any, prefix: str) -> ConfigError:
    """Return scikit-learn's "The 'C' parameter of SVC must be a ... Got -1 instead." as a `BadValue`.

    The text is parsed, because scikit-learn's error has no attributes.
    """
    form = re.fullmatch(
        r"The '(\w+)' parameter of \w+ must be (.*)\. Got .* instead\.", str(error), re.DOTALL
    )
    if not form:
        return ConfigError(str(error))
    name, must = form.groups()
    value = estimator.get_params(deep=False)[name]
    words = re.findall(r"'([^']*)'", " ".join(re.findall(r"a str among \{.*?\}", must)))
    must = re.sub(r"a str among \{.*?\}", "one of " + ", ".join(sorted(words)), must).replace(
        "an instance of ", ""
    )
    hint = did_you_mean(str(value), words, list_all=False)
    if is_dotted_name(value):
        hint = f"if it is a class, --allow-import {value.partition('.')[0]} allows its import"
    return BadValue(type(estimator).__name__, f"{prefix}{name}", value, must, hint=hint)
