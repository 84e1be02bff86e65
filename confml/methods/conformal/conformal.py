"""`ConformalMethod`: any classifier made conformal with a calibration part (split) or with folds (cross)."""

from __future__ import annotations

import inspect
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from confml._seeds import derived_generator
from confml.errors import ConfigError, ConfmlError
from confml.measures.prediction import Prediction
from confml.measures.selection import best_point, inner_score
from confml.methods.base import Method
from confml.methods.conformal.parts import calibration_groups, calibration_rows, fold_numbers
from confml.methods.conformal.scores import (
    OF_SHARES,
    RANDOMISED,
    SCORES,
    aps_scores,
    knn_ratio_scores,
    lac_scores,
    margin_scores,
    on_all_classes,
    values_for,
)
from confml.methods.details import FitDetails
from confml.plugins.parameters import (
    AnyOf,
    Choice,
    Flag,
    Integer,
    MissingParameter,
    Nothing,
    Number,
    check_parameters,
)

KEY = "conformal"  # the parameter that makes a method conformal; the others stand behind KEY__
PARAMETERS = {
    KEY: Choice("made conformal: by a calibration part, or by folds", options=("split", "cross")),
    f"{KEY}__score": AnyOf(
        "nonconformity score; lac where there are probabilities, or shares and no margins, else margin",
        of=(Choice("a score", options=SCORES), Nothing("what fits the classifier")),
    ),
    f"{KEY}__calibration": Number(
        "the calibration part's share of each class", low=0, high=1, low_open=True, high_open=True
    ),
    f"{KEY}__folds": Integer("number of folds of cross", low=2),
    f"{KEY}__mondrian": Flag("count only calibration examples of the label in question"),
    f"{KEY}__smoothed": Flag("break ties between scores at random"),
    f"{KEY}__randomised": Flag("draw how much of the label's own share counts in aps and raps"),
    f"{KEY}__penalty": Number("what raps adds for each place behind k_reg", low=0),
    f"{KEY}__k_reg": Integer("places without a penalty in raps", low=0),
    f"{KEY}__k": Integer("number of neighbours of knn-ratio", low=1),
    f"{KEY}__random_state": AnyOf(
        "seed where no generator is given", of=(Integer("a seed", low=0), Nothing("drawn anew"))
    ),
}
TUNE, INNER = f"{KEY}__tune", f"{KEY}__inner"  # what the runner hands in: a grid, and how to choose of it
STEPS = f"{KEY}__steps"  # the run's steps, which are learnt on what the classifier is fitted to
GROUPS = f"{KEY}__groups"  # the group of each training example, where the data set has groups
OWN = (*PARAMETERS, TUNE, INNER, STEPS, GROUPS)
# Settings that say nothing unless another one has one of these values.
ONLY_FOR = {
    f"{KEY}__calibration": (KEY, ("split",)),
    f"{KEY}__folds": (KEY, ("cross",)),
    f"{KEY}__randomised": (f"{KEY}__score", RANDOMISED),
    f"{KEY}__penalty": (f"{KEY}__score", ("raps",)),
    f"{KEY}__k_reg": (f"{KEY}__score", ("raps",)),
    f"{KEY}__k": (f"{KEY}__score", ("knn-ratio",)),
}


