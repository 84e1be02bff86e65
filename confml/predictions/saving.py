"""Whether a method can be saved, before it is fitted."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from confml.errors import ConfmlError
from confml.methods.base import Method
from confml.methods.registry import build, method_class
from confml.methods.sklearn.sklearn_method import SklearnMethod
from confml.methods.wrappers import WRAPPERS
from confml.plugins.imports import without_output
from confml.predictions.store import CannotStore, skops_bytes
from confml.steps.base import Step
from confml.steps.registry import build_pipeline
from confml.steps.transformer import TransformerStep, new_transformer

ROWS, COLUMNS = 60, 4  # of the data that an estimator is fitted to for the answer


def check_saving(
    name: str,
    params: Mapping[str, Any],
    steps: Sequence[tuple[str, Mapping[str, Any]]] = (),
    trust: Sequence[str] = (),
    columns: int = COLUMNS,
) -> None:
    """Raise `CannotStore` if a fit of a method with these parameters and steps cannot be saved.

    Estimators of other packages are fitted to a few random rows for the answer. trust: types that skops may
    store. columns: number of features.
    """
    for method in _parts(build(name, params)):
        _check_part(method, trust, columns)
    for step in build_pipeline(steps).steps:
        _check_part(step, trust, columns)


def saving_of(name: str) -> str:
    """Return a sentence on whether a method can be saved with its default parameters."""
    if name in WRAPPERS:
        return "as its classifier"
    if method_class(name).takes_rows:
        return "no: it has no predictions for new rows"
    try:
        with without_output():
            check_saving(name, {})
    except CannotStore as error:
        if error.types:
            return f"with {' '.join(f'--trust {type_name}' for type_name in error.types)}"
        return f"no: {error}"
    except ConfmlError:  # parameters are needed
        return "depends on the parameters"
    return "yes"


def _parts(method: Method) -> Iterator[Method]:
    """Iterate over a method and the methods and classifiers among its parameters."""
    yield method
    if isinstance(method, SklearnMethod):
        return
    for inner in (getattr(method, "estimator", None), *(getattr(method, "best_of", None) or ())):
        if hasattr(inner, "fit"):
            yield from _parts(inner if isinstance(inner, Method) else SklearnMethod(inner))


def _check_part(part: Method | Step, trust: Sequence[str], columns: int) -> None:
    if isinstance(part, SklearnMethod):
        estimator = clone(part.estimator)
    elif isinstance(part, TransformerStep):
        estimator = new_transformer(part.transformer, part.params)
    else:  # without a fit the type alone is stored
        estimator = part
    if estimator is not part:
        rng = np.random.default_rng(0)
        try:
            estimator.fit(rng.normal(size=(ROWS, columns)), np.arange(ROWS) % 2)
        except Exception:  # these rows do not suit it: the answer follows after the fit
            return
    skops_bytes(estimator, getattr(part, "name", type(estimator).__name__), trust)
