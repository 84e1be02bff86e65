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

from confml.yaml import got

LARGEST = 100_000
KINDS = {"log2": 1000, "log10": 300, "range": 10**15}
"""Each series with the largest absolute value of its points: beyond 1e15, decimals lose steps of 1."""
EXPECTED = "a list, 'a..b', or one of {range: [a, b, step]}, {log2: [a, b, step]}, {log10: [a, b, step]}"


class GridError(ValueError):
    """A grid that cannot be expanded."""


def expand(grid: Any) -> list[Any]:
    """Return the values of a grid, in order; raise GridError if it is empty or repeats a value."""
    values: list[Any] = []
    for _, part in parts(grid):
        values += part
        _check_length(len(values))
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
    if isinstance(grid, Sequence) and not isinstance(grid, str):
        for index, item in enumerate(grid):
            values = _series(item)
            yield index, [item] if values is None else values
    else:
        values = _series(grid)
        if values is None:
            raise GridError(f"expected {EXPECTED}, got {got(grid)}")
        yield None, values


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


def _check_length(length: int) -> None:
    if length > LARGEST:
        raise GridError(f"a grid of more than {LARGEST:,} values")


def _series(item: Any) -> list[Any] | None:
    """Return the values of ``a..b`` or of a series; None for any other value."""
    if isinstance(item, str):
        text = item.strip()
        if ends := re.fullmatch(r"([-+]?\d{1,18})\.\.([-+]?\d{1,18})", text):
            first, last = map(int, ends.groups())
            _check_length(last - first + 1)
            if first > last:
                raise GridError(f"'{item}' runs backwards: {last}..{first}?")
            return list(range(first, last + 1))
        if re.fullmatch(r"[-+.\deE]*\d\.\.[-+]?[.\deE]+", text):
            raise GridError(f"{got(item)} must have whole numbers around '..', as 1..20")
        return None
    if not isinstance(item, Mapping) or len(item) != 1 or next(iter(item)) not in KINDS:
        return None
    ((kind, ends),) = item.items()
    form = f"{{{kind}: [from, to, step]}}"
    is_list = isinstance(ends, list | tuple) and len(ends) in (2, 3)
    if not is_list or not all(_is_number(number) for number in ends):
        raise GridError(f"expected {form} with two or three numbers, got {got(item)}")
    # Decimal arithmetic gives 0.1, 0.2, 0.3 and not 0.30000000000000004.
    start, stop, step = (Decimal(repr(number)) for number in (*ends, 1)[:3])
    if step == 0 or (stop - start) / step < 0:
        raise GridError(f"{form} has no values: with step {step} there is no way from {start} to {stop}")
    n_points = int((stop - start) / step) + 1
    _check_length(n_points)
    if max(abs(start), abs(stop)) > KINDS[kind]:
        raise GridError(f"{form} has powers beyond {KINDS[kind]}")
    is_whole = isinstance(ends[0], int) and isinstance((*ends, 1)[2], int)
    decimals = [start + step * index for index in range(n_points)]
    points = [int(point) if is_whole else float(point) for point in decimals]
    if kind == "range":
        return points
    base = 2 if kind == "log2" else 10
    # 1e-5 is correctly rounded, 10.0**-5 is not.
    powers = [float(f"1e{int(p)}") if base == 10 and p == int(p) else float(base) ** p for p in points]
    return [base**p for p in points] if is_whole and min(points) >= 0 else powers


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= 10**15
