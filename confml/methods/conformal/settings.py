"""Parameters of `Conformal`, and settings that cannot be combined."""

from collections.abc import Mapping
from typing import Any

from confml.errors import ConfigError
from confml.measures.posterior import VIEWS
from confml.methods.conformal.out_of_bag import OUT_OF_BAG
from confml.methods.conformal.scores import SCORES
from confml.methods.shift import COVARIATE, LABEL
from confml.methods.wrapper_method import part_parameters
from confml.plugins.by import PREDICTED, By, Candidates, divisions_in
from confml.plugins.parameters import SEED, Choice, Flag, Number, Parameter, or_null

KEY = "conformal"  # the kind, in a config; the other parameters have the prefix KEY__
PARAMETERS: dict[str, Parameter] = {
    "kind": Choice(
        "calibrate on a part (split), on folds (cross), or on out-of-bag rows of an ensemble (oob)",
        options=("split", "cross", OUT_OF_BAG),
    ),
    "nonconformity": or_null(
        "nonconformity score; lac if there are probabilities, or vote shares and no margins, else margin",
        Choice("a score", options=SCORES),
    ),
    "view": or_null(
        "view of a method with a posterior that gives the nonconformity scores; reject by default",
        Choice("a view", options=VIEWS),
    ),
    **part_parameters("split"),
    "mondrian": Flag("label-conditional p-values: count only calibration examples of the label"),
    "smoothed": Flag("break ties between scores at random"),
    "by": or_null("groups in which p-values are valid, by columns, bins, predicted and label", By("groups")),
    "best_of": or_null(
        "further methods; each p-value is that of the method with the smallest regions, and stays valid",
        Candidates("methods"),
    ),
    "best_of_level": or_null(
        "level at which regions should be small; in a run the first level of the config, else 0.1",
        Number("", low=0, high=1, low_open=True, high_open=True),
    ),
    "shift": or_null(
        "weight examples for a test part of another distribution, by its features without labels",
        Choice(f"{COVARIATE}, {LABEL}", options=(COVARIATE, LABEL)),
    ),
    "random_state": SEED,
}
SPLIT = "kind", ("split",)
NEEDS = {"calibration": SPLIT, "folds": ("kind", ("cross",)), "shift": SPLIT, "best_of": SPLIT}
# Pairs of settings that cannot be combined, with the remedy.
APART = {
    ("by", "mondrian"): "remove mondrian, and add label to by",
    ("by", "shift"): "remove shift",
    ("by", "best_of"): "remove best_of",
    ("best_of", "mondrian"): "remove mondrian",
    ("best_of", "shift"): "remove shift",
}


def check_combined(given: Mapping[str, Any]) -> None:
    """Raise ConfigError for settings, by their names in the constructor, that cannot be combined."""
    used = {name for name, value in given.items() if not (value is None or value is False)}
    for pair, hint in APART.items():
        if used >= set(pair):
            raise ConfigError(f"{' and '.join(pair)} cannot be combined", hint=hint)
    if given.get("shift") == LABEL and "mondrian" in used:
        message = "label-conditional (mondrian) p-values are valid under label shift without weights"
        raise ConfigError(message, hint="remove shift")
    if "best_of_level" in used and "best_of" not in used:
        raise ConfigError("best_of_level needs best_of")
    if "by" in used and given["kind"] != "split":
        if any(part.name == PREDICTED for division in divisions_in(given["by"]) for part in division):
            raise ConfigError("by: predicted needs kind: split")
