"""`Problems`: all mistakes of a document in its order, because PyYAML and pydantic stop or lack places."""

import re
from dataclasses import dataclass

from confml.errors import ConfigError, ConfigErrors

MOST = 50  # errors that a message lists


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


class Problems:
    """Mistakes with their marks and hints."""

    def __init__(self) -> None:
        self._errors: dict[tuple[Mark, str], ConfigError] = {}
        self.noted = 0  # how often `add` was called

    def add(self, mark: Mark, message: str, hint: str | None = None) -> None:
        """Note a mistake. The same mistake at the same place (through an alias) is reported once."""
        self.noted += 1
        message, where = _visible(message), _visible(str(mark)) or None
        without_path = re.sub(r"^[\w.+-]+: ", "", message) if mark.line else message
        error = ConfigError(message, where=where, hint=hint and _visible(hint))
        self._errors.setdefault((mark, without_path), error)

    def stop(self, mark: Mark, message: str, hint: str | None = None) -> ConfigErrors:
        """Note a last mistake and return the exception to raise, where nothing more can be read."""
        self.add(mark, message, hint)
        return self.error()

    def error(self) -> ConfigErrors:
        """Return all mistakes as one exception, in the order of the file."""
        errors = [self._errors[key] for key in sorted(self._errors, key=lambda key: key[0])]
        if len(errors) > MOST:
            errors[MOST:] = [ConfigError(f"{len(errors) - MOST} more errors are not shown")]
        return ConfigErrors(errors)

    def raise_any(self) -> None:
        if self._errors:
            raise self.error()


def _visible(text: str) -> str:
    """Return text on one line: line ends and control characters become escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
