"""Parameters of conformal prediction: `By`, groups in which p-values are valid, and `Candidates`."""

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
        return (
            f"a column, {PREDICTED} or {LABEL}, {{column: bins}} or {{column: [cuts]}}, a list of them for "
            "their combinations, or a list of lists for several divisions"
        )

    def accepts(self, value: Any) -> bool:
        try:
            divisions_in(value)
        except ValueError:
            return False
        return True


@dataclass(frozen=True)
class ColumnNames(Parameter):
    """Declaration of ``by_columns``: pairs of a name and the texts of its codes, or None for numbers."""

    kind = "list"

    def expected(self) -> str:
        return "pairs of a name and texts or null"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, list | tuple) and all(
            isinstance(one, list | tuple) and len(one) == 2 for one in value
        )


def divisions_in(by: Any) -> tuple[tuple[Part, ...], ...]:
    """Return the parts of each division of a value of ``by``; ValueError if it is none."""
    several = isinstance(by, list | tuple) and bool(by) and all(isinstance(one, list | tuple) for one in by)
    divisions = tuple(_division(one) for one in (by if several else [by]))
    if len(set(divisions)) < len(divisions):
        raise ValueError("a division is listed twice")
    return divisions


def _division(value: Any) -> tuple[Part, ...]:
    items = value if isinstance(value, list | tuple) else [value]
    parts = tuple(_part(item) for item in items)
    if not parts or len({part.name for part in parts}) < len(parts):
        raise ValueError("a division has different parts, and at least one")
    return parts


def _part(item: Any) -> Part:
    if isinstance(item, str | int) and not isinstance(item, bool) and item != "":
        return Part(item)
    if not (isinstance(item, Mapping) and len(item) == 1):
        raise ValueError(f"{item!r} is no part of a division")
    ((name, bins),) = item.items()
    if name in (PREDICTED, LABEL) or not isinstance(name, str | int):
        raise ValueError(f"{name} has no bins")
    if isinstance(bins, list | tuple):
        cuts = tuple(map(float, bins))
        if not cuts or not all(a < b for a, b in zip(cuts, cuts[1:], strict=False)):
            raise ValueError("cuts ascend")
        return Part(name, cuts)
    if not isinstance(bins, int) or isinstance(bins, bool) or bins < 2:
        raise ValueError("at least two bins")
    return Part(name, bins)


def names_in(values: Iterable[Any]) -> list[Any]:
    """Return the columns that values of ``by`` name, in order, without repetitions."""
    found = (
        part.name for by in values if by is not None for division in divisions_in(by) for part in division
    )
    return [name for name in dict.fromkeys(found) if name not in (PREDICTED, LABEL)]


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
