"""The steps that a config can name: confml's own, those of other packages, transformers by dotted name."""

from collections.abc import Iterable, Mapping
from typing import Any

import sklearn

from confml.methods.registry import packages_of, source_of
from confml.methods.sklearn.names import describe_estimator
from confml.plugins.registry import PluginRegistry, describe_class
from confml.steps import STEPS
from confml.steps.base import Step
from confml.steps.pipeline import StepPipeline
from confml.steps.transformer import find_transformer, new_transformer, transformer_step

steps = PluginRegistry[Step]("step", STEPS, Step, "confml.steps")


def known_steps() -> dict[str, type[Step]]:
    """Return every step by name, with those of other packages (entry point group ``confml.steps``)."""
    return steps.known()


def step_class(name: str) -> type[Step]:
    """Return the class of a step; ConfigError, with the most similar name, where there is none.

    A dotted name, such as ``sklearn.decomposition.PCA``, is a transformer.
    """
    if steps.is_dotted(name):
        steps.check_spelling(name)
        return transformer_step(name, find_transformer(name))
    return steps.find(name)


def check_step(name: str, params: Mapping[str, Any] | None = None) -> None:
    """Raise ConfigError for an unknown step, and `ParameterError` for wrong parameters."""
    if steps.is_dotted(name):
        step_class(name)
        new_transformer(name, params or {})
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
    if not steps.is_dotted(name):
        return version
    packages = {"scikit-learn": sklearn.__version__, **packages_of(name, (params or {}).values())}
    return ", ".join([str(version), *(f"{package} {release}" for package, release in packages.items())])


def changes_rows(name: str) -> bool:
    """Return whether a step drops or relabels training rows."""
    return step_class(name).fit_training is not Step.fit_training


def imputes(name: str) -> bool:
    """Return whether a step replaces missing values."""
    return name == "impute-mean" or name.startswith("sklearn.impute.")


def describe_step(name: str) -> dict[str, Any]:
    """Return the documentation as plain data: name, summary, text, source, version, parameters."""
    if steps.is_dotted(name):
        described = describe_estimator(name, find_transformer(name))
        return described | {"source": source_of(name), "version": version_of_step(name)}
    return describe_class(name, steps.find(name), steps.source(name))
