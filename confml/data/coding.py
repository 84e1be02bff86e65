"""Coding of nominal attributes: from a table with category codes to the columns that methods compute with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

CODINGS = ("dummy", "dummy-drop-first", "integer")


def sort_categories(texts: Iterable[str]) -> tuple[str, ...]:
    """Categories in their order: by value if all are whole numbers, else by their characters."""
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
    """The columns of X, and their names.

    table: (n, a) numbers, and for a nominal attribute places in its ``categories`` (None: numeric).
    coding: ``dummy`` makes one 0/1 column a category, called ``colour=red``; ``dummy-drop-first`` leaves
        out the first of each attribute (full rank beside an intercept); ``integer`` keeps the place.
    Returns (n, d) float64 and d names. A missing value (NaN) is NaN in all columns of its attribute.
    """
    if coding not in CODINGS:
        raise ValueError(f"coding is one of {', '.join(CODINGS)}, got {coding!r}")
    if coding == "integer" or all(known is None for known in categories):
        return table, tuple(names)
    skipped = 1 if coding == "dummy-drop-first" else 0
    widths = [1 if known is None else len(known) - skipped for known in categories]
    X = np.zeros((len(table), sum(widths)))
    columns: list[str] = []
    rows = np.arange(len(table))
    for j, (name, known) in enumerate(zip(names, categories, strict=True)):
        start, values = len(columns), table[:, j]
        if known is None:
            X[:, start] = values
            columns.append(name)
            continue
        columns += [f"{name}={category}" for category in known[skipped:]]
        there = ~np.isnan(values)
        places = np.where(there, values, 0).astype(np.intp) - skipped
        coded = there & (places >= 0)
        X[rows[coded], start + places[coded]] = 1.0
        X[~there, start : len(columns)] = np.nan
    return X, tuple(columns)
