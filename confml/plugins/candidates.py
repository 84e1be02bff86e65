"""`Candidates`: declaration of the parameter ``best_of``, methods that one is chosen from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confml.plugins.parameters import Parameter

BEST_OF = "conformal__best_of"  # parameter of methods in a config
MOST = 10  # candidates, the method itself included


class Candidates(Parameter):
    """Declaration of ``best_of``: names of methods, mappings with ``name`` and parameters, or classifiers."""

    kind = "list"

    def expected(self) -> str:
        return f"a list of 1 to {MOST - 1} methods, each a name or a mapping with name and parameters"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, list | tuple) and 0 < len(value) < MOST and all(map(_is_candidate, value))


def _is_candidate(value: Any) -> bool:
    named = isinstance(value, Mapping) and isinstance(value.get("name"), str)
    return named or (isinstance(value, str) and bool(value)) or hasattr(value, "fit")


def named(candidate: str | Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the name and the parameters of a candidate in a config."""
    if isinstance(candidate, str):
        return candidate, {}
    params = {name.replace("-", "_"): value for name, value in candidate.items() if name != "name"}
    return candidate["name"], params
