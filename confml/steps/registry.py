"""The steps that a config can name: found by their classes, checked, built and described."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from confml.plugins.registry import PluginRegistry
from confml.steps.base import Step
from confml.steps.chain import Chain

steps = PluginRegistry("step", "confml.steps", Step, "confml.steps")


def known_steps() -> dict[str, type[Step]]:
    """Every step by name: confml's own and, by the entry point group ``confml.steps``, other packages'."""
    return steps.known()


def step_class(name: str) -> type[Step]:
    """The class of a step; ConfigError, with the nearest name, where there is none."""
    return steps.find(name)


def check_step(name: str, params: Mapping[str, Any] | None = None) -> None:
    """Raise ConfigError unless there is such a step with such parameters."""
    steps.check(name, params or {})


def build_step(name: str, params: Mapping[str, Any] | None = None) -> Step:
    """A step that is not fitted yet. Raises ConfigError as `check_step` does."""
    check_step(name, params)
    return step_class(name)(**(params or {}))


def build_chain(specs: Iterable[tuple[str, Mapping[str, Any]]]) -> Chain:
    """The `Chain` of (name, parameters) in order."""
    return Chain([build_step(name, params) for name, params in specs])


def version_of_step(name: str) -> int:
    """The number that is raised whenever the step's results change."""
    return step_class(name).version


def describe_step(name: str) -> dict[str, Any]:
    """A step in words, as plain data: name, summary, text, source, version, parameters."""
    return steps.describe(name)
