"""`CalibratedMethod`: a classifier with a calibration part, the base of `Conformal` and `VennAbers`."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.utils.validation import check_is_fitted

from confml._seeds import derived_generator
from confml.data.folds import (
    calibration_groups,
    calibration_rows,
    calibration_rows_by_class,
    fold_numbers,
    random_folds,
    rows_outside,
)
from confml.data.memory import is_sparse
from confml.errors import ConfmlError
from confml.measures.metric import Metric
from confml.measures.prediction import Prediction, columns_of_p_values
from confml.methods.base import Method, class_codes, takes_sparse
from confml.methods.conformal.scores import on_all_classes
from confml.methods.conformal.selection import InnerSelection, choose, prepare
from confml.methods.details import FitDetails
from confml.methods.known_labels import check_known_labels
from confml.methods.sklearn.sklearn_method import SklearnMethod
from confml.methods.validation import checked_frame, is_frame, rows_of, validated_test, validated_training
from confml.methods.wrapper_method import WrapperMethod
from confml.plugins.by import BEST_OF
from confml.plugins.docstrings import add_sections

_ESTIMATOR = """\
estimator : classifier
    Classifier of scikit-learn or confml, whose clones are fitted; it gets data frames as they are. All
    examples calibrate a fitted one, ``FrozenEstimator(classifier)``."""
_SET_BY_A_RUN = """\
Other Parameters
----------------
tune : sequence of dict, default=()
    Grid of classifier parameters (not with ``cross``); inner cross-validation on the proper training part
    chooses one point. Set by ``confml run``.
inner : dict, optional
    Folds of ``tune``, as ``{"folds": 10, "stratify": True, "select_by": "accuracy"}``.
steps : pipeline, optional
    Steps before the classifier, fitted to each proper training part (and to each inner training part): a
    step that saw the calibration examples could make them look more ordinary than test examples.
groups : array of shape (n_samples,), optional
    Default of the groups of `fit`."""
_BY_COLUMNS = """
by_columns : sequence of (name, texts) pairs, optional
    The last columns of X, which hold the columns of ``by`` and are no features."""


class FittedPart(NamedTuple):
    """A classifier fitted to a training part after the steps.

    chain: the learnt steps, or None without steps.
    """

    method: Method
    chain: Any

    @property
    def name(self) -> str:
        return self.method.name if hasattr(self.method, "name") else repr(self.method)

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return further examples (n, d) after the steps."""
        return X if self.chain is None else self.chain.transform(X)


