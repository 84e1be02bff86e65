"""Check of stored JSON documents, which an older version or another program may have written."""

import json
from typing import Any


def fits(value: Any, form: Any) -> bool:
    """Return whether a value of a JSON document has a form.

    A form is a type, None, a function that returns whether a value fits, a tuple of forms of which one fits,
    a list with the form of every item, or a mapping with the forms of keys; a key that ends with "?" may be
    missing. A boolean is no number.
    """
    if isinstance(form, dict):
        return isinstance(value, dict) and all(
            fits(value[key], one) if (key := name.rstrip("?")) in value else name.endswith("?")
            for name, one in form.items()
        )
    if isinstance(form, list):
        return isinstance(value, list) and all(fits(one, form[0]) for one in value)
    if isinstance(form, tuple):
        return any(fits(value, one) for one in form)
    if isinstance(form, type):
        return isinstance(value, form) and not isinstance(value, bool)
    return value is None if form is None else form(value)


def _is_number(value: Any) -> bool:
    return fits(value, (int, float)) and not abs(value) > 1e300


def _is_count(value: Any) -> bool:
    return fits(value, int) and 0 <= value < 2**63


def _is_class_count(value: Any) -> bool:
    if not isinstance(value, list) or len(value) != 2:
        return False
    return isinstance(value[0], int | float | str) and _is_count(value[1])


_SCORE = (None, _is_number)
_CELL = {
    "cell": dict,
    "train_rows": _is_count,
    "train_class_counts": [_is_class_count],
    "fit_seconds": _is_number,
    "predict_seconds": _is_number,
    "prepare_seconds?": _is_number,
    "tuning": (
        None,
        {
            "chosen": dict,
            "select_by": str,
            "seconds?": _is_number,
            "scores": [{"params": dict, "mean": _SCORE, "sd": _SCORE, "folds": [_SCORE]}],
        },
    ),
    "dropped_attributes?": [str],
}


def is_cell_document(document: Any) -> bool:
    """Return whether a document has every field of a cell in its present format, each of the right type."""
    try:
        json.dumps(document, ensure_ascii=False).encode()  # a lone surrogate could not be written to a file
    except (ValueError, RecursionError):
        return False
    return fits(document, _CELL)
