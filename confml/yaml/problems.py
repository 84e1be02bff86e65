"""`Problems`: all mistakes of a document in its order, because PyYAML and pydantic stop or lack places."""

import re
from dataclasses import dataclass

from confml.errors import ConfigError, ConfigErrors

_PATH = re.compile(r"^[\w.+-]+: ")


@dataclass(frozen=True, order=True)
class Mark:
    """A place: line and column of a file, from 1. Line 0 stands for a whole file or an option.

    rank: order of the sources; the file has 0, and the options of the command line follow in their order.
    """

    rank: int = 0
    line: int = 0
    column: int = 0
    source: str = ""

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}" if self.line else self.source


MOST = 50  # errors that a message lists


class Problems:
    """Mistakes with their marks and hints."""

    def __init__(self) -> None:
        self._found: list[tuple[Mark, str, str | None]] = []
        self.noted = 0  # how often `add` was called
        self._seen: set[tuple[Mark, str]] = set()

    def add(self, mark: Mark, message: str, hint: str | None = None) -> None:
        """Note a mistake. The same mistake at the same place (through an alias) is reported once."""
        self.noted += 1
        message, hint = _visible(message), hint and _visible(hint)
        identity = (mark, _PATH.sub("", message) if mark.line else message)
        if identity not in self._seen:
            self._seen.add(identity)
            self._found.append((mark, message, hint))

    def stop(self, mark: Mark, message: str, hint: str | None = None) -> ConfigErrors:
        """Note a last mistake and return the exception to raise, where nothing more can be read."""
        self.add(mark, message, hint)
        return self.error()

    def error(self) -> ConfigErrors:
        """Return all mistakes as one exception, in the order of the file."""
        found = sorted(self._found, key=lambda problem: problem[0])
        errors = [
            ConfigError(message, where=_visible(str(mark)) or None, hint=hint)
            for mark, message, hint in found[:MOST]
        ]
        if len(found) > MOST:
            errors.append(ConfigError(f"{len(found) - MOST} more errors are not shown"))
        return ConfigErrors(errors)

    def raise_any(self) -> None:
        if self._found:
            raise self.error()


def _visible(text: str) -> str:
    """Return text on one line: line ends and control characters become escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
