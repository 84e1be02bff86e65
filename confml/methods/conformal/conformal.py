"""`Conformal`: p-values for any classifier, from a calibration part, from folds or from out-of-bag rows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from confml.errors import ConfigError, ConfmlError
from confml.measures.costs import CLASSIFIER
from confml.measures.prediction import Prediction, columns_of_p_values
from confml.methods.base import PValueMethod
from confml.methods.conformal.best_of import BEST_OF_METRICS, best_counts, smallest_alone, smallest_regions
from confml.methods.conformal.calibrated import CalibratedMethod
from confml.methods.conformal.out_of_bag import OUT_OF_BAG, check_bags, out_of_bag_view
from confml.methods.conformal.scores import (
    OF_SHARES,
    counts_against,
    label_scores,
    on_all_classes,
    posterior_view,
    usual_size,
    values_for,
)
from confml.methods.conformal.selection import FittedPart
from confml.methods.conformal.settings import KEY, NEEDS, PARAMETERS, check_combined
from confml.methods.details import FitDetails
from confml.methods.divisions import DIVISION, DIVISIONS, GROUP, UNKNOWN, Divisions, split_columns
from confml.methods.label_shift import bbse_intervals
from confml.methods.shift import COVARIATE, SHIFT_METRICS, ShiftWeights, covariate_weights, label_weights
from confml.methods.validation import rows_of
from confml.plugins.by import BEST_OF

LEVEL = 0.1  # of best_of
CLASS_SHIFT = "class_shift"  # in the details of a fit


class PartScores(NamedTuple):
    """Nonconformity scores of the calibration examples of one classifier.

    lists: for each division the sorted scores of each of its groups. places: likewise, of the calibration
    examples with these scores. size: see `usual_size`. every: the sorted scores of all labels, for best_of.
    """

    lists: list[list[np.ndarray]]
    places: list[list[np.ndarray]]
    size: float
    every: np.ndarray


class Labelled(NamedTuple):
    """The calibration part with what weights need.

    X: (m, d) training examples before the steps. rows, codes, predicted: (k,) rows, class codes and predicted
    classes of the calibration part.
    """

    X: np.ndarray
    rows: np.ndarray
    codes: np.ndarray
    predicted: np.ndarray


@dataclass(eq=False, repr=False)
class Conformal(CalibratedMethod, PValueMethod):
    """Conformal prediction with any classifier: p-values with a bound on their errors.

    Notes
    -----
    ``split`` calibrates on a random part of the training examples. Label j of a test example has the p-value
    ``(#{s_i >= s_j} + 1) / (n + 1)``. Here s_i is the nonconformity score of calibration example i under its
    own label. Let training and test examples be exchangeable. Then the p-value of the true label is at most e
    with probability at most e, for every level e and any classifier. ``cross`` calibrates on folds;
    with K folds of n examples in all, the probability is at most ``2 (e + (1 - e) (K - 1) / (n + K))``.
    ``oob`` fits a bagging ensemble to all training examples and calibrates on the out-of-bag scores: those of
    the trees that did not see an example. All trees score test examples, so the bound e is approximate.

    The page "Conformal prediction with any classifier" of the documentation defines all three kinds. It also
    defines the scores (``nonconformity``), label-conditional and smoothed p-values (``mondrian``,
    ``smoothed``), groups of dependent examples and ``shift``. The page "Guarantees" defines groups with a
    guarantee (``by``) and the best of several methods (``best_of``).

    In a config: ``conformal: split`` or ``conformal: {kind: split, nonconformity: aps}`` on a method; a sweep
    names a setting ``conformal__nonconformity``. In Python: ``Conformal(LogisticRegression())``, with any
    classifier of scikit-learn or confml; its parameters have the prefix ``estimator__``.

    The view is ``p-value``. Its ``extra`` has ``n_greater`` and ``n_equal`` (n, c), the numbers of
    calibration scores greater than and equal to the label's. The test example is among the equal ones. It
    also has ``nonconformity`` (n, c; of cross, the mean over folds), and ``tau`` if smoothed. With ``shift``
    the numbers are sums of weights in a small unit. ``own_share`` (n, c) is the weight of the test example as
    a fraction of all weights; an unsmoothed p-value is at least this fraction. The prediction is the label
    with the largest p-value, of equal ones the one with the smallest nonconformity.

    Label-conditional p-values (``mondrian``, or ``by`` with ``label``) of different labels cannot be
    compared: a label with m calibration examples has a p-value of at least 1 / (m + 1). The prediction is
    then the label with the smallest nonconformity, which is that of the classifier. Confidence and
    credibility are those of the p-values in any case: 1 minus the second largest, and the largest.

    With a seed, every call of ``confident_predict`` draws the same numbers. Test examples with randomised
    scores or smoothed p-values must therefore be predicted together, or with a different ``rng`` per call
    (``confml.predict`` does that).

    Examples
    --------
    >>> from confml import Conformal
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = [[0], [1], [2], [3], [7], [8], [9], [10]], [0] * 4 + [1] * 4
    >>> model = Conformal(GaussianNB(), calibration=0.5, random_state=1).fit(X, y)
    >>> model.predict_p_values([[1]])
    array([[1. , 0.2]])
    """

    version = 7
    metrics = {**CalibratedMethod.metrics, **SHIFT_METRICS, **BEST_OF_METRICS}
    key = KEY
    parameters = PARAMETERS
    needs = NEEDS

    estimator: Any
    kind: str = "split"
    nonconformity: Any = None
    calibration: float = 0.3
    folds: int = 5
    mondrian: bool = False
    smoothed: bool = False
    by: Any = None
    best_of: Any = None
    best_of_level: Any = None
    shift: Any = None
    random_state: Any = None
    view: Any = None

    @classmethod
    def check_together(cls, given: Mapping[str, Any]) -> None:
        """Refuse settings that cannot be combined."""
        super().check_together(given)
        check_combined(given)

    @classmethod
    def check_classifier(cls, name: str, given: Mapping[str, Any], views: Any) -> None:
        """Raise ConfigError for settings that a method does not allow."""
        if list(views) == ["p-value"]:
            raise ConfigError(f"{name} is already conformal: it computes p-values", hint=f"remove {KEY}")
        score, view = given.get("nonconformity"), given.get("view")
        if view is not None and "reject" not in views and name != "external":  # whose file decides
            raise ConfigError(
                f"view: {view} needs a posterior, and {name} has the view {', '.join(views)}",
                hint="add samples: bootstrap, or remove view",
            )
        if list(views) == ["margin"] and score in OF_SHARES:
            message = f"nonconformity {score} needs probabilities, and {name} has margins"
            raise ConfigError(message, hint="use nonconformity: margin")

    def set_point(self, point: Mapping[str, Any]) -> Self:
        """Set parameters with their names in a config; the candidates of best_of are built already."""
        return super().set_point({name: value for name, value in point.items() if name != BEST_OF})

    def fit(self, X, y, groups=None) -> Self:
        """Fit the classifier and calibrate it.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Training examples: finite numbers, or a data frame.
        y : array-like of shape (m,)
            Their labels.
        groups : array-like of shape (m,), optional
            Group of each example; examples of a group are not divided between parts.

        Returns
        -------
        Conformal
            The fitted object.

        Raises
        ------
        ConfigError
            For settings that do not go together.
        """
        X, values, columns = split_columns(X, self.by, self.run.by_columns)
        X, y, codes, groups = self._checked(X, y, groups)
        if self.kind == OUT_OF_BAG:
            check_bags(type(self.estimator).__name__, self.classifier())
            if groups is not None:
                message = "out-of-bag rows of a group have trees that saw other rows of the group"
                raise ConfigError(message, hint="use conformal: split, which draws whole groups")
        values = np.empty((len(y), 0)) if self.by is None else values
        self.divisions_ = Divisions("label" if self.mondrian else self.by, columns, self.classes_)
        rng = self._generator("fit")
        calibration = self._calibration_parts(codes, groups, rng)
        u = rng.random(len(y))
        self.fitted_, self.scores_ = [], []
        for number, rows in enumerate(calibration * len(self._candidates())):
            part = self._fitted_without(rows, X, y, number, groups)
            self.fitted_.append(part)
            views = None
            if self.kind == OUT_OF_BAG:
                rows, shares = out_of_bag_view(part, len(y))
                views, calibration = {shares.kind: shares}, [rows]
            X_rows = rows_of(X, rows)
            scores, name = self._scores(part, X_rows, u[rows], views)
            if self.shift:
                features = X if self.shift == COVARIATE else np.empty((0, 0))
                self.labelled_ = Labelled(features, rows, codes[rows], scores.argmin(axis=1))
            predicted = self._predicted(part, X_rows)
            if number == 0:
                self._learn_groups(values, rows, predicted)
            group_codes = self.divisions_.codes(values[rows], predicted)
            self.scores_.append(self._part_scores(scores, name, codes[rows], group_codes))
        # The candidates of best_of share the calibration part.
        counted = self.scores_[:1] if self.best_of else self.scores_
        labels = codes[np.concatenate(calibration)]
        self.calibration_counts_ = np.bincount(labels, minlength=len(self.classes_))
        self.group_rows_ = [
            np.sum([[len(group) for group in part.lists[division]] for part in counted], axis=0)
            for division in range(len(self.divisions_))
        ]
        return self

    def classifier_probabilities(self, X) -> Prediction | None:
        """Return the probabilities of the classifier; the columns of ``by`` are not features."""
        check_is_fitted(self)
        X, _, _ = split_columns(X, self.by, self.run.by_columns, self.divisions_.columns)
        return super().classifier_probabilities(X)

    @available_if(lambda self: hasattr(self.classifier(), "predict_proba"))
    def predict_proba(self, X) -> np.ndarray:
        """Return the probabilities (n, c) of the classifier, which are not calibrated: the mean over folds.

        Raises ConfmlError for a classifier with shares of votes only.
        """
        probabilities = self.classifier_probabilities(X)
        if probabilities is None:
            raise ConfmlError(f"{type(self.estimator).__name__} has no probabilities")
        return probabilities.scores.copy()

    def _learn_groups(self, values: np.ndarray, rows: np.ndarray, predicted: np.ndarray | None) -> None:
        """Choose the cuts of the columns of ``by``, values (m, k), and the groups that occur."""
        proper = np.delete(values, rows, axis=0) if self.kind == "split" else values
        self.divisions_.cut(proper, quantiles=self.kind == "split" and len(proper) > 0)
        self.divisions_.learn(values if self.kind == "cross" else values[rows], predicted)

    def _part_scores(
        self, scores: np.ndarray, name: str, labels: np.ndarray, codes: np.ndarray
    ) -> PartScores:
        """Return the scores of calibration examples with scores (k, c), labels (k,) and groups (k, D)."""
        true_scores = scores[np.arange(len(labels)), labels]
        lists, members = [], []
        for division in range(len(self.divisions_)):
            groups = self.divisions_.groups(division)[codes[:, division], labels]
            order = np.lexsort((true_scores, groups))
            ends = np.searchsorted(groups[order], np.arange(self.divisions_.size(division) + 1))
            members.append([order[first:last] for first, last in pairwise(ends)])
            lists.append([true_scores[group] for group in members[-1]])
        every = np.sort(scores, axis=None) if self.best_of else np.empty(0)
        return PartScores(lists, members, usual_size(name, true_scores), every)

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the view ``p-value`` of test examples X (n, d); ``rng`` replaces ``random_state``."""
        rng = self._generator("predict") if rng is None else rng
        check_is_fitted(self)
        X, values, _ = split_columns(X, self.by, self.run.by_columns, self.divisions_.columns)
        X = self._checked_test(X)
        values = np.empty((X.shape[0], 0)) if self.by is None else values
        u, tau = rng.random((2, X.shape[0]))
        if self.best_of:
            return self._best_views(X, u, tau)
        codes = self.divisions_.codes(values, self._predicted(self.fitted_[0], X))
        n, c, divisions = len(codes), len(self.classes_), range(len(self.divisions_))
        greater, equal = np.zeros((len(divisions), n, c), np.int64), np.ones((len(divisions), n, c), np.int64)
        total: Any = None
        weights: ShiftWeights | None = None
        for part, part_scores in zip(self.fitted_, self.scores_, strict=True):
            scores, _ = self._scores(part, X, u)
            total = scores if total is None else total + scores
            if self.shift and n:
                weights = self._shift_weights(X, scores)
                equal[:] = weights.new
            for division in divisions:
                counts = greater[division], equal[division]
                self._add_counts(part_scores, division, scores, codes[:, division], weights, *counts)
        extra: dict[str, Any] = {"nonconformity": total / len(self.fitted_)}
        share: Any = 1
        if self.smoothed:
            extra["tau"], share = tau, tau[:, None]
        p, best = np.zeros((n, c)), np.zeros((n, c), dtype=np.int64)
        for division in divisions:
            groups = self.divisions_.groups(division)
            of_rows = codes[:, division]
            if weights is None:
                counted = (np.append(self.group_rows_[division], 0)[groups] + 1)[of_rows]
            else:
                sums = [weights.weights[rows].sum() for rows in self.scores_[0].places[division]]
                counted = np.array(sums)[groups][of_rows] + weights.new
            in_division = (greater[division] + share * equal[division]) / counted
            in_division[of_rows == UNKNOWN] = 1.0
            best[in_division > p] = division
            p = np.maximum(p, in_division)
        if len(divisions) == 1:
            extra |= {"n_greater": greater[0], "n_equal": equal[0]}
        else:
            extra[DIVISION] = best
        if self.by is not None:
            extra[GROUP] = codes
        if self.shift:
            extra["own_share"] = np.ones((n, c)) if weights is None else weights.new / counted
        return self._view(p, extra, X)

    def _add_counts(
        self,
        part_scores: PartScores,
        division: int,
        scores: np.ndarray,
        codes: np.ndarray,
        weights: ShiftWeights | None,
        greater: np.ndarray,
        equal: np.ndarray,
    ) -> None:
        """Add to ``greater`` and ``equal`` (n, c) the numbers of calibration scores greater than and equal to
        scores (n, c), in the groups of examples with codes (n,); sums of ``weights`` if there are any."""
        lists, totals = part_scores.lists[division], None
        for code in np.unique(codes[codes != UNKNOWN]).tolist():
            rows: Any = codes == code
            rows = slice(None) if rows.all() else rows
            for column, group in enumerate(self.divisions_.groups(division)[code].tolist()):
                if weights is not None:
                    totals = np.append(0, np.cumsum(weights.weights[part_scores.places[division][group]]))
                above, ties = counts_against(lists[group], scores[rows, column], part_scores.size, totals)
                greater[rows, column] += above
                equal[rows, column] += ties

    def _best_views(self, X: Any, u: np.ndarray, tau: np.ndarray) -> dict[str, Prediction]:
        """Return the view ``p-value`` of examples X, each p-value of one of the candidates."""
        scores = [self._scores(part, X, u)[0] for part in self.fitted_]
        observed, every = [part.lists[0][0] for part in self.scores_], [part.every for part in self.scores_]
        sizes, level = [part.size for part in self.scores_], self.best_of_level or LEVEL
        chosen = smallest_regions(observed, every, sizes, scores, level)
        self.chosen_ = np.bincount(chosen.ravel(), minlength=len(observed)) / max(chosen.size, 1)
        greater, equal = best_counts(observed, sizes, scores, chosen)
        extra = {"n_greater": greater, "n_equal": equal + 1, "chosen": chosen}
        extra["nonconformity"] = scores[smallest_alone(observed, every, level)]
        if self.smoothed:
            extra["tau"] = tau
        ties = tau[:, None] if self.smoothed else 1
        return self._view((greater + ties * extra["n_equal"]) / (len(observed[0]) + 1), extra, X)

    def _view(self, p: np.ndarray, extra: dict[str, Any], X: Any) -> dict[str, Prediction]:
        """Return the view of p-values (n, c) of examples X, with the labels of `columns_of_p_values`."""
        classifier = super().classifier_probabilities(X) if self.run.decides else None
        if classifier is not None:
            extra[CLASSIFIER] = classifier.scores
        columns = columns_of_p_values(p, extra["nonconformity"], self.divisions_.label_conditional)
        return {"p-value": Prediction(self.classes_, p, "p-value", self.classes_[columns], extra)}

    def _predicted(self, part: FittedPart, X: np.ndarray) -> np.ndarray | None:
        """Return the codes (n,) of the labels that a classifier predicts; None if no group needs them."""
        if not self.divisions_.uses_predictions:
            return None
        if not len(X):
            return np.empty(0, dtype=np.int64)
        first = next(iter(self._views(part, X).values()))
        return on_all_classes(first, self.classes_).argmax(axis=1)

    def _shift_weights(self, X: np.ndarray, scores: np.ndarray) -> ShiftWeights:
        """Return the weights for the test examples X (n, d) with nonconformity scores (n, c)."""
        part = self.labelled_
        if self.shift == COVARIATE:
            weights = covariate_weights(part.X, X, part.rows)
        else:
            self.shift_inputs_ = part.predicted, part.codes, scores.argmin(axis=1), len(self.classes_)
            weights = label_weights(*self.shift_inputs_)
        self.shift_metrics_ = weights.metrics
        return weights

    @property
    def fit_metrics_(self) -> dict[str, float]:
        """Those of the classifier, and of the last prediction (``shift``, ``best_of``)."""
        shares = zip(BEST_OF_METRICS, getattr(self, "chosen_", []), strict=False)
        chosen = {name: float(share) for name, share in shares}
        return {**super().fit_metrics_, **getattr(self, "shift_metrics_", {}), **chosen}

    @property
    def fit_details_(self) -> FitDetails:
        """Those of the classifier, the groups of ``by``, and with label shift the class frequencies."""
        details, extra = super().fit_details_, dict[str, Any]()
        if self.by is not None:
            extra = {DIVISIONS: self.divisions_.details(self.group_rows_)}
        if hasattr(self, "shift_inputs_"):
            extra = {CLASS_SHIFT: bbse_intervals(*self.shift_inputs_).rows(self.classes_)}
        return replace(details, other=extra)

    def _keeps_frame(self, X: Any) -> bool:
        return super()._keeps_frame(X) and self.shift != COVARIATE

    def _scores(
        self, part: FittedPart, X: np.ndarray, u: np.ndarray, views: Mapping[str, Prediction] | None = None
    ) -> tuple[np.ndarray, str]:
        """Return (n, c) nonconformity of every label for examples X (n, d), and the score's name.

        u: (n,) for aps and raps. views: of these examples, by default those that the classifier predicts.
        """
        if X.shape[0] == 0:
            return np.empty((0, len(self.classes_))), self.nonconformity or "lac"
        views = posterior_view(views or self._views(part, X), self.view, part.name)
        score, view = values_for(views, self.nonconformity, part.name)
        return label_scores(score, on_all_classes(view, self.classes_), view.kind, u), score
