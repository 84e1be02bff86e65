"""Grids of parameter values of ``sweep:`` and ``tune:``.

k: [1, 3, 5]                  a list, in its order
k: 1..20                      whole numbers from 1 to 20; also inside a list
k: {range: [1, 20, 2]}        1, 3, ..., 19: from, to (inclusive) and step
C: {log2: [-18, 18, 2]}       2 to the powers -18, -16, ..., 18
ridge: {log10: [-3, 3]}       0.001, 0.01, ..., 1000; the step is 1 unless given
"""

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from confml.errors import did_you_mean
from confml.yaml import got

LARGEST = 100_000
KINDS = ("log2", "log10", "range")
EXPECTED = "a list, 'a..b', or one of {range: [a, b, step]}, {log2: [a, b, step]}, {log10: [a, b, step]}"
_LARGEST_POWER = {"log2": 1000, "log10": 300}

_SPAN = re.compile(r"([-+]?\d+)\.\.([-+]?\d+)")
_LIKE_A_SPAN = re.compile(r"[-+.\deE]*\d\.\.[-+]?[.\deE]+")


class GridError(ValueError):
    """A grid that cannot be expanded. expected: whether the message says what a grid must be."""

    def __init__(self, message: str, *, expected: bool = False, hint: str | None = None):
        super().__init__(message)
        self.expected, self.hint = expected, hint


def expand(grid: Any) -> list[Any]:
    """Return the values of a grid, in order; raise GridError if it is empty or repeats a value."""
    values: list[Any] = []
    for _, part in parts(grid):
        values += part
        if len(values) > LARGEST:
            raise GridError(f"a grid of more than {LARGEST:,} values")
    if not values:
        raise GridError("an empty grid: there must be at least one value")
    seen: set[str] = set()
    for value in values:
        if identity(value) in seen:
            raise GridError(f"the grid has {got(value)} twice")
        seen.add(identity(value))
    return values


def parts(grid: Any) -> Iterator[tuple[int | None, list[Any]]]:
    """Iterate over (index in the list of the config, or None; values) for the entries of a grid.

    Raises GridError for another form.
    """
    if isinstance(grid, Mapping):
        yield None, _series(grid)
    elif isinstance(grid, str):
        span = _span(grid)
        if span is None:
            raise GridError(EXPECTED, expected=True)
        yield None, span
    elif isinstance(grid, Sequence):
        for index, item in enumerate(grid):
            if isinstance(item, Mapping) and len(item) == 1 and next(iter(item)) in KINDS:
                yield index, _series(item)
            else:
                span = _span(item) if isinstance(item, str) else None
                yield index, [item] if span is None else span
    else:
        raise GridError(EXPECTED, expected=True)


def product(grids: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return every combination of values; the last grid varies fastest. Without grids: one empty dict."""
    return [dict(zip(grids, values, strict=True)) for values in itertools.product(*grids.values())]


def size(grids: Mapping[str, Sequence[Any]]) -> int:
    """Return the number of combinations."""
    return math.prod(len(values) for values in grids.values())


def identity(value: Any) -> str:
    """Return a text that is equal for equal values: 1 equals 1.0, but not true."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key!r}:{identity(value[key])}" for key in sorted(value, key=str)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(identity, value)) + "]"
    return repr(value)


def _span(text: str) -> list[int] | None:
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        if _LIKE_A_SPAN.fullmatch(text.strip()):
            raise GridError(f"'{text}' must have whole numbers around '..', as 1..20")
        return None
    if max(map(len, found.groups())) > 18:
        raise GridError(f"'{text[:40]}' has numbers that are too large")
    first, last = map(int, found.groups())
    if first > last:
        raise GridError(f"'{text}' runs backwards: {last}..{first}?")
    if last - first >= LARGEST:
        raise GridError(f"a grid of more than {LARGEST:,} values")
    return list(range(first, last + 1))


def _series(grid: Mapping[str, Any]) -> list[Any]:
    if len(grid) != 1 or next(iter(grid)) not in KINDS:
        hint = did_you_mean(next(iter(grid), ""), KINDS, list_all=False)
        raise GridError(EXPECTED, expected=True, hint=hint)
    ((kind, ends),) = grid.items()
    shape = f"{{{kind}: [from, to, step]}}"
    is_list = isinstance(ends, Sequence) and not isinstance(ends, str)
    if not is_list or len(ends) not in (2, 3) or not all(map(_is_number, ends)):
        raise GridError(f"{shape} with two or three numbers", expected=True)
    points = _steps(*ends, shape=shape)
    if kind == "range":
        return points
    if any(abs(point) > _LARGEST_POWER[kind] for point in points):
        raise GridError(f"{shape} has powers beyond {_LARGEST_POWER[kind]}")
    whole = all(isinstance(point, int) and point >= 0 for point in points)
    base = 2 if kind == "log2" else 10
    return [base**point if whole else _power(base, point) for point in points]


def _steps(first: float, last: float, step: float = 1, *, shape: str) -> list[Any]:
    if step == 0:
        raise GridError(f"{shape} has the step 0")
    # Decimal arithmetic gives 0.1, 0.2, 0.3 and not 0.30000000000000004.
    start, stop, each = (Decimal(repr(number)) for number in (first, last, step))
    n_steps = (stop - start) / each
    if n_steps < 0:
        raise GridError(f"{shape} holds nothing: with step {step} there is no way from {first} to {last}")
    if n_steps >= LARGEST:
        raise GridError(f"a grid of more than {LARGEST:,} values")
    points = [start + each * index for index in range(int(n_steps) + 1)]
    whole = all(isinstance(number, int) for number in (first, step))
    return [int(point) if whole else float(point) for point in points]


def _power(base: int, exponent: float) -> float:
    if base == 10 and float(exponent).is_integer():
        return float(f"1e{int(exponent)}")  # correctly rounded, unlike 10.0**exponent
    return float(base) ** exponent


def _is_number(value: Any) -> bool:
    # Beyond 1e15 the conversion to and from decimals loses steps of 1.
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and abs(value) <= 1e15
    )