class ConformalMethod(Method):
    """A classifier made conformal: p-values for its predictions, with a bound on their errors.

    ``split`` (inductive) keeps a share ``calibration`` of every class of the training part back, fits the
    classifier to the rest, and gives label j of a test example the p-value ``(#{s_i >= s_j} + 1) / (n + 1)``
    among the scores s of the n calibration examples under their own labels. Test examples never take part.
    If calibration and test examples are exchangeable, the true label's p-value is at most any level with at
    most that probability. ``cross`` (Vovk 2015) does so with each of ``folds`` parts in turn, the classifier
    fitted to the others, and counts over all of them: ``(sum of the folds' counts + 1) / (m + 1)``. It wastes
    no example; its validity is approximate (proven only at about twice the level).

    In a config it stands on a method, as ``conformal: split`` or ``conformal: {kind: split, score: aps}``; a
    sweep names a setting ``conformal__score``. From Python:
    ``confml.methods.registry.build("knn", {"k": 3, "conformal": "split", "conformal__score": "aps"})``.

    score: what makes a label strange. ``lac``: 1 less its share (probability or votes). ``aps``: the shares
    of all likelier labels and u times its own, u ~ U[0, 1) one an example (1 unless ``randomised``).
    ``raps``: that, and ``penalty`` for each place behind the ``k_reg``-th. ``margin``: the largest value of
    another label less its own. ``knn-ratio``: the ``k`` nearest distances to examples of the label over those
    to others, as in TCM-NN.

    mondrian: only calibration examples of label j are counted for j, valid for each class by itself.
    smoothed: equal scores count tau ~ U[0, 1), one an example. A class of one example is never calibrated
    on, so that the classifier always knows every class.
    tune: points of a grid, of which inner cross-validation on the examples that are not kept back chooses one
    (``split`` only): a choice that saw the calibration part would make its examples look too ordinary.

    Steps of a run are learnt on what the classifier is fitted to, of each fold anew: the examples kept back
    are treated like test ones, and none of them is taken out, which would make them more ordinary than these.

    Where the data set has groups, whole groups are kept back, as whole groups are tested on: examples of a
    group that the classifier knows would look more ordinary than those of a new one.

    The one view is ``p-value`` with ``extra``: ``n_greater``, ``n_equal`` (n, c), calibration scores that
    exceed and equal the label's (the new example is among the equal), ``score`` (n, c; of cross, the mean),
    and ``tau`` where smoothed. Among labels with the same p-value the least strange is predicted.

    Parameters are the classifier's, and those of `PARAMETERS`.
    """

    name = KEY
    version = 3
    views = ("p-value",)

    def __init__(
        self,
        method: Method,
        kind="split",
        score=None,
        calibration=0.3,
        folds=5,
        mondrian=False,
        smoothed=False,
        randomised=True,
        penalty=0.01,
        k_reg=1,
        k=1,
        random_state=None,
        tune=(),
        inner=None,
        steps=None,
        groups=None,
    ):
        self.method = method
        self.kind, self.score = kind, score
        self.calibration, self.folds = calibration, folds
        self.mondrian, self.smoothed = mondrian, smoothed
        self.randomised, self.penalty, self.k_reg, self.k = randomised, penalty, k_reg, k
        self.random_state = random_state
        self.tune = tune
        self.inner = inner  # of tune: {"folds": 10, "stratify": True, "select_by": "accuracy"}
        self.steps = steps  # ahead of the classifier: learn(X, y, part) gives (chain, X, y, rows kept)
        self.groups = groups  # (m,) of the examples of fit, or None

    # ---- parameters are the classifier's, with ours beside them

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return self.method.get_params(deep) | {name: getattr(self, _field(name)) for name in OWN}

    def set_params(self, **params) -> ConformalMethod:
        for name in [name for name in params if name in OWN]:
            setattr(self, _field(name), params.pop(name))
        self.method.set_params(**params)
        return self

    def __sklearn_clone__(self) -> ConformalMethod:
        return make(clone(self.method), {name: getattr(self, _field(name)) for name in OWN})

    def __repr__(self) -> str:
        return f"ConformalMethod({self.method!r}, {self.kind!r})"

    # ---- scikit-learn's interface

    def fit(self, X, y) -> ConformalMethod:
        """Fit to one part and calibrate on the other. X: (m, d) finite numbers; y: (m,) labels."""
        check_parameters(KEY, PARAMETERS, {name: getattr(self, _field(name)) for name in PARAMETERS})
        if self.tune and self.kind != "split":
            raise ConfmlError("tuning inside cross is not possible", hint="take conformal: split")
        finite = self.steps is None or "allow-nan"  # steps may fill in what is missing
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", ensure_all_finite=finite)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        rng = self._generator("fit")
        groups = None if self.groups is None else np.unique(self.groups, return_inverse=True)[1]
        if groups is not None and len(groups) != len(codes):
            raise ValueError(f"expected the groups of {len(codes)} examples, got {len(groups)}")
        if self.kind == "split" and groups is None:
            kept_back = [calibration_rows(codes, self.calibration, rng)]
        elif self.kind == "split":
            kept_back = [calibration_groups(codes, groups, self.calibration, rng)]
        else:
            numbers = fold_numbers(codes, self.folds, rng, groups=groups)
            kept_back = [np.flatnonzero(numbers == fold) for fold in range(self.folds)]
            kept_back = [rows for rows in kept_back if len(rows)] or [np.empty(0, dtype=np.intp)]
        u = rng.random(len(y))
        self.tuning_ = None
        self.fitted_, self.scores_, counts = [], [], np.zeros(len(self.classes_), dtype=np.int64)
        for number, rows in enumerate(kept_back):
            rest = np.setdiff1d(np.arange(len(y)), rows)
            part = self._fitted(X[rest], y[rest], number, None if groups is None else groups[rest])
            self.fitted_.append(part)
            scores = self._scores(part, X[rows], u[rows])[np.arange(len(rows)), codes[rows]]
            by_class = [scores[codes[rows] == code] for code in range(len(self.classes_))]
            self.scores_.append([np.sort(group) for group in (by_class if self.mondrian else [scores])])
            counts += np.bincount(codes[rows], minlength=len(counts))
        self.calibration_counts_ = counts  # (c,) rows of each class
        self.counted_ = (counts if self.mondrian else np.full(len(counts), counts.sum())) + 1
        return self

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """The view ``p-value`` of test examples X (n, d); ``rng`` goes before ``random_state``."""
        check_is_fitted(self)
        finite = self.steps is None or "allow-nan"
        X = validate_data(self, X, dtype=np.float64, order="C", ensure_all_finite=finite, reset=False)
        rng = self._generator("predict") if rng is None else rng
        u, tau = rng.random((2, len(X)))
        n, c = len(X), len(self.classes_)
        greater, equal, total = np.zeros((n, c), np.int64), np.ones((n, c), np.int64), np.zeros((n, c))
        for part, groups in zip(self.fitted_, self.scores_, strict=True):
            scores = self._scores(part, X, u)
            total += scores
            for column in range(c):
                group = groups[column if self.mondrian else 0]
                above = np.searchsorted(group, scores[:, column], side="right")
                equal[:, column] += above - np.searchsorted(group, scores[:, column], side="left")
                greater[:, column] += len(group) - above
        strangeness = total / len(self.fitted_)
        extra = {"n_greater": greater, "n_equal": equal, "score": strangeness}
        if self.smoothed:
            p = (greater + tau[:, None] * equal) / self.counted_
            extra["tau"] = tau
        else:
            p = (greater + equal) / self.counted_
        tied = np.where(p == p.max(axis=1, keepdims=True), strangeness, np.nan)
        columns = np.argmax(tied == np.nanmin(tied, axis=1, keepdims=True), axis=1)
        return {"p-value": Prediction(self.classes_, p, "p-value", self.classes_[columns], extra)}

    def predict_p_values(self, X) -> np.ndarray:
        """(n, c) p-values of test examples X (n, d), columns in the order of ``classes_``."""
        return self.confident_predict(X)["p-value"].scores.copy()

    @property
    def fit_metrics_(self) -> dict[str, float]:
        rows = sum(len(group) for groups in self.scores_ for group in groups)
        first = self.fitted_[0]
        own = {**first.chain_metrics, **first.method.fit_metrics_} if self.kind == "split" else {}
        return {**own, "calibration_rows": float(rows)}

    @property
    def fit_details_(self) -> FitDetails:
        """The number of calibration examples of each class, and the choice that tuning made."""
        counts = zip(self.classes_.tolist(), self.calibration_counts_.tolist(), strict=True)
        return FitDetails(calibration_rows=tuple(counts), tuning=self.tuning_)

    # ---- parts of it

    def share_random_states(self, rng: np.random.Generator, point: Mapping[str, Any]) -> None:
        """One calibration part (one set of folds) for all points of a sweep, and one fit for all scores."""
        if self.random_state is None:
            self.random_state = int(derived_generator(rng, KEY).integers(2**31))
        own = {name: value for name, value in point.items() if name.partition("__")[0] != KEY}
        self.method.seed_random_states(derived_generator(rng, KEY, own))

    def _generator(self, purpose: str) -> np.random.Generator:
        rng = np.random.default_rng(self.random_state)
        return rng if self.random_state is None else derived_generator(rng, KEY, purpose)

    def _fitted(self, X: np.ndarray, y: np.ndarray, number: int, groups: np.ndarray | None) -> _Part:
        """Steps and classifier fitted to (X, y), with the best point of the tune grid on these alone."""
        method, chain = clone(self.method), None
        if self.steps is not None:
            chain, X, y, kept = self.steps.learn(X, y, number)
            groups = None if groups is None else groups[kept]
            if method.takes_nominal:
                method.set_params(nominal=np.flatnonzero(chain.nominal_).tolist())
        if self.tune:
            inner = {"folds": 10, "stratify": True, "select_by": "accuracy"} | dict(self.inner or {})
            self.tuning_ = choose(
                method, X, y, self.tune, rng=self._generator("tune"), groups=groups, **inner
            )
            method.set_params(**self.tuning_["chosen"])
        return _Part(method.fit(X, y), X, np.searchsorted(self.classes_, y), chain)

    def _scores(self, part: _Part, X: np.ndarray, u: np.ndarray) -> np.ndarray:
        """(n, c) the nonconformity of every label for examples X (n, d); u: (n,) for the randomised ones."""
        c = len(self.classes_)
        if len(X) == 0:
            return np.empty((0, c))
        fitted = part.method
        if part.chain is not None:
            X = part.chain.transform(X)
        if self.score == "knn-ratio":
            return knn_ratio_scores(part.X, part.codes, c, X, self.k)
        views = fitted.confident_predict(X, self._generator("inner"))
        score, view = values_for(views, self.score, fitted.name if hasattr(fitted, "name") else repr(fitted))
        values = on_all_classes(view, self.classes_)
        if score == "lac":
            return lac_scores(values)
        if score == "margin":
            return margin_scores(values)
        penalty = (self.penalty, self.k_reg) if score == "raps" else ()
        return aps_scores(values, u if self.randomised else None, *penalty)


