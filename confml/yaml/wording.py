"""Messages about invalid YAML, because those of PyYAML name tokens of its scanner and no remedy."""

import math
import re
from dataclasses import dataclass
from typing import Any

import yaml

_QUOTES_HINT = "put a value that contains ': ' in quotes"
_INDENT_HINT = "lines that belong together begin in the same column"


@dataclass(frozen=True)
class Place:
    """A line and a column of YAML text, from 0 as in PyYAML's marks."""

    line: int
    column: int

    @classmethod
    def of(cls, mark: yaml.Mark | None) -> "Place":
        """Return the place of a mark of PyYAML; the beginning of the text where an error has no mark."""
        return cls(0, 0) if mark is None else cls(mark.line, mark.column)

    @classmethod
    def at(cls, text: str, position: int) -> "Place":
        """Return the place of the character with this number, from 0."""
        before = text[:position]
        return cls(before.count("\n"), position - (before.rfind("\n") + 1))


def explain(error: yaml.MarkedYAMLError, text: str) -> tuple[Place, str, str | None]:
    """Return (place, message, hint) for an error of PyYAML's scanner, parser or composer."""
    problem, context = error.problem or "", error.context or ""
    mark, opened = Place.of(error.problem_mark or error.context_mark), Place.of(error.context_mark)
    lines = text.splitlines() or [""]
    line = lines[mark.line] if mark.line < len(lines) else ""
    ahead = line[: mark.column]

    if "found character" in problem:
        return (mark, *_bad_start(line[mark.column : mark.column + 1], ahead))
    if "mapping values are not allowed" in problem:
        return _second_colon(mark, ahead, lines)
    if "could not find expected ':'" in problem:
        words = _line(lines, opened.line)[opened.column :].strip()
        missing = re.match(r"[\w-]+:\S", words)
        hint = "put a space after ':'" if missing else None
        return opened, f"expected 'key: value', got {_short(words)}", hint
    if "quoted scalar" in context and "unknown escape" not in problem and "hexdecimal" not in problem:
        return opened, "the quote that opens here is never closed", None
    if "unknown escape" in problem or "hexdecimal" in problem:
        hint = "use single quotes, where a backslash is an ordinary character"
        return mark, "unknown escape: in double quotes a backslash begins an escape", hint
    if "flow sequence" in context or "flow mapping" in context:
        return _unclosed(mark, opened, context, lines)
    if "expected <block end>" in problem:
        return _stray(mark, opened, context, ahead, line)
    if "expected the node content" in problem:
        rest = line[mark.column :].strip()
        return mark, f"expected a value, got {_short(rest) if rest else 'nothing'}", None
    if "sequence entries are not allowed" in problem:
        return mark, "a list item '- ' must begin a new line", None
    if "mapping keys are not allowed" in problem:
        return mark, "'? ' marks a key and is not allowed here", "put the value in quotes"
    if "undefined alias" in problem:
        name = problem.rpartition("'")[0].rpartition("'")[2]
        return mark, f"no anchor '&{name}' for the alias '*{name}'", "put text that begins with * in quotes"
    if "duplicate anchor" in problem:
        return mark, "this anchor (&) is already defined", None
    if "anchor" in context or "alias" in context:
        return opened, "text that begins with * or & must be in quotes", None
    if "single document" in context:
        return mark, "a second document begins here ('---')", "write one document per file"
    if "expected '<document start>'" in problem:
        return mark, "nothing may follow the end of the document", "remove the line '...' or '%...'"
    if "tag" in problem or "tag" in context:
        return mark, "text that begins with ! must be in quotes", None
    if "block scalar" in context:
        return mark, "unexpected text after | or >", "the text begins on the next line"
    if "YAML" in problem or "directive" in context:
        return mark, "directives (lines that begin with %) are not used here", "remove the line"
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


def _second_colon(mark: Place, ahead: str, lines: list[str]) -> tuple[Place, str, str | None]:
    if ": " in ahead or ahead.rstrip().endswith(":"):
        return mark, "a second ':' in one line", _QUOTES_HINT
    above = mark.line - 1
    while above >= 0 and (not lines[above].strip() or lines[above].lstrip().startswith("#")):
        above -= 1
    start = Place(mark.line, len(ahead) - len(ahead.lstrip()))
    if above >= 0 and ":" not in lines[above]:
        text = lines[above].strip()
        start = Place(above, len(lines[above]) - len(lines[above].lstrip()))
        return start, f"expected 'key: value', got {_short(text)}", "the ':' is missing"
    message = "this line is indented below one whose key already has a value"
    return start, message, _INDENT_HINT


def _unclosed(message: Place, opened: Place, context: str, lines: list[str]) -> tuple[Place, str, str | None]:
    bracket = "[" if "sequence" in context else "{"
    close = "]" if bracket == "[" else "}"
    if (
        message.line == opened.line
        and message.line < len(lines)
        and message.column < len(lines[message.line])
    ):
        got_ = lines[message.line][message.column]
        hint = _QUOTES_HINT if got_ == ":" else None
        return message, f"expected ',' or '{close}', got {_short(got_)}", hint
    return opened, f"the '{bracket}' that opens here is not closed by '{close}'", None


def _stray(mark: Place, above: Place, context: str, ahead: str, line: str) -> tuple[Place, str, str | None]:
    rest = line[mark.column :].strip()
    if ahead.strip():
        hint = "put the whole value in quotes" if rest[:1] not in "]}," else None
        return mark, f"unexpected {_short(rest)} after the value", hint
    if rest.startswith(":"):
        return mark, "a key is missing before ':'", None
    if mark.column == above.column:
        kinds = "list items '- '" if "collection" in context else "keys"
        return mark, f"expected more {kinds}, as the lines above, got {_short(rest)}", None
    message = f"this line begins in column {mark.column + 1}, which fits none of the lines above"
    return mark, message, _INDENT_HINT


def _line(lines: list[str], number: int) -> str:
    return lines[number] if number < len(lines) else ""


def _short(text: str) -> str:
    return "'" + _cut(text) + "'"


def _cut(text: str, most: int = 40) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
