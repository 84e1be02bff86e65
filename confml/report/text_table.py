"""Tables as plain text that fits a terminal without shortening a name.

The tables of rich fit a terminal by folding or cutting words; these are divided into blocks of columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

GAP = "  "


def plain_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[Any]],
    numeric: Sequence[bool],
    title: str = "",
    width: int | None = None,
    keys: int | None = None,
) -> str:
    """Return a table as plain text, followed by an empty line.

    width: largest number of characters per line, None for no limit. In a table that is wider, texts and
    headings are broken at blanks, and if that is not enough, the columns are divided into blocks, each with
    the first ``keys`` columns, by default the text columns on the left. A line is longer than ``width`` only
    if its words are.
    """
    cells = [[str(value) for value in row] for row in rows]
    if width is None or text_width(headings, cells) <= width:
        return _lines_of([list(headings)], cells, numeric, title)
    if keys is None:
        keys = next((place for place, one in enumerate(numeric) if one), len(numeric))
    limits = _limits(headings, cells, keys, width)
    parts = []
    for number, columns in enumerate(_blocks(limits, keys, width)):
        own = [limits[place] for place in columns]
        head = _wrapped([headings[place] for place in columns], own)
        body = [line for row in cells for line in _wrapped([row[place] for place in columns], own)]
        parts.append(_lines_of(head, body, [numeric[place] for place in columns], "" if number else title))
    return "".join(parts)


def text_width(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Return the width of a table whose texts are not broken."""
    widest = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    return sum(widest) + len(GAP) * max(len(widest) - 1, 0)


def _limits(headings: Sequence[str], rows: Sequence[Sequence[str]], keys: int, width: int) -> list[int]:
    """Return the width of each column.

    Columns of numbers are as wide as their numbers and the longest word of the heading. Text columns have the
    rest, at least half of ``width`` if they need it; the widest is narrowed first, and none below its longest
    word.
    """
    numbers = [
        max([_longest_word(headings[place]), *(len(row[place]) for row in rows)])
        for place in range(keys, len(headings))
    ]
    table = [headings, *rows]
    full = [max(len(row[place]) for row in table) for place in range(keys)]
    least = [max(_longest_word(row[place]) + _indent(row[place]) for row in table) for place in range(keys)]
    room = width - sum(numbers) - len(GAP) * (len(headings) - 1)
    room = max(room, width // 2)
    while sum(full) > room and any(now > low for now, low in zip(full, least, strict=True)):
        widest = max((now, place) for place, now in enumerate(full) if now > least[place])[1]
        full[widest] -= 1
    return [*full, *numbers]


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _longest_word(text: str) -> int:
    return max(map(len, text.split()), default=0)


def _blocks(limits: Sequence[int], keys: int, width: int) -> list[list[int]]:
    """Return the columns of each block, the text columns on the left included."""
    names = list(range(keys))
    left = sum(limits[:keys]) + len(GAP) * max(keys - 1, 0)
    blocks: list[list[int]] = []
    used = 0
    for place in range(keys, len(limits)):
        need = len(GAP) + limits[place]
        if not blocks or used + need > width:
            blocks.append(list(names))
            used = left
        blocks[-1].append(place)
        used += need
    return blocks or [names]


def _wrapped(row: Sequence[str], limits: Sequence[int]) -> list[list[str]]:
    """Return the lines of one row, with texts broken at blanks."""
    parts = [_broken(cell, limit) for cell, limit in zip(row, limits, strict=True)]
    height = max(map(len, parts), default=1)
    return [[part[line] if line < len(part) else "" for part in parts] for line in range(height)]


def _broken(text: str, limit: int) -> list[str]:
    if len(text) <= limit:
        return [text]  # with the blanks in it
    indent = " " * _indent(text)
    lines: list[str] = []
    for word in text.split():
        if lines and len(lines[-1]) + 1 + len(word) <= limit:
            lines[-1] += f" {word}"
        else:
            lines.append(f"{indent}{word}")
    return lines or [""]


def _lines_of(
    headings: Sequence[Sequence[str]], rows: Sequence[Sequence[str]], numeric: Sequence[bool], title: str
) -> str:
    """Return title, lines of headings, a rule and rows as text."""
    widths = [max(map(len, column)) for column in zip(*headings, *rows, strict=True)]
    lines = [title] if title else []
    for cells in (*headings, ["-" * width for width in widths], *rows):
        padded = (
            cell.rjust(width) if to_the_right else cell.ljust(width)
            for cell, width, to_the_right in zip(cells, widths, numeric, strict=True)
        )
        lines.append(GAP.join(padded).rstrip())
    return "\n".join(lines) + "\n\n"