class _Part(NamedTuple):
    """A classifier fitted to X (m, d) with class codes (m,), and the steps that made them, None for none."""

    method: Method
    X: np.ndarray
    codes: np.ndarray
    chain: Any

    @property
    def chain_metrics(self) -> dict[str, float]:
        return {} if self.chain is None else self.chain.fit_metrics_


def choose(
    method: Method,
    X: np.ndarray,
    y: np.ndarray,
    grid: Sequence[Mapping[str, Any]],
    folds: int,
    stratify: bool,
    select_by: str,
    rng: np.random.Generator,
    groups: np.ndarray | None = None,
) -> dict[str, Any]:
    """What inner cross-validation chooses of a grid: ``chosen``, ``select_by``, ``scores`` and ``seconds``.

    Of the points with the best mean score the first; a point that fails on a fold is out. Raises ConfmlError
    where none is left.
    """
    started = time.thread_time()
    _, codes = np.unique(y, return_inverse=True)
    numbers = fold_numbers(codes, folds, rng, stratify, groups)
    values: list[list[float | None]] = [[] for _ in grid]
    problems = set()
    for fold in np.unique(numbers[numbers >= 0]).tolist():
        test = numbers == fold
        for number, point in enumerate(grid):
            path = method.evaluate_path(X[~test], y[~test], X[test], [point], derived_generator(rng, fold))
            try:
                ((_, views),) = path
            except Exception as error:  # this point is out, whatever is wrong with it
                problems.add(str(error))
                values[number].append(None)
                continue
            values[number].append(inner_score(next(iter(views.values())).labels, y[test], select_by))
    best, scores = best_point(grid, values, select_by)
    if best is None:
        reason = "; ".join(sorted(problems)[:3]) or "too few examples beside the calibration part"
        raise ConfmlError(f"no point of the tune grid could be evaluated: {reason}")
    seconds = time.thread_time() - started
    return {"chosen": dict(grid[best]), "select_by": select_by, "scores": scores, "seconds": seconds}


