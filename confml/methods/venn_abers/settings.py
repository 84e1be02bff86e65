"""Settings of `VennAbers`, and their names and checks in a config: ``venn``, ``venn__folds``."""

from collections.abc import Mapping, Sequence
from typing import Any

from confml.errors import ConfigError
from confml.methods.conformal.wrapper_settings import (
    check_given,
    check_needed,
    part_parameters,
    seed_parameter,
)
from confml.plugins.parameters import Choice, Parameter

KEY = "venn"  # the kind, in a config; the other parameters have the prefix KEY__
PARAMETERS: dict[str, Parameter] = {
    KEY: Choice("use a calibration part (inductive), or folds (cross)", options=("inductive", "cross")),
    **part_parameters(KEY, "inductive"),
    **seed_parameter(KEY),
}
# A setting that has no effect unless another setting has one of these values.
ONLY_FOR = {f"{KEY}__calibration": (KEY, ("inductive",)), f"{KEY}__folds": (KEY, ("cross",))}


def check_settings(name: str, settings: Mapping[str, Any], views: Sequence[str]) -> None:
    """Raise ConfigError for settings that a method cannot have, alone or together."""
    check_given(name, KEY, "inductive", PARAMETERS, settings)
    if list(views) == ["venn"]:
        message = f"{name} is already a Venn predictor: it computes lower and upper probabilities"
        raise ConfigError(message, hint=f"remove {KEY}")
    check_needed(settings, ONLY_FOR)
