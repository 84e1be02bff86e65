"""JSON of the files that confml writes and reads, also of values that JSON does not have.

NaN and infinity are objects, such as ``{"float": "nan"}``; lone surrogates, which names of files that are not
UTF-8 have in Python, are escapes.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

_FLOATS = ("nan", "inf", "-inf")
_SURROGATE = re.compile("[\ud800-\udfff]")


def to_json(
    value: Any, indent: int | None = None, ascii: bool = False, default: Callable[[Any], Any] | None = None
) -> str:
    """Return plain values as the text of JSON, which `from_json` reads; tuples become lists.

    ascii: whether characters that are not of ASCII are escapes. default: returns a plain value for another;
    TypeError is raised without it.
    """
    try:
        text = json.dumps(value, indent=indent, ensure_ascii=ascii, allow_nan=False, default=default)
    except ValueError:  # NaN or infinity
        text = json.dumps(_finite(value), indent=indent, ensure_ascii=ascii, allow_nan=False, default=default)
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def from_json(text: str | bytes) -> Any:
    """Return the values of a text of `to_json`. Raises ValueError for text that is not JSON."""
    content = text.decode("utf-8") if isinstance(text, bytes) else text
    return json.loads(content, object_hook=_restored if '"float"' in content else None)


def _finite(value: Any) -> Any:
    """Return plain values with NaN and infinity as objects."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(float(value))}
    if isinstance(value, Mapping):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def _restored(value: dict[str, Any]) -> Any:
    return float(value["float"]) if value.keys() == {"float"} and value["float"] in _FLOATS else value
