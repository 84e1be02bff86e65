"""`Conformal`: p-values for any classifier, from a calibration part (split) or from folds (cross)."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from confml.errors import ConfmlError
from confml.measures.prediction import Prediction
from confml.methods.base import PValueMethod
from confml.methods.conformal.best_of import BEST_OF_METRICS, best_counts, smallest_alone, smallest_regions
from confml.methods.conformal.calibrated import FittedPart
from confml.methods.conformal.grouped import Grouped
from confml.methods.conformal.scores import (
    add_counts,
    counts_against,
    label_scores,
    on_all_classes,
    p_values_of_counts,
    posterior_view,
    usual_size,
    values_for,
)
from confml.methods.conformal.settings import (
    KEY,
    MONDRIAN_LABEL,
    PARAMETERS,
    SPLIT_ONLY,
    check_combined,
    check_settings,
)
from confml.methods.conformal.shifted import CalibrationPart, Shifted
from confml.methods.shift import COVARIATE, LABEL, SHIFT_METRICS
from confml.methods.validation import rows_of

LEVEL = 0.1  # of best_of


@dataclass(eq=False, repr=False)
class Conformal(Grouped, Shifted, PValueMethod):
    """Conformal prediction with any classifier: p-values with a bound on their errors.

    Notes
    -----
    ``split`` calibrates on a random part of the training examples. Label j of a test example has the p-value
    ``(#{s_i >= s_j} + 1) / (n + 1)``, where s_i are the nonconformity scores of the n calibration examples
    under their own labels. If training and test examples are exchangeable, the true label's p-value is at
    most e with probability at most e, for every level e and any classifier. ``cross`` calibrates on folds;
    with K folds of n examples in all, the probability is at most ``2 (e + (1 - e) (K - 1) / (n + K))``.

    The page "Conformal prediction with any classifier" of the documentation defines both, the scores
    (``nonconformity``), label-conditional and smoothed p-values (``mondrian``, ``smoothed``), groups of
    dependent examples and ``shift``. The page "Guarantees" defines groups with a guarantee
    (``by``) and the best of several methods (``best_of``).

    In a config: ``conformal: split`` or ``conformal: {kind: split, nonconformity: aps}`` on a method; a sweep
    names a setting ``conformal__nonconformity``. In Python: ``Conformal(LogisticRegression())``, with any
    classifier of scikit-learn or confml; its parameters have the prefix ``estimator__``.

    The view is ``p-value``. Its ``extra`` has ``n_greater`` and ``n_equal`` (n, c), the numbers of
    calibration scores greater than and equal to the label's; the test example is among the equal ones. It
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
    metrics = {**Grouped.metrics, **SHIFT_METRICS, **BEST_OF_METRICS}
    key = KEY
    settings = PARAMETERS
    check_config = staticmethod(check_settings)

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
    randomised: bool = True
    penalty: float = 0.01
    k_reg: int = 1
    random_state: Any = None
    tune: Any = ()
    inner: Any = None
    steps: Any = None  # learn(X, y, *part) returns (chain, X, y, kept rows)
    groups: Any = None
    by_columns: Any = None
    view: Any = None

    def fit(self, X, y, groups=None) -> Self:
        """Fit the classifier and calibrate. X: (m, d) finite numbers, or a data frame; y, groups: (m,)."""
        X, values, columns = self._split_columns(X)
        X, y, codes, groups = self._checked(X, y, groups)
        self._check_combination()
        if self.by is not None:
            self._new_groups(columns)
        rng = self._generator("fit")
        calibration_parts = self._calibration_parts(codes, groups, rng) * len(self._candidates())
        u = rng.random(len(y))
        self.fitted_, self.scores_, self.sizes_, self.every_ = [], [], [], []
        counts = np.zeros(len(self.classes_), dtype=np.int64)
        for number, rows in enumerate(calibration_parts):
            part = self._fitted_without(rows, X, y, number, groups)
            self.fitted_.append(part)
            scores, name = self._scores(part, rows_of(X, rows), u[rows])
            if self.shift:
                known = X if self.shift == COVARIATE else np.empty((0, 0))
                self.calibration_ = CalibrationPart(known, rows, codes[rows], scores.argmin(axis=1))
            own = scores[np.arange(len(rows)), codes[rows]]
            if self.by is not None:
                self._add_groups(part, X, values, rows, own, codes[rows], name)
            self.sizes_.append(usual_size(name, own))
            if self.best_of:
                self.every_.append(np.sort(scores, axis=None))
                counts[:] = 0  # the candidates share the calibration part
            order = np.argsort(own, kind="stable")
            groups_of_scores = [order]
            if self.mondrian:
                groups_of_scores = [order[codes[rows[order]] == code] for code in range(len(counts))]
            self.scores_.append([own[group] for group in groups_of_scores])
            if self.shift:
                self.members_ = groups_of_scores
            counts += np.bincount(codes[rows], minlength=len(counts))
        self.calibration_counts_ = counts  # (c,) counted calibration examples of each class
        counted = self.scores_[:1] if self.best_of else self.scores_
        sizes = np.array([sum(map(len, of_group)) for of_group in zip(*counted, strict=True)])
        self.places_ = np.arange(len(counts)) if self.mondrian else np.zeros(len(counts), dtype=np.int64)
        self.counted_ = sizes[self.places_] + 1  # (c,) examples that a p-value counts
        if self.by is not None:
            self.counted_[:] = min(int(rows.min()) for rows in self.grouped_.rows()) + 1
        return self

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the view ``p-value`` of test examples X (n, d); ``rng`` replaces ``random_state``."""
        rng = self._generator("predict") if rng is None else rng
        if self.by is not None:
            return self._group_views(X, rng)
        if self.best_of:
            return self._best_views(X, rng)
        X = self._checked_test(X)
        n, c = X.shape[0], len(self.classes_)
        u, tau = rng.random((2, n))
        greater, equal = np.zeros((n, c), np.int64), np.ones((n, c), np.int64)
        total: Any = None
        counted: np.ndarray = self.counted_
        weights = None
        for part, groups, size in zip(self.fitted_, self.scores_, self.sizes_, strict=True):
            scores, _ = self._scores(part, X, u)
            total = scores if total is None else scores + total
            if not (self.shift and n):
                add_counts(groups, self.places_, scores, size, greater, equal)
                continue
            weights = self._shift_weights(X, scores)
            equal[:] = weights.new
            sums = [np.append(0, np.cumsum(weights.weights[group])) for group in self.members_]
            counted = np.array([own[-1] for own in sums]) + np.broadcast_to(weights.new, (n, c))
            for column, place in enumerate(self.places_.tolist()):
                above, ties = counts_against(groups[place], scores[:, column], size, sums[place])
                greater[:, column] += above
                equal[:, column] += ties
        nonconformity = total / len(self.fitted_) if len(self.fitted_) > 1 else total
        extra = {"n_greater": greater, "n_equal": equal, "nonconformity": nonconformity}
        if self.shift:
            own = np.ones((n, c)) if weights is None else weights.new / counted
            extra["own_share"] = own
        if self.smoothed:
            extra["tau"] = tau
            return self._p_value_view((greater + tau[:, None] * equal) / counted, extra)
        p, columns = p_values_of_counts(greater, equal, counted, nonconformity)
        return self._p_value_view(p, extra, columns)

    def _best_views(self, X: Any, rng: np.random.Generator) -> dict[str, Prediction]:
        """Return the view ``p-value`` of examples X, each p-value of one of the candidates."""
        X = self._checked_test(X)
        u, tau = rng.random((2, X.shape[0]))
        scores = [self._scores(part, X, u)[0] for part in self.fitted_]
        own, level = [groups[0] for groups in self.scores_], self.best_of_level or LEVEL
        chosen = smallest_regions(own, self.every_, self.sizes_, scores, level)
        self.chosen_ = np.bincount(chosen.ravel(), minlength=len(own)) / max(chosen.size, 1)
        greater, equal = best_counts(own, self.sizes_, scores, chosen)
        extra = {"n_greater": greater, "n_equal": equal + 1, "chosen": chosen}
        extra["nonconformity"] = scores[smallest_alone(own, self.every_, level)]
        if self.smoothed:
            extra["tau"] = tau
        ties = tau[:, None] if self.smoothed else 1
        return self._p_value_view((greater + ties * extra["n_equal"]) / self.counted_, extra)

    @property
    def fit_metrics_(self) -> dict[str, float]:
        """Those of the classifier, and of the last prediction (``shift``, ``best_of``)."""
        shares = zip(BEST_OF_METRICS, getattr(self, "chosen_", []), strict=False)
        found = {name: float(share) for name, share in shares}
        return {**super().fit_metrics_, **getattr(self, "shift_metrics_", {}), **found}

    # ---- parts of fit and confident_predict

    def _check_combination(self) -> None:
        self._check_groups()
        for name in SPLIT_ONLY:
            if getattr(self, name) and self.kind != "split":
                raise ConfmlError(f"{name} needs kind 'split', got 'cross'", hint="use split")
        check_combined(vars(self))
        if self.is_fitted_before and self.best_of:
            raise ConfmlError(
                "best_of fits its classifiers, and a fitted one (FrozenEstimator) cannot be among them",
                hint="give the classifier itself",
            )
        if self.is_fitted_before and self.shift:
            raise ConfmlError(
                "shift needs the training examples of the classifier, which a fitted one (FrozenEstimator) "
                "does not have",
                hint="give the classifier itself",
            )
        if self.shift == LABEL and self.mondrian:
            raise ConfmlError(MONDRIAN_LABEL, hint="remove shift")

    def _keeps_frame(self, X: Any) -> bool:
        return super()._keeps_frame(X) and self.shift != COVARIATE

    def _scores(self, part: FittedPart, X: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, str]:
        """Return (n, c) nonconformity of every label for examples X (n, d), and the score's name.

        u: (n,) for aps and raps.
        """
        if X.shape[0] == 0:
            return np.empty((0, len(self.classes_))), self.nonconformity or "lac"
        views = posterior_view(self._views(part, X), self.view, part.name)
        score, view = values_for(views, self.nonconformity, part.name)
        values = on_all_classes(view, self.classes_)
        u_or_none = u if self.randomised else None
        return label_scores(score, values, view.kind, u_or_none, self.penalty, self.k_reg), score
