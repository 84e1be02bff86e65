"""Check of the JSON document of a stored cell, which an older version or another program may have written."""

import json
from typing import Any


def is_cell_document(document: Any) -> bool:
    """Return whether a document has every field of a cell in its present format, each of the right type."""
    try:
        json.dumps(document, ensure_ascii=False).encode()  # a lone surrogate could not be written to a file
    except (ValueError, RecursionError):
        return False
    return (
        isinstance(document, dict)
        and isinstance(document.get("cell"), dict)
        and _is_count(document.get("train_rows"))
        and _are_class_counts(document.get("train_class_counts"))
        and all(_is_number(document.get(name)) for name in ("fit_seconds", "predict_seconds"))
        and _is_number(document.get("prepare_seconds", 0.0))
        and _is_tuning(document.get("tuning", ""))
        and _are_texts(document.get("dropped_attributes", []))
    )


def _are_class_counts(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(pair, list) and len(pair) == 2 and _is_label(pair[0]) and _is_count(pair[1])
        for pair in value
    )


def _is_tuning(value: Any) -> bool:
    if value is None:
        return True
    return (
        isinstance(value, dict)
        and isinstance(value.get("chosen"), dict)
        and _is_text(value.get("select_by"))
        and _is_number(value.get("seconds", 0.0))
        and isinstance(value.get("scores"), list)
        and all(_is_point(point) for point in value["scores"])
    )


def _is_point(point: Any) -> bool:
    return (
        isinstance(point, dict)
        and isinstance(point.get("params"), dict)
        and all(name in point and _is_score(point[name]) for name in ("mean", "sd"))
        and isinstance(point.get("folds"), list)
        and all(_is_score(score) for score in point["folds"])
    )


def _is_score(value: Any) -> bool:
    return value is None or _is_number(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and not abs(value) > 1e300


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _is_label(value: Any) -> bool:
    return isinstance(value, int | float) or _is_text(value)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(_is_text(one) for one in value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)
