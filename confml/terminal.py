"""Output on terminals and pipes of any width and encoding."""

import sys
import time
from typing import IO, Any

from confml.errors import printable


def width_of(stream: IO[str]) -> int | None:
    """Return the number of columns of a terminal; None for a pipe or a file, which has no width."""
    if not stream.isatty():
        return None
    import shutil

    return shutil.get_terminal_size().columns


def folded(line: str, width: int | None) -> list[str]:
    """Return a line in parts of at most ``width`` characters, broken at blanks; paths are not broken, nor
    is ``file:line:column``.

    The parts after the first are indented: to the second column, where two or more blanks precede it.
    """
    if width is None or len(line) <= width:
        return [line]
    import re
    import textwrap

    column = re.match(r"\s*\S+(?: \S+)*\s{2,}(?=\S)", line)
    indent = len(column[0]) if column and len(column[0]) <= width // 2 else len(line) - len(line.lstrip()) + 2
    location = re.match(r".*?:\d+:\d+:", line)  # file:line:column, where a name may have blanks
    if location:
        line = location[0].replace(" ", "\0") + line[location.end() :]
    further = " " * indent
    parts = textwrap.wrap(
        line, width, subsequent_indent=further, break_long_words=False, break_on_hyphens=False
    )
    return [part.replace("\0", " ") for part in parts]


def echo(text: str = "", *, err: bool = False) -> None:
    """Print a text on stdout or stderr, folded to the width of a terminal.

    A line at the margin that is too long continues in the next one, as in the paragraphs of a docstring.
    """
    stream, lines = sys.stderr if err else sys.stdout, [""]
    if width := width_of(stream):
        for line in text.split("\n"):
            continued = line[:1].strip() and not lines[-1][:1].isspace() and len(lines[-1]) > max(80, width)
            lines = [*lines[:-1], f"{lines[-1]} {line}"] if continued else [*lines, line]
        text = "\n".join(part for line in lines[1:] for part in folded(line, width))
    stream.write(f"{text}\n")
    stream.flush()


def escape_controls(stream: Any) -> None:
    """Let a text stream escape the control characters of everything that is written to it (`printable`)."""
    if not hasattr(stream, "escapes_controls"):
        write, stream.escapes_controls = stream.write, True
        stream.write = lambda text: write(printable(text) if isinstance(text, str) else text)


class StatusLine:
    """Line on stderr with the present work of a command: replaced on a terminal, repeated at times in a log.

    seconds: between two lines of a log; the first is printed after this time.
    """

    def __init__(self, seconds: float = 30.0):
        self._stream, self._seconds = sys.stderr, seconds
        self._terminal = sys.stderr.isatty()
        self._last = 0.0 if self._terminal else time.monotonic()

    def __call__(self, text: str) -> None:
        now = time.monotonic()
        if now - self._last < (0.1 if self._terminal else self._seconds):
            return
        self._last = now
        if self._terminal:
            width = max((width_of(self._stream) or 80) - 1, 8)
            self._stream.write(f"\r\x1b[K{printable(text)[:width]}")
        else:
            self._stream.write(f"{printable(text)}\n")
        self._stream.flush()

    def clear(self) -> None:
        """Remove the line from a terminal."""
        if self._terminal:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def escape_missing_characters() -> None:
    """Let stdout and stderr escape the characters that their encoding does not have."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
