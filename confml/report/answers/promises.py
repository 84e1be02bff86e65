"""Promised coverage of the regions of a run. All sentences, tests and rankings of a run ask this module."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from confml.config import Config
from confml.errors import ConfmlError
from confml.measures import Case
from confml.measures.guarantees import region_promise
from confml.methods.registry import method_class, views_of
from confml.steps.base import Step
from confml.steps.registry import step_class


class StepFacts(NamedTuple):
    """Names of the steps of a config that break exchangeability, that are fitted to rows (empty if some
    break it), and that cannot be imported here."""

    breaking: list[str]
    fitted: list[str]
    unknown: list[str]

    @classmethod
    def of(cls, config: Any) -> "StepFacts":
        steps = [(step.name, _step_class(step.name)) for step in config.steps]
        breaking = [name for name, step in steps if step is not None and step.breaks_exchangeability]
        fitted = [name for name, step in steps if step is not None and step.learns and not breaking]
        return cls(breaking, fitted, [name for name, step in steps if step is None])


def promised(
    case: Case, config: Config, tuning: Mapping[str, Any] | None = None, grouped: bool = False
) -> list[str] | None:
    """Return why the promised coverage 1 - level of all rows is approximate; None without this promise.

    An empty list: it holds for any number of rows. Views without p-values and cross-conformal p-values do not
    promise it. Steps learn from the examples that a ``conformal`` classifier is fitted to, not from its
    calibration part; the p-values of other methods are computed from these examples. tuning: of a cell.
    grouped: whether the rows of a group are alike, and test rows are of other groups.
    """
    params = case.context.params
    if case.prediction.kind != "p-value" or params.get("conformal") == "cross" or grouped:
        return None
    conformal = params.get("conformal")
    steps = StepFacts.of(config) if config.steps and conformal in (None, "oob") else StepFacts([], [], [])
    noise = config.noise is not None and config.noise_values is not None and config.noise.on == "train"
    tuned = [] if tuning is None else list(tuning["chosen"])
    promise = region_promise(conformal, steps.breaking, steps.fitted, tuned, noise)
    if promise.broken is not None:
        return None
    return ["weights are estimated"] * ("own_share" in case.prediction.extra) + promise.approximate


def has_only_p_values(method: str) -> bool:
    """Return whether a method has p-values and no other view; False if it cannot be imported here."""
    with suppress(ConfmlError):
        return views_of(method_class(method)) == ["p-value"]
    return False


def _step_class(step: str) -> type[Step] | None:
    """Return the class of a step; None if it cannot be imported here."""
    with suppress(ConfmlError):
        return step_class(step)
    return None
