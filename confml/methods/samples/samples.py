"""`Samples`: reject, envelope, posterior and exceedance confidence from draws of any classifier."""

import inspect
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier

from confml._seeds import derived_generator
from confml.errors import ConfigError
from confml.measures.posterior import (
    DRAW_METRICS,
    EXCEEDING,
    VIEWS,
    Summary,
    draw_metrics,
    few_draws,
    posterior_views,
)
from confml.measures.prediction import PROBABILITY_KINDS, Prediction
from confml.methods.base import Method
from confml.methods.conformal.scores import on_all_classes
from confml.methods.samples import laplace
from confml.methods.sklearn.names import find_classifier
from confml.methods.sklearn.sklearn_method import SklearnMethod, scored_views
from confml.methods.validation import class_codes, validated_training
from confml.methods.wrapper_method import WrapperMethod, constructor_parameters
from confml.plugins.parameters import SEED, Choice, Flag, Integer, Number, Parameter, or_null

KEY = "samples"  # the kind, in a config; the other parameters have the prefix KEY__
ENSEMBLE, BOOTSTRAP, LAPLACE = "ensemble", "bootstrap", "laplace"
DRAWS = {BOOTSTRAP: 60, LAPLACE: 1000}  # by default
PARAMETERS: dict[str, Parameter] = {
    "kind": Choice(
        "source of the draws: the members of an ensemble, fits to bootstrap weights, or Laplace's "
        "approximation of logistic regression",
        options=(ENSEMBLE, BOOTSTRAP, LAPLACE),
    ),
    "draws": or_null("number of draws; null: 60 of bootstrap, 1000 of laplace", Integer("a number", low=2)),
    "exceeding": Number(
        "threshold t of the view exceedance, the posterior probability that a class probability exceeds t",
        low=0.0,
        high=1.0,
        high_open=True,
    ),
    "entropies": Flag("views total-entropy, expected-entropy and mutual-information too"),
    "random_state": SEED,
}


def check_source(name: str, kind: str, cls: type | None) -> None:
    """Raise ConfigError unless a classifier can have draws of a kind. cls: its class, None if own."""
    from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    needs = {
        ENSEMBLE: ((RandomForestClassifier, ExtraTreesClassifier, BaggingClassifier), "an ensemble of draws"),
        LAPLACE: ((LogisticRegression,), "a logistic regression"),
    }
    classes, description = needs.get(kind, ((object,), ""))
    if not issubclass(cls or object, classes):
        accepted = ", ".join(accepted.__name__ for accepted in classes)
        raise ConfigError(
            f"samples: {kind} needs {description} ({accepted}), got {name}",
            hint="use samples: bootstrap, which fits any classifier to bootstrap weights",
        )


