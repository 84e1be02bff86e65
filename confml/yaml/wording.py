"""Messages about invalid YAML, because those of PyYAML name tokens of its scanner and no remedy."""

import math
import re
from typing import Any

import yaml

_QUOTES_HINT = "put a value that contains ': ' in quotes"
_INDENT_HINT = "lines that belong together begin in the same column"


UNKNOWN_ESCAPE = (
    "unknown escape: in double quotes a backslash begins an escape",
    "use single quotes, where a backslash is an ordinary character",
)
_START = yaml.Mark("", 0, 0, 0, "", 0)
# Part of the message or context of PyYAML -> message and remedy.
_PLAIN_ERRORS: tuple[tuple[str, tuple[str, str | None]], ...] = (
    ("unknown escape", UNKNOWN_ESCAPE),
    ("hexdecimal", UNKNOWN_ESCAPE),
    ("sequence entries are not allowed", ("a list item '- ' must begin a new line", None)),
    ("anchor", ("no such anchor (&) for this alias (*)", "put text that begins with * or & in quotes")),
    ("alias", ("no such anchor (&) for this alias (*)", "put text that begins with * or & in quotes")),
    ("single document", ("a second document begins here ('---')", "write one document per file")),
    ("tag", ("text that begins with ! must be in quotes", None)),
)


def explain(error: yaml.MarkedYAMLError, text: str) -> tuple[yaml.Mark, str, str | None]:
    """Return (mark, message, hint) for an error of PyYAML's scanner, parser or composer."""
    problem, context = error.problem or "", error.context or ""
    mark = error.problem_mark or error.context_mark or _START
    opened = error.context_mark or mark
    lines = [*text.splitlines(), ""]
    line = lines[min(mark.line, len(lines) - 1)]
    ahead, rest = line[: mark.column], line[mark.column :].strip()

    if "found character" in problem:
        return mark, *_bad_start(line[mark.column : mark.column + 1], ahead)
    if "mapping values are not allowed" in problem:
        if ": " in ahead or ahead.rstrip().endswith(":"):
            return mark, "a second ':' in one line", _QUOTES_HINT
        start = yaml.Mark("", 0, mark.line, len(ahead) - len(ahead.lstrip()), "", 0)
        return start, "this line is indented below one whose key already has a value", _INDENT_HINT
    if "could not find expected ':'" in problem:
        words = lines[min(opened.line, len(lines) - 1)][opened.column :].strip()
        hint = "put a space after ':'" if re.match(r"[\w-]+:\S", words) else None
        return opened, f"expected 'key: value', got {_short(words)}", hint
    if "quoted scalar" in context and "escape" not in problem and "hexdecimal" not in problem:
        return opened, "the quote that opens here is never closed", None
    if "flow sequence" in context or "flow mapping" in context:
        bracket, close = "[]" if "sequence" in context else "{}"
        if mark.line == opened.line and rest:
            return mark, f"expected ',' or '{close}', got {_short(rest[0])}", _QUOTES_HINT
        return opened, f"the '{bracket}' that opens here is not closed by '{close}'", None
    if "expected <block end>" in problem and not ahead.strip():
        message = f"this line begins in column {mark.column + 1}, which fits none of the lines above"
        return mark, message, _INDENT_HINT
    if "expected <block end>" in problem:
        return mark, f"unexpected {_short(rest)} after the value", "put the whole value in quotes"
    if "expected the node content" in problem:
        return mark, f"expected a value, got {_short(rest) if rest else 'nothing'}", None
    for part, (message, hint) in _PLAIN_ERRORS:
        if part in problem or part in context:
            return mark, message, hint
    return mark, f"this is not YAML: {problem or context}", None


def got(value: Any) -> str:
    """Return a value as messages show it: as YAML, shortened."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else (".inf" if value > 0 else "-.inf")
    if isinstance(value, int | float):
        return _cut(repr(value))
    if isinstance(value, str):
        return _short(value)
    if isinstance(value, dict | list | tuple):
        kind = "mapping" if isinstance(value, dict) else "list"
        text = flow(value) if value else ""
        return text if 0 < len(text) <= 40 else f"a {kind}" if value else f"an empty {kind}"
    return f"a value of type {type(value).__name__}"


def flow(value: Any) -> str:
    """Return a plain value as YAML on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, str) and re.fullmatch(r"[A-Za-z_][\w./+-]*", value):
        return value
    return "null" if value is None else got(value)


def _bad_start(letter: str, ahead: str) -> tuple[str, str | None]:
    if letter == "\t":
        if not ahead.strip():
            return "a tab where lines are indented", "indent with spaces"
        return "a tab", "use spaces"
    return f"a value cannot begin with {letter!r}", "put it in quotes"


def _short(text: str) -> str:
    return "'" + _cut(text) + "'"


def _cut(text: str, most: int = 40) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
