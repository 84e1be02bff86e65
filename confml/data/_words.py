"""Words that messages about tables share: lists, lines, counts, and texts cut to a length."""

import itertools
from collections.abc import Iterable, Sequence

_IN_ANY_CASE = (
    *("", "?", "na", "n/a", "nan", "-nan", "+nan", "null"),
    *("<na>", "#na", "#n/a", "#n/a n/a", "#ind", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan"),
)
MISSING = frozenset(
    "".join(letters)
    for text in _IN_ANY_CASE
    for letters in itertools.product(*({letter, letter.upper()} for letter in text))
) | {"None"}  # "none" may be a category
SHOWN = 3  # places that one message names


def is_missing(text: str) -> bool:
    """Return whether a field is a missing value, in every column of every table file and DataFrame."""
    return text in MISSING


def is_number(text: str) -> bool:
    """Return whether a field is a number as Python reads it, without underscores; a missing value is none."""
    if "_" in text or is_missing(text):
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True


def at_lines(lines: Sequence[int], unit: str = "line") -> str:
    """Return ``lines 3, 5, 9 and 2 more``."""
    distinct = sorted(set(lines))
    shown = ", ".join(map(str, distinct[:SHOWN]))
    more = len(distinct) - SHOWN
    return f"{unit}{'s' if len(distinct) > 1 else ''} {shown}" + (f" and {more} more" if more > 0 else "")


def listed(names: Iterable[str], most: int = 5) -> str:
    """Return names separated by commas, the first ``most`` of them."""
    names = list(names)
    shown = ", ".join(short(name, 60) for name in names[:most])
    return shown + (f", ... ({len(names)} in all)" if len(names) > most else "")


def quoted(names: Iterable[str], most: int = 5) -> str:
    """Return `listed`, each name in quotes."""
    return listed((f"'{short(name, 58)}'" for name in names), most)


def short(text: str, most: int = 30) -> str:
    """Return a text on one line, of at most ``most`` characters."""
    text = " ".join(text[: 4 * most].split())
    return text if len(text) <= most else f"{text[: most - 3]}..."


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return ``1 row``, ``2 rows``."""
    return f"{count} {noun}" if count == 1 else f"{count} {plural or noun + 's'}"
