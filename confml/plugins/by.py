"""Parameters of conformal prediction: `By`, groups in which p-values are valid, and `Candidates`."""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from confml.plugins.parameters import Parameter

PREDICTED, LABEL = "predicted", "label"
BEST_OF = "conformal__best_of"  # parameter of methods in a config
MOST = 10  # candidates, the method itself included
BY_KEYS = ("by", "conformal__by")  # parameters of methods in a config


class Part(NamedTuple):
    """One part of a division: a column, `PREDICTED` or `LABEL`. bins: a number, cuts, or None for values."""

    name: Any
    bins: int | tuple[float, ...] | None = None


@dataclass(frozen=True)
class By(Parameter):
    """Declaration of ``by``."""

    kind = "str, dict, list"

    def expected(self) -> str:
        combined = f"{PREDICTED} or {LABEL}, {{column: bins}} or {{column: [cuts]}}, a list of them for their"
        return f"a column, {combined} combinations, or a list of lists for several divisions"

    def accepts(self, value: Any) -> bool:
        try:
            return bool(divisions_in(value))
        except (TypeError, ValueError):
            return False


@dataclass(frozen=True)
class ColumnNames(Parameter):
    """Declaration of ``by_columns``: pairs of a name and the texts of its codes, or None for numbers."""

    kind = "list"

    def expected(self) -> str:
        return "pairs of a name and texts or null"

    def accepts(self, value: Any) -> bool:
        return _is_list(value) and all(_is_list(pair) and len(pair) == 2 for pair in value)


def divisions_in(by: Any) -> tuple[tuple[Part, ...], ...]:
    """Return the parts of each division of a value of ``by``; ValueError if it is none."""
    several = _is_list(by) and bool(by) and all(map(_is_list, by))
    divisions = []
    for division in by if several else [by]:
        divisions.append(tuple(map(_part, division if _is_list(division) else [division])))
        if not 0 < len(divisions[-1]) == len({part.name for part in divisions[-1]}):
            raise ValueError("a division needs at least one part, and each part once")
    if len(set(divisions)) < len(divisions):
        raise ValueError("a division is listed twice")
    return tuple(divisions)


def _part(item: Any) -> Part:
    """Return the part that a name or {name: bins} stands for; ValueError for any other value."""
    if _is_name(item) and item != "":
        return Part(item)
    ((name, bins),) = item.items() if isinstance(item, Mapping) else [("", item)]
    if name in (PREDICTED, LABEL, "") or not _is_name(name):
        raise ValueError(f"{item!r} is not a part of a division, or has no bins")
    if _is_list(bins):
        cuts = tuple(map(float, bins))
        if not cuts or not all(low < high for low, high in itertools.pairwise(cuts)):
            raise ValueError("cuts ascend")
        return Part(name, cuts)
    if not isinstance(bins, int) or isinstance(bins, bool) or bins < 2:
        raise ValueError("at least two bins")
    return Part(name, bins)


def _is_name(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def names_in(values: Iterable[Any]) -> list[Any]:
    """Return the columns that values of ``by`` name, in order, without repetitions."""
    names = (
        part.name for by in values if by is not None for division in divisions_in(by) for part in division
    )
    return [name for name in dict.fromkeys(names) if name not in (PREDICTED, LABEL)]


def guarantees_labels(by: Any) -> bool:
    """Return whether a division of ``by`` contains the label, so that p-values are valid for each class."""
    return by is not None and any(part.name == LABEL for parts in divisions_in(by) for part in parts)


# ---- best-of


class Candidates(Parameter):
    """Declaration of ``best_of``: names of methods, mappings with ``name`` and parameters, or classifiers."""

    kind = "list"

    def expected(self) -> str:
        return f"a list of 1 to {MOST - 1} methods, each a name or a mapping with name and parameters"

    def accepts(self, value: Any) -> bool:
        return _is_list(value) and 0 < len(value) < MOST and all(map(self._is_one, value))

    @staticmethod
    def _is_one(value: Any) -> bool:
        name = value.get("name") if isinstance(value, Mapping) else value
        return (isinstance(name, str) and name != "") or hasattr(value, "fit")


def named(candidate: str | Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the name and the parameters of a candidate in a config."""
    if isinstance(candidate, str):
        return candidate, {}
    params = {name.replace("-", "_"): value for name, value in candidate.items() if name != "name"}
    return candidate["name"], params
