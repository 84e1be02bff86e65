"""`CalibratedMethod`: a classifier with a calibration part, the base of `Conformal` and `VennAbers`."""

from collections.abc import Mapping
from typing import Any

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
from confml.measures.prediction import Prediction
from confml.methods.base import Method
from confml.methods.conformal.out_of_bag import OUT_OF_BAG, fit_with_bags
from confml.methods.conformal.scores import on_all_classes
from confml.methods.conformal.selection import FittedPart, InnerSelection, choose, learn_steps
from confml.methods.details import FitDetails
from confml.methods.known_labels import check_known_labels
from confml.methods.sklearn.sklearn_method import SklearnMethod, scored_views
from confml.methods.validation import (
    checked_frame,
    class_codes,
    is_frame,
    rows_of,
    takes_sparse,
    validated_test,
    validated_training,
)
from confml.methods.wrapper_method import WrapperMethod, as_method


class CalibratedMethod(WrapperMethod):
    """A classifier that is fitted to one part of the training examples and calibrated on the other part.

    With kind ``cross``, every fold is the calibration part of a classifier fitted to the other folds. A
    subclass has the constructor parameters ``estimator``, ``kind``, ``calibration``, ``folds`` and
    ``random_state``; it sets ``calibration_counts_`` and ``fitted_`` in ``fit``.

    mondrian: whether calibration parts are drawn within each class. best_of: further classifiers.
    """

    metrics = {"calibration_rows": Metric("number of examples calibrated on, of all folds together", None)}

    calibration: float
    folds: int
    random_state: int | None
    mondrian: bool = False
    best_of: Any = None
    shift: str | None = None

    fitted_: list[FittedPart]
    calibration_counts_: np.ndarray  # (c,) calibration examples of each class

    @property
    def fit_metrics_(self) -> dict[str, float]:
        """``calibration_rows``, and without folds the quantities of the classifier and the steps."""
        first = self.fitted_[0]
        of_steps = getattr(first.chain, "fit_metrics_", {})
        metrics = {} if self.kind == "cross" else {**of_steps, **first.method.fit_metrics_}
        return {**metrics, "calibration_rows": float(self.calibration_counts_.sum())}

    @property
    def fit_details_(self) -> FitDetails:
        """The number of calibration examples of each class, and the choice of tuning."""
        counts = zip(self.classes_.tolist(), self.calibration_counts_.tolist(), strict=True)
        return FitDetails(calibration_rows=tuple(counts), tuning=self.tuning_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.shift is None and all(map(takes_sparse, self._candidates()))
        return tags

    # ---- grids and seeds of a run

    def share_random_states(self, rng: np.random.Generator, point: Mapping[str, Any]) -> None:
        """Use one calibration part (one set of folds) and one seed of the classifier for a whole sweep."""
        if self.random_state is None:
            self.random_state = int(derived_generator(rng, self.key).integers(2**31))
        params = {name: value for name, value in point.items() if name.partition("__")[0] != self.key}
        self.classifier().seed_random_states(derived_generator(rng, self.key, params))

    def _generator(self, purpose: str) -> np.random.Generator:
        seed = self.random_state
        if type(seed) is not int:
            rng = np.random.default_rng(seed)
            return rng if seed is None else derived_generator(rng, self.key, purpose)
        return derived_generator(seed, self.key, purpose)

    # ---- for subclasses: parts of fit and confident_predict

    def _checked(self, X, y, groups) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
        """Check settings and training data; return X (m, d), y (m,), class codes (m,) and group numbers."""
        self.check_settings()
        run = self.run
        if run.tune and self.kind != type(self).kind:
            hint = f"use {type(self).kind}, or fix the parameters"
            raise ConfmlError(f"tune needs kind '{type(self).kind}', got '{self.kind}'", hint=hint)
        if not (isinstance(self.estimator, Method) or is_classifier(self.estimator)):
            raise ConfmlError(
                f"estimator must be a classifier, got {self.estimator!r}",
                hint=f"for example {type(self).__name__}(LogisticRegression())",
            )
        changed = self.kind != type(self).kind
        fits = changed or run.tune or run.steps is not None or self.best_of or self.shift
        if self.is_fitted_before and fits:
            raise ConfmlError(
                "a fitted classifier (FrozenEstimator) is only calibrated: it has no folds, out-of-bag rows, "
                "tune, steps, best_of or shift",
                hint=f"use {type(self).__name__}(FrozenEstimator(classifier)) with the default kind",
            )
        if self._keeps_frame(X):
            X, y = checked_frame(self, X, y)
        else:
            X, y = validated_training(self, X, y, **self._accepts(X))
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
        return X, y, codes, _group_numbers(run.groups if groups is None else groups, len(y))

    def _checked_test(self, X) -> np.ndarray:
        """Check that the method is fitted; return the test examples X (n, d)."""
        check_is_fitted(self)
        if self._keeps_frame(X) and hasattr(self, "feature_names_in_"):
            return checked_frame(self, X)[0]
        return validated_test(self, X, **self._accepts(X))

    @property
    def is_fitted_before(self) -> bool:
        """Whether the classifier is fitted before, as ``FrozenEstimator(classifier)`` of scikit-learn."""
        return type(self.estimator).__name__ == "FrozenEstimator"

    def _keeps_frame(self, X: Any) -> bool:
        """Return whether the classifier gets a data frame as it is, because it selects columns by name."""
        return is_frame(X) and self.run.steps is None and not isinstance(self.estimator, Method)

    def _accepts(self, X: Any) -> dict[str, Any]:
        """Return the options of scikit-learn's checks for examples X: steps may impute missing values."""
        sparse = "csr" if is_sparse(X) and takes_sparse(self) else False
        return {"ensure_all_finite": self.run.steps is None or "allow-nan", "accept_sparse": sparse}

    def _calibration_parts(
        self, codes: np.ndarray, groups: np.ndarray | None, rng: np.random.Generator
    ) -> list[np.ndarray]:
        """Return the rows of the calibration part, or of each fold; no rows before an out-of-bag fit."""
        if self.kind == OUT_OF_BAG:
            return [np.empty(0, dtype=np.intp)]
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
        """Return the classifier, and those of ``best_of``, as confml describe, not copies."""
        return [self.classifier(), *map(as_method, self.best_of or ())]

    def _fitted_without(
        self, rows: np.ndarray, X: np.ndarray, y: np.ndarray, number: int, groups: np.ndarray | None
    ) -> FittedPart:
        """Return steps and classifier fitted to the examples outside the calibration part ``rows``, with the
        point of the grid that inner folds of these examples choose."""
        rest = rows_outside(rows, len(y))
        X, y, groups = rows_of(X, rest), y[rest], None if groups is None else groups[rest]
        candidates = self._candidates()
        which = min(number, len(candidates) - 1)
        method = clone(candidates[which])
        if self.random_state is not None:
            method.seed_random_states(self._generator("estimator"))
        run = self.run
        if run.tune and which == 0 and len(np.unique(y)) > 1:
            inner, rng = InnerSelection(run.tune, **(run.inner or {})), self._generator("tune")
            self.tuning_ = choose(method, X, y, inner, rng=rng, groups=groups, steps=run.steps)
            method.set_params(**self.tuning_["chosen"])
        part, X, y = learn_steps(method, run.steps, X, y, number - which, groups=groups)
        if len(np.unique(y)) == 1 < len(self.classes_):
            part = part._replace(method=SklearnMethod(DummyClassifier()))  # many refuse to learn one class
        (fit_with_bags if self.kind == OUT_OF_BAG else type(part.method).fit)(part.method, X, y)
        return part

    def _views(self, part: FittedPart, X: np.ndarray) -> Mapping[str, Prediction]:
        """Return the scores of the classifier for examples X (n, d) before the steps, as views."""
        return scored_views(part.method, part.transform(X), self._generator("inner"))

    def classifier_probabilities(self, X) -> Prediction | None:
        """Return the probabilities of the classifier, which are not calibrated: the mean over folds.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Test examples.

        Returns
        -------
        Prediction or None
            The probabilities; None if the classifier has none.
        """
        X = self._checked_test(X)
        total = np.zeros((X.shape[0], len(self.classes_)))
        parts = self.fitted_[:1] if len(self._candidates()) > 1 else self.fitted_
        for part in parts:
            views = self._views(part, X) if X.shape[0] else {}
            view = next((v for v in views.values() if v.kind in ("probability", "posterior")), None)
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
