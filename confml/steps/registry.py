"""The steps that a config can name: confml's own, those of other packages, transformers by dotted name."""

from collections.abc import Iterable, Mapping
from typing import Any

import sklearn

from confml.errors import ConfigError, nearest
from confml.methods.registry import packages_of, source_of
from confml.plugins.imports import import_permission, is_installed
from confml.plugins.registry import PluginRegistry, describe_class
from confml.steps import STEPS
from confml.steps.base import Step
from confml.steps.pipeline import StepPipeline
from confml.steps.transformer import check_transformer, describe_transformer, transformer_step

steps = PluginRegistry[Step]("step", STEPS, Step, "confml.steps")


def known_steps() -> dict[str, type[Step]]:
    """Return every step by name, with those of other packages (entry point group ``confml.steps``)."""
    return steps.known()


def step_class(name: str) -> type[Step]:
    """Return the class of a step; ConfigError, with the most similar name, where there is none.

    A dotted name, such as ``sklearn.decomposition.PCA``, is a transformer.
    """
    if _is_dotted(name):
        _check_spelling(name)
        return transformer_step(name)
    return steps.find(name)


def check_step(name: str, params: Mapping[str, Any] | None = None) -> None:
    """Raise ConfigError for an unknown step, and `ParameterError` for wrong parameters."""
    if _is_dotted(name):
        step_class(name)
        check_transformer(name, params or {})
    else:
        steps.check(name, params or {})


def build_step(name: str, params: Mapping[str, Any] | None = None) -> Step:
    """Return a new step that is not fitted. Raises the errors of `check_step`."""
    check_step(name, params)
    return step_class(name)(**(params or {}))


def build_pipeline(specs: Iterable[tuple[str, Mapping[str, Any]]]) -> StepPipeline:
    """Return the pipeline of steps given as (name, parameters), in order."""
    return StepPipeline([build_step(name, params) for name, params in specs])


def version_of_step(name: str, params: Mapping[str, Any] | None = None) -> int | str:
    """Return the version of a step, which changes whenever its results may change.

    For a dotted name it contains the versions of the packages of the transformer and of its parameters.
    """
    version = step_class(name).version
    if not _is_dotted(name):
        return version
    packages = {"scikit-learn": sklearn.__version__, **packages_of(name, (params or {}).values())}
    return ", ".join([str(version), *(f"{package} {release}" for package, release in packages.items())])


def imputes(name: str) -> bool:
    """Return whether a step replaces missing values."""
    return name == "impute-mean" or name.startswith("sklearn.impute.")


def describe_step(name: str) -> dict[str, Any]:
    """Return the documentation as plain data: name, summary, text, source, version, parameters."""
    if _is_dotted(name):
        step_class(name)
        return describe_transformer(name) | {"source": source_of(name), "version": version_of_step(name)}
    return describe_class(name, steps.find(name), steps.source(name))


def _is_dotted(name: str) -> bool:
    return "." in name and not steps.has(name)


def _check_spelling(name: str) -> None:
    """Raise ConfigError for a dotted name that is most likely an own step with a mistake."""
    package = name.partition(".")[0]
    if package != "sklearn" and not import_permission().permits(name) and not is_installed(package):
        close = nearest(name, steps.names())
        if close is not None:
            raise ConfigError(f"unknown step '{name}'", hint=f"did you mean '{close}'?")
