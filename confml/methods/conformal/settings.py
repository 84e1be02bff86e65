"""Parameters of `Conformal`, and their names and checks in a config: ``conformal``, ``conformal__folds``."""

from collections.abc import Mapping, Sequence
from typing import Any

from confml.errors import ConfigError
from confml.measures.posterior import VIEWS
from confml.methods.conformal.scores import OF_SHARES, RANDOMISED, SCORES
from confml.methods.shift import COVARIATE, LABEL
from confml.methods.wrapper_method import (
    check_given,
    check_needed,
    part_parameters,
    seed_parameter,
)
from confml.plugins.by import PREDICTED, By, Candidates, divisions_in
from confml.plugins.parameters import (
    Choice,
    Flag,
    Integer,
    Number,
    Parameter,
    or_null,
)

KEY = "conformal"  # the kind, in a config; the other parameters have the prefix KEY__
PARAMETERS: dict[str, Parameter] = {
    KEY: Choice("use a calibration part (split), or folds (cross)", options=("split", "cross")),
    f"{KEY}__nonconformity": or_null(
        "nonconformity score; lac if there are probabilities, or vote shares and no margins, else margin",
        Choice("a score", options=SCORES),
    ),
    f"{KEY}__view": or_null(
        "view of a method with a posterior, whose scores nonconformity is computed from; reject by default",
        Choice("a view", options=VIEWS),
    ),
    **part_parameters(KEY, "split"),
    f"{KEY}__mondrian": Flag("label-conditional p-values: count only calibration examples of the label"),
    f"{KEY}__smoothed": Flag("break ties between scores at random"),
    f"{KEY}__by": or_null(
        "groups in which p-values are valid, by columns, bins, predicted and label", By("groups")
    ),
    f"{KEY}__best_of": or_null(
        "further methods; each p-value is of the one with the smallest regions, and keeps its bound",
        Candidates("methods"),
    ),
    f"{KEY}__best_of_level": or_null(
        "level at which regions are to be small; in a run the first level of the config, else 0.1",
        Number("", low=0, high=1, low_open=True, high_open=True),
    ),
    f"{KEY}__shift": or_null(
        "weight examples for a test part of another distribution, by its features without labels",
        Choice(f"{COVARIATE}, {LABEL}", options=(COVARIATE, LABEL)),
    ),
    f"{KEY}__randomised": Flag("count a random fraction of the own probability in aps and raps"),
    f"{KEY}__penalty": Number("penalty of raps for each rank after k_reg", low=0),
    f"{KEY}__k_reg": Integer("number of ranks without a penalty in raps", low=0),
    **seed_parameter(KEY),
}
SPLIT_ONLY = ("shift", "best_of")
# Settings that cannot be given with others.
COMBINED = {
    "by": ("mondrian", "shift", "best_of"),
    "best_of": ("mondrian", "shift"),
}
MONDRIAN_LABEL = "label-conditional (mondrian) p-values are valid under label shift without weights"
# A setting that has no effect unless another setting has one of these values.
ONLY_FOR = {
    f"{KEY}__calibration": (KEY, ("split",)),
    f"{KEY}__folds": (KEY, ("cross",)),
    **{f"{KEY}__{name}": (KEY, ("split",)) for name in SPLIT_ONLY},
    f"{KEY}__randomised": (f"{KEY}__nonconformity", RANDOMISED),
    f"{KEY}__penalty": (f"{KEY}__nonconformity", ("raps",)),
    f"{KEY}__k_reg": (f"{KEY}__nonconformity", ("raps",)),
}


def check_settings(name: str, settings: Mapping[str, Any], views: Sequence[str]) -> None:
    """Raise ConfigError for settings that a method with these views cannot have, alone or together."""
    check_given(name, KEY, "split", PARAMETERS, settings)
    if list(views) == ["p-value"]:
        raise ConfigError(f"{name} is already conformal: it computes p-values", hint=f"remove {KEY}")
    score, view = settings.get(f"{KEY}__nonconformity"), settings.get(f"{KEY}__view")
    if view is not None and "reject" not in views and name != "external":  # whose file decides
        raise ConfigError(
            f"{KEY}__view: {view} needs a posterior, and {name} has the view {', '.join(views)}",
            hint=f"add samples: bootstrap, or remove {KEY}__view",
        )
    if list(views) == ["margin"] and score in OF_SHARES:
        message = f"nonconformity {score} needs probabilities, and {name} has margins"
        raise ConfigError(message, hint="use nonconformity: margin")
    check_needed(settings, ONLY_FOR)
    if settings.get(f"{KEY}__shift") == LABEL and settings.get(f"{KEY}__mondrian"):
        raise ConfigError(MONDRIAN_LABEL, hint=f"remove {KEY}__shift")
    if settings.get(f"{KEY}__by") is not None:
        parts = {part.name for division in divisions_in(settings[f"{KEY}__by"]) for part in division}
        if settings[KEY] == "cross" and PREDICTED in parts:
            raise ConfigError(f"{KEY}__by: predicted needs {KEY}: split", hint=f"write {KEY}: split")
    check_combined({setting.removeprefix(f"{KEY}__"): value for setting, value in settings.items()})
    if settings.get(f"{KEY}__best_of_level") is not None and not settings.get(f"{KEY}__best_of"):
        raise ConfigError(f"{KEY}__best_of_level needs {KEY}__best_of")


def check_combined(given: Mapping[str, Any]) -> None:
    """Raise ConfigError for settings, by their names in the constructor, that cannot be given together."""
    used = {name for name, value in given.items() if not (value is None or value is False)}
    for name, others in COMBINED.items():
        for other in others:
            if {name, other} <= used:
                hint = f"remove {other}"
                if (name, other) == ("by", "mondrian"):
                    hint += ", and add label to by"
                raise ConfigError(f"{name} and {other} cannot be combined", hint=hint)