@dataclass(eq=False, repr=False)
class Samples(WrapperMethod):
    """Posterior draws of the class probabilities of any classifier, with four kinds of confidence.

    View ``reject``: mean of the class probabilities over the draws. View ``envelope``: share of the draws in
    which the class is the most probable one; T tied classes get 1/T each. View ``posterior``: mean and
    standard deviation ``sd``. View ``exceedance``: share of the draws whose class probability exceeds
    ``exceeding``; equal shares are ordered by the mean.

    Notes
    -----
    Krzanowski et al. (2006) define the views for draws of any model. The kinds are sources of draws:

    - ``ensemble``: the members of a random forest, extra trees or bagging. Members of boosting, voting and
      stacking are not draws of one model, and are refused.
    - ``bootstrap``: fits of the classifier to ``draws`` sets of weights. A classifier with ``sample_weight``
      has the Bayesian bootstrap (Rubin 1981): Dirichlet(1, ..., 1) times the number of examples. Every other
      classifier is fitted to examples drawn with replacement. A class without drawn examples has
      probability 0.
    - ``laplace``: draws from the Gaussian approximation of the posterior of
      ``sklearn.linear_model.LogisticRegression`` at its maximum, jointly for all classes, with intercepts.
      The prior is the penalty: Gaussian with variance C, flat for the intercepts.

    A classifier without probabilities (margins, votes) has the view ``envelope`` only: the share of its
    draws that predict the class. Tuning compares the means of all draws, so each point of a grid is fitted
    as often as there are draws.

    Every share has a Monte Carlo error as ``extra["standard_error"]``, and ``reject`` has three entropies, of
    which ``entropies`` makes views. The page "Posterior and version space" of the documentation has the
    formulas. There is a warning below 50 draws.

    In a config: ``samples: ensemble`` or ``samples: {kind: bootstrap, draws: 100}`` on a method, also
    together with ``conformal``; a sweep names a setting ``samples__draws``. ``bayes-knn`` and
    ``bayes-discriminant`` have these views without it. In Python: ``Samples(LogisticRegression())``.

    References
    ----------
    Krzanowski, Bailey, Partridge, Fieldsend, Everson, Schetinin, Confidence in classification: a Bayesian
    approach (Journal of Classification 23, 2006).

    Examples
    --------
    >>> from confml import Samples
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = [[0], [1], [2], [3], [7], [8], [9], [10]], [0] * 4 + [1] * 4
    >>> model = Samples(GaussianNB(), random_state=1).fit(X, y)
    >>> model.confident_predict([[1]])["envelope"].scores
    array([[1., 0.]])
    """

    version = 1
    views = VIEWS
    metrics = DRAW_METRICS
    key = KEY
    parameters = PARAMETERS
    needs = {"draws": ("kind", tuple(DRAWS))}

    estimator: Any
    kind: str = BOOTSTRAP
    draws: Any = None
    exceeding: float = EXCEEDING
    entropies: bool = False
    random_state: Any = None

    @classmethod
    def check_classifier(cls, name: str, given: Mapping[str, Any], views: Sequence[str]) -> None:
        """Raise ConfigError for settings that a method does not allow."""
        if "reject" in views:
            raise ConfigError(f"{name} has a posterior of its parameters already", hint=f"remove {KEY}")
        if list(views) == ["p-value"]:
            message = f"{name} computes p-values, which have no posterior"
            raise ConfigError(message, hint=f"remove {KEY}, or name a classifier")
        check_source(name, given["kind"], find_classifier(name) if name.startswith("sklearn.") else None)

    @property
    def takes_nominal(self) -> bool:  # type: ignore[override]  # of a class elsewhere
        return self.classifier().takes_nominal

    def set_params(self, **params) -> Self:
        """Set parameters; names that are not those of the constructor are names in a config.

        A wrapper around this one has the point of a grid in the names of a config.
        """
        arguments = inspect.signature(type(self)).parameters
        config = {name: value for name, value in params.items() if name.partition("__")[0] not in arguments}
        named = {name: value for name, value in params.items() if name not in config}
        return super().set_params(**named, **constructor_parameters(config, self.key))

    def fit(self, X, y) -> Self:
        """Fit the classifier as often as the kind needs. X: (m, d) finite numbers. y: (m,)."""
        self.check_settings()
        X, y = validated_training(self, X, y)
        self.classes_, _ = class_codes(y)
        base = self.classifier()
        of_sklearn = base.estimator if isinstance(base, SklearnMethod) else None
        check_source(self._name, self.kind, None if of_sklearn is None else type(of_sklearn))
        rng = np.random.default_rng(self.random_state)
        self.logits_: np.ndarray | None = None
        self.votes_ = False
        if self.kind == BOOTSTRAP:
            self.members_ = [self._member(X, y, rng, number) for number in range(self._draw_count)]
            kinds = {view.kind for view in scored_views(self.members_[0], X[:1], rng).values()}
            self.votes_ = not kinds & set(PROBABILITY_KINDS)
        else:
            self.members_ = [_fitted(clone(base), X, y)]
            if self.kind == LAPLACE and len(self.classes_) > 1:
                from sklearn.utils.class_weight import compute_sample_weight

                fitted = self.members_[0].estimator_
                weights = compute_sample_weight(fitted.class_weight, y)
                self.logits_ = laplace.logit_draws(fitted, X, weights, self._draw_count, rng)
        for text in few_draws(self.effective_draws_):
            warnings.warn(f"{self._name}: {text}", UserWarning, stacklevel=2)
        return self

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the views of test examples X (n, d); only ``envelope`` without probabilities."""
        X = self.check_predict_data(X)
        size = int(self.effective_draws_) * len(self.classes_)
        summary = Summary.in_blocks(
            lambda block: self.predict_draws(X[block], rng), len(X), size, self.exceeding
        )
        views = posterior_views(self.classes_, summary, with_entropies=self.entropies)
        return {"envelope": views["envelope"]} if self.votes_ else views

    def predict_proba(self, X) -> np.ndarray:
        """Return the mean class probabilities (n, c) over the draws, or shares of predicted labels."""
        return next(iter(self.confident_predict(X).values())).scores.copy()

    @property
    def effective_draws_(self) -> float:
        """Number of draws, which have equal weights."""
        if self.kind == ENSEMBLE:
            fitted = self.members_[0].estimator_
            return float(len(getattr(fitted, "estimators_", (fitted,))))
        return float(self._draw_count)

    @property
    def fit_metrics_(self) -> dict[str, float]:
        """``effective_draws``, and ``share_error``, the largest Monte Carlo error 1 / (2 sqrt(draws))."""
        return draw_metrics(self.effective_draws_)

    # ---- draws

    @property
    def _name(self) -> str:
        return getattr(self.classifier(), "name", None) or repr(self.estimator)

    @property
    def _draw_count(self) -> int:
        return int(DRAWS[self.kind] if self.draws is None else self.draws)

    def _member(self, X: np.ndarray, y: np.ndarray, rng: np.random.Generator, number: int) -> Method:
        """Return a clone of the classifier, fitted to one draw of the bootstrap."""
        method = clone(self.classifier())
        method.seed_random_states(derived_generator(rng, "member", number))
        if isinstance(method, SklearnMethod) and method.takes_weights:
            return _fitted(method, X, y, len(y) * rng.dirichlet(np.ones(len(y))))
        rows = rng.integers(len(y), size=len(y))
        return _fitted(method, X[rows], y[rows])

    def predict_draws(self, X, rng: np.random.Generator | None = None) -> np.ndarray:
        """Return the class probabilities of each draw.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Test examples.
        rng : numpy.random.Generator, optional
            Generator of draws that are made when predicting.

        Returns
        -------
        ndarray of shape (s, n, c)
            Probabilities of the s draws, in the order of ``classes_``. A classifier without probabilities has
            1 for the label that it predicts.
        """
        X = self.check_predict_data(X)
        if self.logits_ is not None:
            return laplace.probabilities(self.logits_, X, len(self.classes_))
        return np.stack(list(self._draws(X, rng)))

    def _draws(self, X: np.ndarray, rng: np.random.Generator | None) -> Iterator[np.ndarray]:
        """Iterate over the class probabilities (n, c) of the draws."""
        if self.kind == ENSEMBLE:
            yield from _member_probabilities(self.members_[0].estimator_, X)
            return
        for member in self.members_:
            views = scored_views(member, X, rng).values()
            view = next((view for view in views if view.kind in PROBABILITY_KINDS), None)
            if view is None or self.votes_:
                labels = next(iter(views)).labels
                yield (labels[:, None] == self.classes_).astype(np.float64)
            else:
                yield on_all_classes(view, self.classes_)


def _fitted(method: Method, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> Method:
    """Fit a method; one class has a classifier that predicts it, because many refuse to learn one."""
    if len(np.unique(y)) == 1:
        return SklearnMethod(DummyClassifier()).fit(X, y)
    return method.fit(X, y) if weights is None else method.fit(X, y, sample_weight=weights)


def _member_probabilities(fitted: Any, X: np.ndarray) -> Iterator[np.ndarray]:
    """Iterate over the class probabilities (n, c) of the members of a forest or of bagging.

    Members are fitted to class numbers; a member of bagging may lack classes and features.
    """
    members = getattr(fitted, "estimators_", None)
    if members is None:  # a classifier of one class
        yield fitted.predict_proba(X)
        return
    features = getattr(fitted, "estimators_features_", [slice(None)] * len(members))
    for member, columns in zip(members, features, strict=True):
        shares = np.zeros((len(X), len(fitted.classes_)))
        codes = np.asarray(member.classes_).astype(np.int64)
        if hasattr(member, "predict_proba"):
            shares[:, codes] = member.predict_proba(X[:, columns])
        else:
            shares[np.arange(len(X)), np.asarray(member.predict(X[:, columns])).astype(np.int64)] = 1.0
        yield shares