class CalibratedMethod(WrapperMethod):
    """A classifier that is fitted to one part of the training examples and calibrated on the other part.

    With kind ``cross``, every fold is the calibration part of a classifier fitted to the other folds. A
    subclass has the constructor parameters ``estimator``, ``kind``, ``calibration``, ``folds``,
    ``random_state``, ``tune``, ``inner``, ``steps`` and ``groups``; it sets ``calibration_counts_`` and
    ``fitted_`` in ``fit``.

    mondrian: whether calibration parts are drawn within each class.
    """

    metrics = {"calibration_rows": Metric("number of examples calibrated on, of all folds together", None)}

    kind: str
    calibration: float
    folds: int
    random_state: int | None
    tune: Any
    inner: Mapping[str, Any] | None
    steps: Any  # learn(X, y, *part, groups) returns (chain, X, y, kept rows)
    groups: Any
    mondrian: bool = False

    fitted_: list[FittedPart]
    calibration_counts_: np.ndarray  # (c,) calibration examples of each class

    @classmethod
    def _document(cls) -> None:
        if "settings" in vars(cls):
            more = _BY_COLUMNS if hasattr(cls, "by_columns") else ""
            add_sections(cls, cls.declared(), _ESTIMATOR, _SET_BY_A_RUN + more)

    @property
    def fit_metrics_(self) -> dict[str, float]:
        """``calibration_rows``, and without folds the quantities of the classifier and the steps."""
        first = self.fitted_[0]
        of_steps = getattr(first.chain, "fit_metrics_", {})
        own = {} if self.kind == "cross" else {**of_steps, **first.method.fit_metrics_}
        return {**own, "calibration_rows": float(self.calibration_counts_.sum())}

    @property
    def fit_details_(self) -> FitDetails:
        """The number of calibration examples of each class, and the choice of tuning."""
        counts = zip(self.classes_.tolist(), self.calibration_counts_.tolist(), strict=True)
        return FitDetails(calibration_rows=tuple(counts), tuning=self.tuning_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        shift = getattr(self, "shift", None)
        tags.input_tags.sparse = shift is None and all(map(takes_sparse, self._candidates()))
        return tags

    # ---- grids and seeds of a run

    def set_point(self, point: Mapping[str, Any]) -> Self:
        """Set parameters with their names in a config: ``k`` is the classifier's, ``conformal__k`` is not."""
        own = {name: value for name, value in point.items() if name != BEST_OF}  # it is built, and not swept
        return super().set_point(own)

    def share_random_states(self, rng: np.random.Generator, point: Mapping[str, Any]) -> None:
        """Use one calibration part (one set of folds) and one seed of the classifier for a whole sweep."""
        if self.random_state is None:
            self.random_state = int(derived_generator(rng, self.key).integers(2**31))
        own = {name: value for name, value in point.items() if name.partition("__")[0] != self.key}
        self.classifier().seed_random_states(derived_generator(rng, self.key, own))

    def _generator(self, purpose: str) -> np.random.Generator:
        seed = self.random_state
        if type(seed) is not int:
            rng = np.random.default_rng(seed)
            return rng if seed is None else derived_generator(rng, self.key, purpose)
        return derived_generator(seed, self.key, purpose)

    @property
    def label_conditional(self) -> bool:
        """Whether the p-value of a label counts calibration examples of this label only."""
        return self.mondrian

    # ---- for subclasses: parts of fit and confident_predict

    def _p_value_view(
        self, p: np.ndarray, extra: dict[str, Any], columns: np.ndarray | None = None
    ) -> dict[str, Prediction]:
        """Return the view of p-values (n, c), with the labels of `columns_of_p_values`.

        columns: (n,) of the labels with the largest p-values, where they are known.
        """
        if columns is None or self.label_conditional:
            columns = columns_of_p_values(p, extra["nonconformity"], self.label_conditional)
        return {"p-value": Prediction(self.classes_, p, "p-value", self.classes_[columns], extra)}

    def _checked(self, X, y, groups) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
        """Check settings and training data; return X (m, d), y (m,), class codes (m,) and group numbers."""
        self.check_settings()
        if self.tune and self.kind == "cross":
            one = next(kind for kind in self.settings[self.key].options if kind != "cross")  # type: ignore[attr-defined]
            hint = f"use {one}, or fix the parameters"
            raise ConfmlError(f"tune needs kind '{one}', got 'cross'", hint=hint)
        if not (isinstance(self.estimator, Method) or is_classifier(self.estimator)):
            raise ConfmlError(
                f"estimator must be a classifier, got {self.estimator!r}",
                hint=f"for example {type(self).__name__}(LogisticRegression())",
            )
        if self.is_fitted_before and (self.kind == "cross" or self.tune or self.steps is not None):
            raise ConfmlError(
                "a fitted classifier (FrozenEstimator) is only calibrated: it has no folds, tune or steps",
                hint=f"use {type(self).__name__}(FrozenEstimator(classifier)) with the default kind",
            )
        if self._keeps_frame(X):
            X, y = checked_frame(self, X, y)
        else:
            X, y = validated_training(
                self, X, y, ensure_all_finite=self._finite, accept_sparse=self._sparse(X)
            )
        self.classes_, codes = class_codes(y)
        if self.is_fitted_before:  # it may know classes that the calibration examples do not have
            check_is_fitted(self.estimator.estimator)
            check_known_labels(
                self.estimator.classes_,
                self.classes_,
                "the classifier is fitted to the classes",
                "the labels of the calibration examples are",
            )
            self.classes_ = np.union1d(self.classes_, self.estimator.classes_)
            codes = np.searchsorted(self.classes_, y)
        self.tuning_: dict[str, Any] | None = None
        return X, y, codes, _group_numbers(self.groups if groups is None else groups, len(y))

    def _checked_test(self, X) -> np.ndarray:
        """Check that the method is fitted; return the test examples X (n, d)."""
        check_is_fitted(self)
        if self._keeps_frame(X) and hasattr(self, "feature_names_in_"):
            return checked_frame(self, X)[0]
        return validated_test(self, X, ensure_all_finite=self._finite, accept_sparse=self._sparse(X))

    @property
    def is_fitted_before(self) -> bool:
        """Whether the classifier is fitted before, as ``FrozenEstimator(classifier)`` of scikit-learn."""
        return type(self.estimator).__name__ == "FrozenEstimator"

    def _keeps_frame(self, X: Any) -> bool:
        """Return whether the classifier gets a data frame as it is, because it selects columns by name."""
        return is_frame(X) and self.steps is None and not isinstance(self.estimator, Method)

    @property
    def _finite(self) -> bool | str:
        return self.steps is None or "allow-nan"  # steps may impute missing values

    def _sparse(self, X: Any) -> str | bool:
        return "csr" if is_sparse(X) and takes_sparse(self) else False

    def _calibration_parts(
        self, codes: np.ndarray, groups: np.ndarray | None, rng: np.random.Generator
    ) -> list[np.ndarray]:
        """Return the rows of the calibration part, or of each fold."""
        if self.kind != "cross":
            if getattr(self.estimator, "takes_rows", False) or self.is_fitted_before:  # nothing is fitted
                return [np.arange(len(codes))]
            if groups is not None:
                return [calibration_groups(groups, self.calibration, rng)]
            if self.mondrian:
                return [calibration_rows_by_class(codes, self.calibration, rng)]
            return [calibration_rows(len(codes), self.calibration, rng)]
        if self.mondrian and groups is None:
            numbers = fold_numbers(codes, self.folds, rng)
        else:
            numbers = random_folds(len(codes), self.folds, rng, groups)
        parts = [np.flatnonzero(numbers == fold) for fold in range(self.folds)]
        return [rows for rows in parts if len(rows)] or [np.empty(0, dtype=np.intp)]

    def _candidates(self) -> list[Method]:
        """Return the classifier, and those of ``best_of``, as confml methods, not copies."""
        others = getattr(self, "best_of", None) or ()
        own = self.classifier()
        return [own, *(one if isinstance(one, Method) else SklearnMethod(one) for one in others)]

    def _fitted_without(
        self, rows: np.ndarray, X: np.ndarray, y: np.ndarray, number: int, groups: np.ndarray | None
    ) -> FittedPart:
        """Return steps and classifier fitted to the examples outside the calibration part ``rows``."""
        rest = rows_outside(rows, len(y))
        return self._fitted(rows_of(X, rest), y[rest], number, None if groups is None else groups[rest])

    def _fitted(self, X: np.ndarray, y: np.ndarray, number: int, groups: np.ndarray | None) -> FittedPart:
        """Return steps and classifier fitted to (X, y), with the point that inner folds of these choose."""
        candidates = self._candidates()
        which = min(number, len(candidates) - 1)
        method = clone(candidates[which])
        if self.random_state is not None:
            method.seed_random_states(self._generator("estimator"))
        if self.tune and which == 0 and len(np.unique(y)) > 1:
            inner = InnerSelection(self.tune, **(self.inner or {}))
            rng = self._generator("tune")
            tuning = choose(method, X, y, inner, rng=rng, groups=groups, steps=self.steps)
            method.set_params(**tuning["chosen"])
            self.tuning_ = tuning
        part = prepare(method, self.steps, X, y, number - which, groups=groups)
        if len(np.unique(part.y)) == 1 < len(self.classes_):
            method = SklearnMethod(DummyClassifier())  # many classifiers refuse to learn a single class
        return FittedPart(method.fit(part.X, part.y), part.chain)

    def _views(self, part: FittedPart, X: np.ndarray) -> Mapping[str, Prediction]:
        """Return the scores of the classifier for examples X (n, d) before the steps, as views."""
        return part.method.scored_views(part.transform(X), self._generator("inner"))

    def classifier_probabilities(self, X) -> Prediction | None:
        """Return the probabilities of the classifier for X (n, d), the mean over folds; None without any.

        They are not calibrated.
        """
        X = self._checked_test(X)
        total = np.zeros((X.shape[0], len(self.classes_)))
        parts = self.fitted_[:1] if len(self._candidates()) > 1 else self.fitted_
        for part in parts:
            views = self._views(part, X) if X.shape[0] else {}
            view = next((one for one in views.values() if one.kind in ("probability", "posterior")), None)
            if view is None:
                return None
            total += on_all_classes(view, self.classes_)
        return Prediction(self.classes_, total / len(parts), "probability")


def _group_numbers(groups: Any, rows: int) -> np.ndarray | None:
    if groups is None:
        return None
    numbers = np.unique(np.asarray(groups), return_inverse=True)[1]
    if numbers.shape != (rows,):
        raise ConfmlError(
            f"groups must have one entry for each of {rows} examples, got {len(numbers)}",
            hint="give fit the groups of its examples",
        )
    return numbers
