"""Coding of nominal attributes: categories, their spellings, and the columns that methods compute with."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from confml.data._words import is_missing, quoted
from confml.errors import DataError

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
    Returns (n, d) float64 and d names. A missing value (NaN) is NaN in all columns of its attribute. Raises
    ValueError for another coding.
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


_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]*)?")  # 02 and +2 may be codes


def codes_of(categories: Sequence[str]) -> dict[str, float]:
    """Return the code of each category of a column."""
    return {text: float(code) for code, text in enumerate(categories)}


def category_codes(
    texts: Sequence[str], codes: Mapping[str, float], column: str, where: str
) -> tuple[list[str], np.ndarray]:
    """Return `spelled_as`, and the codes (n,): NaN of a missing value, -1 of a category without a code."""
    texts = spelled_as(texts, codes, column, where)
    return texts, np.array([codes.get(text, np.nan if is_missing(text) else -1.0) for text in texts])


def spelled_as(texts: Sequence[str], known: Collection[str], column: str, where: str) -> list[str]:
    """Return the texts, with a number that is unknown in its form replaced by the known text of its value.

    Raises DataError if no text is known, and one differs from a known one in case or blanks only. column,
    where: name of the column and of the file, for the message.
    """
    found, distinct = list(texts), set(known)
    if distinct.issuperset(found):
        return found
    by_value: dict[float, str | None] = {}
    for text in known:
        if _NUMBER.fullmatch(text):
            by_value[float(text)] = None if float(text) in by_value else text
    unknown = [text for text in {*found} - distinct if _NUMBER.fullmatch(text)]
    new = {text: by_value.get(float(text)) or text for text in unknown}
    found = [new.get(text, text) for text in found]
    there = {text for text in found if not is_missing(text)}
    if not there or not there.isdisjoint(distinct):
        return found
    folded = {_folded(text): text for text in known}
    pairs = [(text, folded[_folded(text)]) for text in sorted(there) if _folded(text) in folded]
    if pairs:
        raise DataError(
            f"no value of column '{column}' is known from the training rows: here {quoted(sorted(there))}, "
            f"there {quoted(known)}",
            where=where,
            hint=f"use one spelling, such as '{pairs[0][1]}' for '{pairs[0][0]}'",
        )
    return found


def _folded(text: str) -> str:
    return "".join(text.casefold().split())
