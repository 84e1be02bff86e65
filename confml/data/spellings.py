"""Categories and labels that are spelled in another way: 1.0 for 1, YES for yes."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from confml.data._words import is_missing, quoted
from confml.errors import DataError

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]*)?")  # 02 and +2 may be codes


def spelled_as(texts: Sequence[str], known: Collection[str]) -> list[str]:
    """Return the texts, with a number that is unknown in its form replaced by the known text of its value."""
    known = set(known)
    if known.issuperset(texts):
        return list(texts)
    by_value: dict[float, str | None] = {}
    for text in known:
        if _NUMBER.fullmatch(text):
            by_value[float(text)] = None if float(text) in by_value else text
    unknown = [text for text in {*texts} - known if _NUMBER.fullmatch(text)]
    new = {text: by_value.get(float(text)) or text for text in unknown}
    return [new.get(text, text) for text in texts]


def check_spelling(texts: Sequence[str], known: Collection[str], column: str, where: str) -> None:
    """Raise DataError if no text is known, and one differs from a known one in case or blanks only."""
    there = {text for text in texts if not is_missing(text)}
    if not there or not there.isdisjoint(known):
        return
    folded = {_folded(text): text for text in known}
    pairs = [(text, folded[_folded(text)]) for text in sorted(there) if _folded(text) in folded]
    if pairs:
        raise DataError(
            f"no value of column '{column}' is known from the training rows: here {quoted(sorted(there))}, "
            f"there {quoted(known)}",
            where=where,
            hint=f"use one spelling, such as '{pairs[0][1]}' for '{pairs[0][0]}'",
        )


def _folded(text: str) -> str:
    return "".join(text.casefold().split())
