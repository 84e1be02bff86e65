"""`Problems`: all that is wrong with one config, gathered, then raised at once in the order of the file."""

from __future__ import annotations

from dataclasses import dataclass

from confml.errors import ConfigError, ConfigErrors


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
    def __init__(self):
        self._found: list[tuple[Mark, str, str | None]] = []

    def __len__(self) -> int:
        return len(self._found)

    def add(self, mark: Mark, message: str, hint: str | None = None) -> None:
        """Note a mistake. The same one at the same place, which an alias can lead to twice, counts once."""
        if (mark, message, hint) not in self._found:
            self._found.append((mark, message, hint))

    def stop(self, mark: Mark, message: str, hint: str | None = None) -> ConfigErrors:
        """To be raised where nothing more can be read: a mistake, and those noted before it."""
        self.add(mark, message, hint)
        return self.error()

    def error(self) -> ConfigErrors:
        """All of them, in the order of the file."""
        found = sorted(self._found, key=lambda problem: problem[0])
        return ConfigErrors(
            [ConfigError(message, where=str(mark) or None, hint=hint) for mark, message, hint in found]
        )

    def raise_any(self) -> None:
        if self._found:
            raise self.error()