def settings_of(params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(what of a method's parameters is about its being conformal, the rest)."""
    ours = {name: value for name, value in params.items() if name == KEY or name.startswith(f"{KEY}__")}
    return ours, {name: value for name, value in params.items() if name not in ours}


def check_settings(name: str, settings: Mapping[str, Any], views: Sequence[str]) -> None:
    """Raise ConfigError for settings that a method of these views cannot have, alone or together."""
    check_parameters(
        name, PARAMETERS, {key: value for key, value in settings.items() if key not in (TUNE, INNER)}
    )
    if KEY not in settings:
        raise MissingParameter(min(settings), KEY, hint=f"add {KEY}: split")
    if list(views) == ["p-value"]:
        raise ConfigError(
            f"{name} has p-values of its own: it is conformal as it is", hint=f"leave {KEY} out"
        )
    score = settings.get(f"{KEY}__score")
    if list(views) == ["margin"] and score in OF_SHARES:
        message = f"the score {score} needs probabilities, and {name} has margins"
        raise ConfigError(message, hint="take the score margin")
    for setting, (other, wanted) in ONLY_FOR.items():
        if setting in settings and settings.get(other) not in wanted:
            raise ConfigError(f"{setting} is for {other}: {' or '.join(wanted)}")


def describe() -> dict[str, Any]:
    """What ``conformal`` is in words, as plain data, with the keys that it can have in a config."""
    cls, signature = ConformalMethod, inspect.signature(ConformalMethod).parameters
    text = inspect.cleandoc(cls.__doc__ or "")
    parameters = [
        {"name": "kind" if name == KEY else name.removeprefix(f"{KEY}__"), "about": rule.about}
        | {"expected": rule.expected(), "default": signature[_field(name)].default}
        for name, rule in PARAMETERS.items()
        if name != f"{KEY}__random_state"  # a run has its seed
    ]
    return {
        "name": KEY,
        "summary": text.partition("\n")[0],
        "text": text,
        "source": "confml",
        "version": cls.version,
        "views": list(cls.views),
        "parameters": parameters,
    }


def make(method: Method, settings: Mapping[str, Any]) -> ConformalMethod:
    """A method made conformal; the settings are checked already."""
    return ConformalMethod(method, **{_field(name): value for name, value in settings.items()})


def _field(name: str) -> str:
    """The attribute that holds one of `PARAMETERS`."""
    return "kind" if name == KEY else name.removeprefix(f"{KEY}__")
