"""`Problems`: all that is wrong with one config, gathered, then raised at once in the order of the file."""

from __future__ import annotations

import re
from dataclasses import dataclass

from confml.errors import ConfigError, ConfigErrors

_PATH = re.compile(r"^[\w.+-]+: ")


@dataclass(frozen=True, order=True)
class Mark:
    """A place: line and column, from 1, of a file; or, with line 0, all of a file or an option.

    rank sorts: the file is 0, the options of the command line follow in their order.
    """

    rank: int = 0
    line: int = 0
    column: int = 0
    source: str = ""

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}" if self.line else self.source


class Problems:
    """Mistakes with their marks and hints."""

    def __init__(self):
        self._found: list[tuple[Mark, str, str | None]] = []
        self.noted = 0  # how often `add` was called
        self._seen: set[tuple[Mark, str]] = set()

    def add(self, mark: Mark, message: str, hint: str | None = None) -> None:
        """Note a mistake. The same one at the same place, which an alias can lead to twice, counts once."""
        self.noted += 1
        message, hint = _visible(message), hint and _visible(hint)
        identity = (mark, _PATH.sub("", message) if mark.line else message)
        if identity not in self._seen:
            self._seen.add(identity)
            self._found.append((mark, message, hint))

    def stop(self, mark: Mark, message: str, hint: str | None = None) -> ConfigErrors:
        """To be raised where nothing more can be read: a mistake, and those noted before it."""
        self.add(mark, message, hint)
        return self.error()

    def error(self) -> ConfigErrors:
        """All of them, in the order of the file."""
        found = sorted(self._found, key=lambda problem: problem[0])
        return ConfigErrors(
            [
                ConfigError(message, where=_visible(str(mark)) or None, hint=hint)
                for mark, message, hint in found
            ]
        )

    def raise_any(self) -> None:
        if self._found:
            raise self.error()


def _visible(text: str) -> str:
    """Text on one line, whatever it quotes: line ends and control characters as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
