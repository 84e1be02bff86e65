"""Whether a method can be saved, before it is fitted."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from confml.errors import ConfmlError
from confml.methods.base import Method
from confml.methods.registry import build, method_class
from confml.methods.sklearn.estimators import nested
from confml.methods.sklearn.sklearn_method import SklearnMethod
from confml.methods.wrappers import WRAPPERS
from confml.plugins.imports import without_output
from confml.predictions.boosters import stored_booster
from confml.predictions.declarations import declared, is_stored
from confml.predictions.estimators import stored_estimator
from confml.predictions.model_file import skops_bytes, skops_io
from confml.predictions.state_codec import CannotStore, Encoder
from confml.steps.base import Step
from confml.steps.registry import build_pipeline
from confml.steps.transformer import TransformerStep, new_transformer

ROWS, COLUMNS = 60, 4  # of the data that an estimator of another package is fitted to for the answer


def check_saving(
    name: str,
    params: Mapping[str, Any],
    steps: Sequence[tuple[str, Mapping[str, Any]]] = (),
    trust: Sequence[str] = (),
    columns: int = COLUMNS,
) -> None:
    """Raise `CannotStore` if a fit of a method with these parameters and steps cannot be saved.

    Estimators that need skops are fitted to a few random rows for the answer. trust: types that skops may
    store. columns: number of features.
    """
    for part in _parts(build(name, params)):
        _check_part(part, trust, columns)
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
            return f"with skops and {' '.join(f'--trust {one}' for one in error.types)}"
        return f"no: {error}"
    except ConfmlError:  # parameters are needed
        return "depends on the parameters"
    plain = all(
        _is_plain(part.estimator) if isinstance(part, SklearnMethod) else not _holds_estimator(type(part))
        for part in _parts(build(name))
    )
    return "yes" if plain else "yes, with skops"


def _parts(method: Method) -> Iterator[Method]:
    """Iterate over a method and the methods and classifiers among its parameters."""
    yield method
    if isinstance(method, SklearnMethod):
        return
    for inner in (getattr(method, "estimator", None), *(getattr(method, "best_of", None) or ())):
        if hasattr(inner, "fit"):
            yield from _parts(inner if isinstance(inner, Method) else SklearnMethod(inner))


def _check_part(part: Method | Step, trust: Sequence[str], columns: int) -> None:
    cls: type = getattr(type(part), "stored_as", type(part))
    if not is_stored(cls):
        raise CannotStore(
            f"{getattr(part, 'name', cls.__name__)} cannot be saved: its class "
            f"{cls.__module__}.{cls.__name__} does not declare how it is stored",
            hint="predict without --save; `stored` of confml.methods.base.Method describes the declaration",
        )
    if _holds_estimator(cls):
        skops_io(CannotStore)
    if isinstance(part, SklearnMethod):
        estimator = part.estimator
    elif isinstance(part, TransformerStep):
        estimator = new_transformer(part.transformer, part.params)
    else:
        return
    if _is_plain(estimator):
        return
    rng = np.random.default_rng(0)
    fitted = clone(estimator)
    try:
        fitted.fit(rng.normal(size=(ROWS, columns)), np.arange(ROWS) % 2)
    except Exception:  # these rows do not suit it: the answer follows after the fit
        return
    encoder = Encoder()
    encoder.encode(fitted)
    for one in encoder.estimators:
        skops_bytes(one, trust)


def _holds_estimator(cls: type) -> bool:
    """Return whether a fit of one of confml's methods holds an estimator of scikit-learn."""
    texts = [] if issubclass(cls, SklearnMethod | TransformerStep) else declared(cls).values()
    return any("object" in text for text in texts)


def _is_plain(estimator: Any) -> bool:
    """Return whether an estimator and those among its parameters are stored without skops."""
    return all(
        stored_estimator(one) is not None or stored_booster(one) is not None
        for one in nested(estimator)
        if hasattr(one, "fit")
    )
