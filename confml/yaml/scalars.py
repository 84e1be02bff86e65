"""`scalar`: the meaning of a plain (unquoted) YAML scalar, the same one in configs and cards.

Scalars follow the core schema of YAML 1.2: ``no``, ``on``, ``10:30``, ``2024-05-01`` and ``1_000`` are text,
``012`` is 12, and ``1e-3`` is a number. An integer in the notation ``1e5`` stays an integer.
"""

from __future__ import annotations

import math
import re
from typing import Any

_INT = re.compile(r"[-+]?[0-9]+")
_OTHER_BASE = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WHOLE_POWER = re.compile(r"[-+]?[0-9]+[eE]\+?[0-9]+")
_INFINITE = re.compile(r"[-+]?\.(inf|Inf|INF)")
_WORDS: dict[str, Any] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_WORDS |= {word: True for word in ("true", "True", "TRUE")}
_WORDS |= {word: False for word in ("false", "False", "FALSE")}
_WORDS |= {word: math.nan for word in (".nan", ".NaN", ".NAN")}


def scalar(text: str) -> Any:
    """Return the value of a plain (unquoted) scalar: None, a boolean, a number, or the text itself."""
    if text in _WORDS:
        return _WORDS[text]
    if _INFINITE.fullmatch(text):
        return -math.inf if text.startswith("-") else math.inf
    if len(text) > 400:
        return text  # longer than any number in use
    if _INT.fullmatch(text):
        return int(text)
    if _OTHER_BASE.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        number = float(text)
        whole = _WHOLE_POWER.fullmatch(text) and abs(number) <= 2**53
        return int(number) if whole else number
    return text
