"""Parameters of `Conformal`, and their names and checks in a config: ``conformal``, ``conformal__folds``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from confml.errors import ConfigError
from confml.methods.conformal.class_groups import CLUSTERED, RANK_CUT
from confml.methods.conformal.scores import OF_SHARES, RANDOMISED, SCORES
from confml.methods.shift import COVARIATE, LABEL, LABEL_EM, shift_parameter
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

KEY = "conformal"  # the kind, in a config; the other parameters have the prefix KEY__
PARAMETERS = {
    KEY: Choice("use a calibration part (split), or folds (cross)", options=("split", "cross")),
    f"{KEY}__nonconformity": AnyOf(
        "nonconformity score; lac if there are probabilities, or vote shares and no margins, else margin",
        of=(Choice("a score", options=SCORES), Nothing("chosen by the classifier's views")),
    ),
    f"{KEY}__calibration": Number(
        "fraction of the training examples in the calibration part of split",
        low=0,
        high=1,
        low_open=True,
        high_open=True,
    ),
    f"{KEY}__folds": Integer("number of folds of cross", low=2),
    f"{KEY}__mondrian": Flag("label-conditional p-values: count only calibration examples of the label"),
    f"{KEY}__classes": AnyOf(
        "p-values for many classes: classes with similar scores share calibration examples (clustered), or "
        "label-conditional with a largest rank per class (rank-cut)",
        of=(Choice("clustered, rank-cut", options=(CLUSTERED, RANK_CUT)), Nothing("as mondrian says")),
    ),
    f"{KEY}__class_level": Number(
        "significance level that clusters and rank cuts are made for",
        low=0,
        high=1,
        low_open=True,
        high_open=True,
    ),
    f"{KEY}__smoothed": Flag("break ties between scores at random"),
    f"{KEY}__shift": shift_parameter((COVARIATE, LABEL, LABEL_EM)),
    f"{KEY}__randomised": Flag("count a random fraction of the own probability in aps, raps and saps"),
    f"{KEY}__penalty": Number(
        "penalty of raps for each rank after k_reg, of saps for each rank after the first", low=0
    ),
    f"{KEY}__k_reg": Integer("number of ranks without a penalty in raps", low=0),
    f"{KEY}__k": Integer("number of neighbours of knn-ratio", low=1),
    f"{KEY}__random_state": AnyOf(
        "random seed if no generator is given", of=(Integer("a seed", low=0), Nothing("random"))
    ),
}
CLASSES_ALONE = "classes has groups of classes of its own"
MONDRIAN_LABEL = "label-conditional (mondrian) p-values are valid under label shift without weights"
TUNE, INNER = f"{KEY}__tune", f"{KEY}__inner"  # set by a run, never in a config
# A setting that has no effect unless another setting has one of these values.
ONLY_FOR = {
    f"{KEY}__calibration": (KEY, ("split",)),
    f"{KEY}__folds": (KEY, ("cross",)),
    f"{KEY}__shift": (KEY, ("split",)),
    f"{KEY}__classes": (KEY, ("split",)),
    f"{KEY}__class_level": (f"{KEY}__classes", (CLUSTERED, RANK_CUT)),
    f"{KEY}__randomised": (f"{KEY}__nonconformity", RANDOMISED),
    f"{KEY}__penalty": (f"{KEY}__nonconformity", ("raps", "saps")),
    f"{KEY}__k_reg": (f"{KEY}__nonconformity", ("raps",)),
    f"{KEY}__k": (f"{KEY}__nonconformity", ("knn-ratio",)),
}


def parameter_name(setting: str, key: str = KEY) -> str:
    """Return the name in `Conformal` of a setting: ``kind`` of ``conformal``, ``k`` of ``conformal__k``.

    key: ``conformal``, or the kind's name in the config of another wrapper, such as ``venn``.
    """
    return "kind" if setting == key else setting.removeprefix(f"{key}__")


def constructor_parameters(params: Mapping[str, Any], key: str = KEY) -> dict[str, Any]:
    """Return parameters named as in a config with their names in the wrapper; others are the classifier's."""
    ours, others = settings_of(params, key)
    renamed = {parameter_name(name, key): value for name, value in ours.items()}
    return renamed | {f"estimator__{name}": value for name, value in others.items()}


def settings_of(params: Mapping[str, Any], key: str = KEY) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the settings of a wrapper among a method's parameters, and the other parameters."""
    ours = {name: value for name, value in params.items() if name == key or name.startswith(f"{key}__")}
    return ours, {name: value for name, value in params.items() if name not in ours}


def check_settings(name: str, settings: Mapping[str, Any], views: Sequence[str]) -> None:
    """Raise ConfigError for settings that a method with these views cannot have, alone or together."""
    check_parameters(
        name, PARAMETERS, {key: value for key, value in settings.items() if key not in (TUNE, INNER)}
    )
    if KEY not in settings:
        raise MissingParameter(min(settings), KEY, hint=f"add {KEY}: split")
    if list(views) == ["p-value"]:
        raise ConfigError(f"{name} is already conformal: it has p-values of its own", hint=f"remove {KEY}")
    score = settings.get(f"{KEY}__nonconformity")
    if list(views) == ["margin"] and score in OF_SHARES:
        message = f"nonconformity {score} needs probabilities, and {name} has margins"
        raise ConfigError(message, hint="use nonconformity: margin")
    for setting, (other, wanted) in ONLY_FOR.items():
        if settings.get(setting) is not None and settings.get(other) not in wanted:
            raise ConfigError(f"{setting} needs {other}: {' or '.join(wanted)}")
    if settings.get(f"{KEY}__shift") in (LABEL, LABEL_EM) and settings.get(f"{KEY}__mondrian"):
        raise ConfigError(MONDRIAN_LABEL, hint=f"remove {KEY}__shift")
    for other in ("mondrian", "shift"):
        if settings.get(f"{KEY}__classes") and settings.get(f"{KEY}__{other}"):
            raise ConfigError(f"{KEY}: {CLASSES_ALONE}", hint=f"remove {KEY}__{other}")
