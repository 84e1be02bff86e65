"""Settings of `Samples`, and their names and checks in a config: ``samples``, ``samples__draws``."""

from collections.abc import Mapping, Sequence
from typing import Any

from confml.errors import ConfigError
from confml.methods.conformal.wrapper_settings import check_given, check_needed, seed_parameter
from confml.methods.sklearn.names import find_classifier
from confml.plugins.parameters import Choice, Flag, Integer, Number, Parameter, or_null

KEY = "samples"  # the kind, in a config; the other parameters have the prefix KEY__
ENSEMBLE, BOOTSTRAP, LAPLACE = "ensemble", "bootstrap", "laplace"
DRAWS = {BOOTSTRAP: 60, LAPLACE: 1000}  # by default
PARAMETERS: dict[str, Parameter] = {
    KEY: Choice(
        "source of the draws: the members of an ensemble, fits to bootstrap weights, or Laplace's "
        "approximation of logistic regression",
        options=(ENSEMBLE, BOOTSTRAP, LAPLACE),
    ),
    f"{KEY}__draws": or_null(
        "number of draws; null: 60 of bootstrap, 1000 of laplace", Integer("a number", low=2)
    ),
    f"{KEY}__exceeding": Number(
        "threshold t of the view exceedance, the posterior probability that a class probability exceeds t",
        low=0.0,
        high=1.0,
        high_open=True,
    ),
    f"{KEY}__entropies": Flag("views total-entropy, expected-entropy and mutual-information too"),
    **seed_parameter(KEY),
}
ONLY_FOR = {f"{KEY}__draws": (KEY, tuple(DRAWS))}


def check_settings(name: str, settings: Mapping[str, Any], views: Sequence[str]) -> None:
    """Raise ConfigError for settings that a method cannot have, alone or together."""
    check_given(name, KEY, BOOTSTRAP, PARAMETERS, settings)
    check_needed(settings, ONLY_FOR)
    if "reject" in views:
        raise ConfigError(f"{name} has a posterior of its parameters already", hint=f"remove {KEY}")
    if list(views) == ["p-value"]:
        raise ConfigError(
            f"{name} computes p-values, which have no posterior", hint=f"remove {KEY}, or name a classifier"
        )
    check_source(name, settings[KEY], find_classifier(name) if name.startswith("sklearn.") else None)


def check_source(name: str, kind: str, cls: type | None) -> None:
    """Raise ConfigError unless a classifier can have draws of a kind. cls: its class, None if own."""
    if kind == ENSEMBLE and not issubclass(cls or object, _ensembles()):
        known = ", ".join(one.__name__ for one in _ensembles())
        reason = _why_no_draws(cls)
        raise ConfigError(
            f"samples: ensemble needs an ensemble whose members are draws ({known}), got {name}{reason}",
            hint="use samples: bootstrap, which fits any classifier to bootstrap weights",
        )
    if kind == LAPLACE and not issubclass(cls or object, _logistic_regression()):
        raise ConfigError(
            f"samples: laplace needs sklearn.linear_model.LogisticRegression, got {name}",
            hint="use samples: bootstrap, which fits any classifier to bootstrap weights",
        )


def _why_no_draws(cls: type | None) -> str:
    """Return why the members of an ensemble are no draws, as the end of a sentence; or ""."""
    from sklearn import ensemble

    boosting = (
        ensemble.AdaBoostClassifier,
        ensemble.GradientBoostingClassifier,
        ensemble.HistGradientBoostingClassifier,
    )
    if issubclass(cls or object, boosting):
        return ", whose members are the stages of one sum"
    if issubclass(cls or object, ensemble.VotingClassifier | ensemble.StackingClassifier):
        return ", whose members are different models"
    return ""


def _ensembles() -> tuple[type, ...]:
    from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier

    return RandomForestClassifier, ExtraTreesClassifier, BaggingClassifier


def _logistic_regression() -> type:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression
