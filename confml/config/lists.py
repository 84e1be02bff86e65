"""Types of lists in a config: names, labels of classes, and grids of values."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, PlainValidator, WithJsonSchema

from confml.config import grids
from confml.config.values import Words, wrong


def _expand(grid: Any) -> tuple[Any, ...]:
    try:
        return tuple(grids.expand(grid))
    except grids.GridError as error:
        if error.expected:
            raise wrong(str(error), hint=error.hint) from None
        raise ValueError(str(error)) from None


def _names(values: Any) -> Any:
    """Return a list of names; a single name may be given without a list."""
    return [values] if isinstance(values, str) else values


def _labels(values: Any) -> tuple[str, ...]:
    """Return class labels as text, without duplicates; whole numbers need no quotes."""
    values = [values] if isinstance(values, str | int) else values
    fits = isinstance(values, list | tuple) and all(isinstance(one, str | int) for one in values)
    if not fits or any(isinstance(one, bool) or one == "" for one in values):
        raise wrong("a list of class labels")
    return tuple(dict.fromkeys(map(str, values)))


Grid = Annotated[tuple[Any, ...], BeforeValidator(_expand)]
_NAMES = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
NameList = Annotated[tuple[Words, ...], BeforeValidator(_names), WithJsonSchema(_NAMES)]
_LABEL = {"type": ["string", "integer"]}
_LABELS = {"anyOf": [_LABEL, {"type": "array", "items": _LABEL}]}
LabelList = Annotated[tuple[str, ...], PlainValidator(_labels), WithJsonSchema(_LABELS)]
