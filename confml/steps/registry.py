"""The steps that a config can name: found, checked, built and described."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from confml.plugins.registry import PluginRegistry
from confml.steps.base import Step
from confml.steps.pipeline import StepPipeline

steps = PluginRegistry[Step]("step", "confml.steps", Step, "confml.steps")


def known_steps() -> dict[str, type[Step]]:
    """Return every step by name, with those of other packages (entry point group ``confml.steps``)."""
    return steps.known()


def step_class(name: str) -> type[Step]:
    """Return the class of a step; ConfigError, with the most similar name, where there is none."""
    return steps.find(name)


def check_step(name: str, params: Mapping[str, Any] | None = None) -> None:
    """Raise ConfigError for an unknown step, and `ParameterError` for wrong parameters."""
    steps.check(name, params or {})


def build_step(name: str, params: Mapping[str, Any] | None = None) -> Step:
    """Return a new step that is not fitted. Raises the errors of `check_step`."""
    check_step(name, params)
    return step_class(name)(**(params or {}))


def build_pipeline(specs: Iterable[tuple[str, Mapping[str, Any]]]) -> StepPipeline:
    """Return the pipeline of steps given as (name, parameters), in order."""
    return StepPipeline([build_step(name, params) for name, params in specs])


def version_of_step(name: str) -> int:
    """Return the version of a step, which is raised whenever its results change."""
    return step_class(name).version


def describe_step(name: str) -> dict[str, Any]:
    """Return the documentation as plain data: name, summary, text, source, version, parameters."""
    return steps.describe(name)
