"""`Located`: plain values with their positions in a file, and the errors that are found in them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from confml.errors import ConfigError, ConfigErrors

MOST = 50  # errors that a message lists
Loc = tuple[str | int, ...]


class Mark(NamedTuple):
    """A position: line and column of a file, from 1. Line 0 stands for a whole file or an option.

    rank: order of the sources; the file has 0, and the options of the command line follow in their order.
    """

    rank: int = 0
    line: int = 0
    column: int = 0
    source: str = ""

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}" if self.line else self.source


class Problems:
    """Errors with their marks, all of which are reported together in the order of the file."""

    def __init__(self) -> None:
        self._errors: dict[tuple[Mark, str], ConfigError] = {}
        self.noted = 0  # how often `add` was called

    def add(self, mark: Mark, message: str, hint: str | None = None) -> None:
        """Note an error. The same error at the same position (through an alias) is reported once."""
        self.noted += 1
        without_path = re.sub(r"^[\w.+-]+: ", "", message) if mark.line else message
        self._errors.setdefault((mark, without_path), error_at(mark, message, hint))

    def raise_any(self) -> None:
        """Raise ConfigErrors if there are errors."""
        errors = [self._errors[key] for key in sorted(self._errors, key=lambda key: key[0])]
        if len(errors) > MOST:
            errors[MOST:] = [ConfigError(f"{len(errors) - MOST} more errors are not shown")]
        if errors:
            raise ConfigErrors(errors)


def error_at(mark: Mark, message: str, hint: str | None = None) -> ConfigError:
    """Return an error with its position, on one line: control characters become escapes."""
    where = _visible(str(mark)) or None
    return ConfigError(_visible(message), where=where, hint=hint and _visible(hint))


def _visible(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


@dataclass
class Located:
    """Plain values (dicts, lists, texts, numbers, booleans, None) with their positions.

    mark: of the whole. marks: (that of the key, that of the value) for each path of keys and indexes; a value
    without marks has those of the mapping or list that contains it.
    """

    values: Any
    mark: Mark = Mark()
    marks: dict[Loc, tuple[Mark, Mark]] = field(default_factory=dict)
    problems: Problems = field(default_factory=Problems)

    def find(self, path: Sequence[str | int]) -> tuple[Loc, Loc, Any]:
        """Return the parts of ``path`` that the values have, their path in the values, and the value there.

        Parts that the values do not have are skipped: names of types or fields, and keys that are one level
        deeper in the short form ``{name: {key: value}}``.
        """
        parts, loc, value = Loc(), Loc(), self.values
        for part in path:
            levels = [(), *([tuple(value)] if isinstance(value, dict) and len(value) == 1 else ())]
            for level in levels:
                holder = value[level[0]] if level else value
                key = spelling(holder, part)
                if key is not None:
                    parts, loc, value = (*parts, part), (*loc, *level, key), holder[key]
                    break
        return parts, loc, value

    def mark_of(self, path: Sequence[str | int], *, at_key: bool = False) -> Mark:
        """Return the position of the value (or the key) at the deepest part of ``path`` with one."""
        loc = self.find(path)[1]
        while loc and loc not in self.marks:
            loc = loc[:-1]
        return self.marks.get(loc, (self.mark, self.mark))[0 if at_key else 1]

    def replace_marks(self, loc: Loc, mark: Mark) -> None:
        """Replace the marks of a value, and of all values inside it, by another mark."""
        marks_elsewhere = {path: marks for path, marks in self.marks.items() if path[: len(loc)] != loc}
        self.marks = marks_elsewhere | {loc: (mark, mark)}


def spelling(holder: Any, part: str | int) -> Any:
    """Return the key or index of a mapping or list that ``part`` refers to; None if there is none.

    Parameters may be written with - or with _.
    """
    if isinstance(holder, list):
        return part if isinstance(part, int) and 0 <= part < len(holder) else None
    if not isinstance(holder, dict) or part in holder:
        return part if isinstance(holder, dict) else None
    plain = str(part).replace("-", "_")
    return next((key for key in holder if key.replace("-", "_") == plain), None)
