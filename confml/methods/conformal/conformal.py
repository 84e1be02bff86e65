"""`Conformal`: p-values for any classifier, from a calibration part (split) or from folds (cross)."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from confml.errors import ConfmlError
from confml.measures.metric import Metric
from confml.measures.prediction import Prediction
from confml.methods.base import PValueMethod
from confml.methods.conformal.best_of import BEST_OF_METRICS, best_counts, smallest_alone, smallest_regions
from confml.methods.conformal.calibrated import FittedPart
from confml.methods.conformal.class_groups import (
    CLUSTERED,
    RANK_CUT,
    class_clusters,
    label_ranks,
    rank_cuts,
)
from confml.methods.conformal.grouped import Grouped
from confml.methods.conformal.scores import (
    MANY,
    add_counts,
    counts_against,
    knn_ratio_scores,
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
from confml.methods.divisions import optional
from confml.methods.shift import COVARIATE, LABEL, LABEL_EM, SHIFT_METRICS
from confml.methods.validation import rows_of

LEVEL = 0.1  # of best_of
CLASS_METRICS = {
    "class_clusters": Metric("number of clusters of classes; 0: all classes share all examples", None),
    "mean_rank_cut": Metric("mean over the classes of the largest rank that can be in a region", None),
}


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
    (``nonconformity``), label-conditional and smoothed p-values (``mondrian``, ``smoothed``), many classes
    (``classes``), groups of dependent examples and ``shift``. The page "What is promised to whom" defines
    groups with a guarantee (``by``) and the best of several methods (``best_of``).

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
    metrics = {**Grouped.metrics, **SHIFT_METRICS, **CLASS_METRICS, **BEST_OF_METRICS}
    key = KEY
    settings = PARAMETERS
    check_config = staticmethod(check_settings)
    stored = {
        "scores_": "list[list[f8(*)]](f)",
        "sizes_": "list[float](f)",
        "class_metrics_": "dict",
        "places_": "i8(c) in 0..",
        "counted_": "i8(c) in 1..",
        "rank_cuts_?": "i8(c) in 0..c+1",
        "cut_scores_?": "list[f8(*)](c)",
        "members_?": "any",
        "grouped_?": "GroupCalibration",
        "every_?": "list[f8(*)]",
        "chosen_?": "f8(f)",
        **optional("by", "by_columns", "best_of", "best_of_level", "view"),
    }

    estimator: Any
    kind: str = "split"
    nonconformity: Any = None
    calibration: float = 0.3
    folds: int = 5
    mondrian: bool = False
    classes: Any = None
    class_level: float = 0.1
    smoothed: bool = False
    by: Any = None
    best_of: Any = None
    best_of_level: Any = None
    shift: Any = None
    randomised: bool = True
    penalty: float = 0.01
    k_reg: int = 1
    k: int = 1
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
        self.class_metrics_: dict[str, float] = {}
        for number, rows in enumerate(calibration_parts):
            part = self._fitted_without(rows, X, y, number, groups)
            self.fitted_.append(part)
            scores, name = self._scores(part, rows_of(X, rows), u[rows])
            if self.shift:
                prior = np.bincount(part.codes, minlength=len(counts)) / len(part.codes)
                shares = self._shares(part, rows_of(X, rows)) if self.shift == LABEL_EM else None
                known = X if self.shift == COVARIATE else np.empty((0, 0))
                self.calibration_ = CalibrationPart(
                    known, rows, codes[rows], scores.argmin(axis=1), prior, shares
                )
            own = scores[np.arange(len(rows)), codes[rows]]
            if self.by is not None:
                self._add_groups(part, X, values, rows, own, codes[rows], name)
            self.sizes_.append(usual_size(name, own))
            if self.best_of:
                self.every_.append(np.sort(scores, axis=None))
                counts[:] = 0  # the candidates share the calibration part
            members, scores, rest = self._members(scores, own, codes[rows])
            ranked = [group[np.argsort(scores[group], kind="stable")] for group in members]
            self.scores_.append([scores[group] for group in ranked])
            if self.shift:
                self.members_ = ranked
            counts += np.bincount(codes[rows[rest]], minlength=len(counts))
        self.calibration_counts_ = counts  # (c,) counted calibration examples of each class
        counted = self.scores_[:1] if self.best_of else self.scores_
        sizes = np.array([sum(len(part[group]) for part in counted) for group in range(len(members))])
        if self.classes == RANK_CUT:
            sizes = counts
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
        u, tau = rng.random((2, len(X)))
        n, c = len(X), len(self.classes_)
        greater, equal = np.zeros((n, c), np.int64), np.ones((n, c), np.int64)
        total: Any = None
        counted: np.ndarray = self.counted_
        weights = None
        for part, groups, size in zip(self.fitted_, self.scores_, self.sizes_, strict=True):
            scores, _ = self._scores(part, X, u)
            total = scores if total is None else scores + total
            behind = label_ranks(scores) > self.rank_cuts_ if self.classes == RANK_CUT and n else None
            if self.shift and n:
                weights = self._shift_weights(part, X, scores)
                equal[:] = weights.new
                sums = [np.append(0, np.cumsum(weights.weights[group])) for group in self.members_]
                counted = np.array([own[-1] for own in sums]) + np.broadcast_to(weights.new, (n, c))
            if behind is None and weights is None:
                add_counts(groups, self.places_, scores, size, greater, equal)
                continue
            for column in range(c):
                place = self.places_[column]
                totals = sums[place] if weights is not None else None
                above, ties = counts_against(groups[place], scores[:, column], size, totals)
                if behind is not None:
                    cut, mine = self.cut_scores_[column], behind[:, column]
                    further = counts_against(cut, scores[:, column], size)
                    above, ties = np.where(mine, further, (above + len(cut), ties))
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
        u, tau = rng.random((2, len(X)))
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
        """Those of the classifier, of ``classes``, and of the last prediction (``shift``, ``best_of``)."""
        shares = zip(BEST_OF_METRICS, getattr(self, "chosen_", []), strict=False)
        found = {name: float(share) for name, share in shares}
        return {**super().fit_metrics_, **self.class_metrics_, **getattr(self, "shift_metrics_", {}), **found}

    @classmethod
    def compile_kernels(cls) -> None:
        scores = np.zeros((MANY, 2))
        counts = np.zeros(scores.shape, np.int64), np.ones(scores.shape, np.int64)
        add_counts([np.zeros(1), np.ones(2)], np.arange(2), scores, 1.0, *counts)
        p_values_of_counts(*counts, np.ones(2, np.int64), scores)

    @property
    def stratified(self) -> bool:
        return self.mondrian or self.classes == RANK_CUT

    # ---- parts of fit and confident_predict

    def _members(
        self, scores: np.ndarray, true_scores: np.ndarray, codes: np.ndarray
    ) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
        """Return the calibration examples that each group of classes counts, scores (m,), and all that count.

        scores (m, c), true_scores (m,): of all labels and of the true one. Sets ``places_``, the group of
        each class.
        """
        c = len(self.classes_)
        rest = np.arange(len(codes))
        self.places_ = np.arange(c) if self.stratified else np.zeros(c, dtype=np.int64)
        if self.classes == CLUSTERED:
            found = class_clusters(true_scores, codes, c, self.class_level, self._generator("classes"))
            self.places_ = found.places
            self.class_metrics_ = {"class_clusters": float(found.clusters)}
            return found.members, true_scores, found.members[-1]
        if self.classes == RANK_CUT:
            ranks = label_ranks(scores)[np.arange(len(codes)), codes]
            rng = self._generator("classes")
            self.rank_cuts_, rest = rank_cuts(ranks, codes, c, self.class_level, rng)
            self.class_metrics_ = {"mean_rank_cut": float(self.rank_cuts_.mean())}
            cut = ranks[rest] > self.rank_cuts_[codes[rest]]
            self.cut_scores_ = [np.sort(true_scores[rest[cut & (codes[rest] == code)]]) for code in range(c)]
            return [rest[~cut & (codes[rest] == code)] for code in range(c)], true_scores, rest
        if self.mondrian:
            return [rest[codes[rest] == code] for code in range(c)], true_scores, rest
        return [rest], true_scores, rest

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
        if self.is_fitted_before and (self.shift or self.nonconformity == "knn-ratio"):
            raise ConfmlError(
                "shift and nonconformity knn-ratio need the training examples of the classifier, which "
                "a fitted one (FrozenEstimator) does not have",
                hint="give the classifier itself",
            )
        if self.shift in (LABEL, LABEL_EM) and self.mondrian:
            raise ConfmlError(MONDRIAN_LABEL, hint="remove shift")

    def _keeps_frame(self, X: Any) -> bool:
        needs_numbers = self.nonconformity == "knn-ratio" or self.shift == COVARIATE
        return super()._keeps_frame(X) and not needs_numbers

    def _scores(self, part: FittedPart, X: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, str]:
        """Return (n, c) nonconformity of every label for examples X (n, d), and the score's name.

        u: (n,) for aps, raps and saps.
        """
        if len(X) == 0:
            return np.empty((0, len(self.classes_))), self.nonconformity or "lac"
        if self.nonconformity == "knn-ratio":
            of_part = part.prepared.X, part.codes, len(self.classes_), part.prepared.transform(X), self.k
            return knn_ratio_scores(*of_part), "knn-ratio"
        views = posterior_view(self._views(part, X), self.view, part.name)
        score, view = values_for(views, self.nonconformity, part.name)
        values = on_all_classes(view, self.classes_)
        u_or_none = u if self.randomised else None
        return label_scores(score, values, view.kind, u_or_none, self.penalty, self.k_reg), score

    def check_stored(self) -> None:
        super().check_stored()
        if any(self.places_.max() >= len(groups) for groups in self.scores_):
            raise ValueError("a class has no group of calibration scores")
