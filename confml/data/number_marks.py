"""Numbers with thousands separators, percent signs and currency signs."""

import re
from collections.abc import Iterable, Sequence
from functools import cache

from confml.data._words import is_missing

CURRENCIES = ("$", "€", "£", "¥", "₹", "USD", "EUR", "GBP", "CHF", "JPY")
SEPARATORS = (",", ".", "'", "’", " ", "\u00a0", "\u202f")  # between thousands
_NAMES = {"%": "percent signs", ",": "commas", ".": "points", "'": "apostrophes", "’": "apostrophes"}
Marks = tuple[str, ...]


@cache
def _pattern(decimal: str) -> re.Pattern[str]:
    between = "".join(re.escape(mark) for mark in SEPARATORS if mark != decimal)
    d, money = re.escape(decimal), "|".join(map(re.escape, CURRENCIES))
    return re.compile(
        rf"(?P<minus>[+-]?)\s*(?P<before>{money})?\s*(?P<sign>[+-]?)"
        rf"(?P<number>(?:[1-9]\d{{0,2}}(?P<between>[{between}])\d{{3}}(?:(?P=between)\d{{3}})*|\d+)(?:{d}\d*)?|{d}\d+)"
        rf"\s*(?P<after>%|{money})?"
    )


def _parts(text: str, decimal: str) -> tuple[str, Marks] | None:
    """Return a number without its marks, and the marks; None for a text that is no number."""
    found = _pattern(decimal).fullmatch(text)
    if found is None or (found["minus"] and found["sign"]) or (found["before"] and found["after"]):
        return None
    between = found["between"]
    number = found["number"] if between is None else found["number"].replace(between, "")
    marks = tuple(mark for mark in (found["before"], found["after"], between) if mark)
    return found["minus"] + found["sign"] + number.replace(decimal, "."), marks


def marks_of(texts: Iterable[str], decimal: str) -> Marks | None:
    """Return the marks of a column: at most one sign and one thousands separator.

    None if a text is no number, if two signs or separators occur, or if a percent sign stands at some numbers
    only.
    """
    found: set[str] = set()
    whole: list[Marks] = []
    for text in texts:
        if is_missing(text):
            continue
        parts = _parts(text, decimal)
        if parts is None:
            return None
        found.update(parts[1])
        whole.append(parts[1])
    signs = [mark for mark in found if mark not in SEPARATORS]
    if len(signs) > 1 or len(found) - len(signs) > 1:
        return None
    if "%" in found and not all("%" in marks for marks in whole):
        return None
    return tuple(sorted(found))


def is_ambiguous(texts: Iterable[str], marks: Marks, decimal: str) -> bool:
    """Return whether commas between thousands may be decimal commas: 5,074 without other evidence.

    Evidence is a number with two commas or with a decimal point, or a number below 1000 without a comma
    unless a longer number has none either.
    """
    if "," not in marks or decimal != ".":
        return False
    there = {text for text in texts if not is_missing(text)}
    if any("." in text or text.count(",") > 1 for text in there):
        return False
    lengths = [sum(map(str.isdigit, text)) for text in there if "," not in text]
    return not lengths or max(lengths) > 3


def has_point_decimals(texts: Iterable[str]) -> bool:
    """Return whether a text is a number with a decimal point that separates no thousands."""
    return any(re.fullmatch(r"[+-]?(\d*\.(\d{1,2}|\d{4,})|\d{4,}\.\d+|0\.\d+)", text) for text in texts)


def without_marks(texts: Sequence[str], marks: Marks, decimal: str) -> list[str]:
    """Return numbers without these marks, with a decimal point replaced by ``decimal``; others unchanged."""
    allowed = set(marks)
    plain = []
    for text in texts:
        parts = _parts(text, decimal)
        fits = parts is not None and set(parts[1]) <= allowed
        plain.append(parts[0].replace(".", decimal) if parts is not None and fits else text)
    return plain


def marks_in_words(marks: Marks) -> str:
    """Return ``commas between thousands and $``."""
    words = [
        f"{_NAMES.get(mark, 'blanks')} between thousands" if mark in SEPARATORS else _NAMES.get(mark, mark)
        for mark in marks
    ]
    return " and ".join(words)
