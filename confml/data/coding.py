"""Coding of nominal attributes: from a table with category codes to the columns that methods compute with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

CODINGS = ("dummy", "dummy-drop-first", "integer")
_BLOCK = 2048  # rows coded at a time, so that they stay in the processor's cache


def sort_categories(texts: Iterable[str]) -> tuple[str, ...]:
    """Return categories in their order: by value if all are whole numbers, else by their characters."""
    distinct = set(texts)
    if all(re.fullmatch(r"[+-]?[0-9]+", text) for text in distinct):
        return tuple(sorted(distinct, key=lambda text: (int(text), text)))
    return tuple(sorted(distinct))


def code_columns(
    table: np.ndarray,
    names: Sequence[str],
    categories: Sequence[Sequence[str] | None],
    coding: str = "dummy",
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the columns of X, and their names.

    table: (n, a) numbers, and for a nominal attribute places in its ``categories`` (None: numeric).
    coding: ``dummy`` makes one 0/1 column a category, called ``colour=red``; ``dummy-drop-first`` leaves
        out the first of each attribute (full rank with an intercept); ``integer`` keeps the place.
    Returns (n, d) float64 and d names. A missing value (NaN) is NaN in all columns of its attribute.
    """
    if coding not in CODINGS:
        raise ValueError(f"coding is one of {', '.join(CODINGS)}, got {coding!r}")
    if coding == "integer" or all(known is None for known in categories):
        return table, tuple(names)
    skipped = 1 if coding == "dummy-drop-first" else 0
    columns: list[str] = []
    starts: list[int] = []
    for name, known in zip(names, categories, strict=True):
        starts.append(len(columns))
        columns += [name] if known is None else [f"{name}={category}" for category in known[skipped:]]
    starts.append(len(columns))
    X = np.zeros((len(table), len(columns)))
    for first in range(0, len(table), _BLOCK):
        block, coded = table[first : first + _BLOCK], X[first : first + _BLOCK]
        for j, known in enumerate(categories):
            values, start = block[:, j], starts[j]
            if known is None:
                coded[:, start] = values
                continue
            missing = np.isnan(values)
            places = np.where(missing, 0, values).astype(np.intp) - skipped
            ones = np.flatnonzero(~missing & (places >= 0))
            coded[ones, start + places[ones]] = 1.0
            coded[missing, start : starts[j + 1]] = np.nan
    return X, tuple(columns)
