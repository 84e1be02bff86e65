"""Settings of `VennAbers`, and their names and checks in a config: ``venn``, ``venn__folds``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from confml.errors import ConfigError
from confml.plugins.parameters import (
    AnyOf,
    Choice,
    Integer,
    MissingParameter,
    Nothing,
    Number,
    check_parameters,
)

KEY = "venn"  # the kind, in a config; the other parameters have the prefix KEY__
PARAMETERS = {
    KEY: Choice("use a calibration part (inductive), or folds (cross)", options=("inductive", "cross")),
    f"{KEY}__calibration": Number(
        "fraction of the training examples in the calibration part of inductive",
        low=0,
        high=1,
        low_open=True,
        high_open=True,
    ),
    f"{KEY}__folds": Integer("number of folds of cross", low=2),
    f"{KEY}__random_state": AnyOf(
        "random seed if no generator is given", of=(Integer("a seed", low=0), Nothing("random"))
    ),
}
ONLY_FOR = {f"{KEY}__calibration": "inductive", f"{KEY}__folds": "cross"}  # setting -> kind


def check_settings(name: str, settings: Mapping[str, Any], views: Sequence[str]) -> None:
    """Raise ConfigError for settings that a method cannot have, alone or together."""
    set_by_a_run = (f"{KEY}__tune", f"{KEY}__inner")
    given = {key: value for key, value in settings.items() if key not in set_by_a_run}
    check_parameters(name, PARAMETERS, given)
    if KEY not in settings:
        raise MissingParameter(min(settings), KEY, hint=f"add {KEY}: inductive")
    if list(views) == ["venn"]:
        message = f"{name} is already a Venn predictor: it has lower and upper probabilities of its own"
        raise ConfigError(message, hint=f"remove {KEY}")
    for setting, kind in ONLY_FOR.items():
        if setting in settings and settings[KEY] != kind:
            raise ConfigError(f"{setting} needs {KEY}: {kind}")
