"""Messages about invalid YAML, because those of PyYAML name tokens of its scanner and no remedy."""

import re
from collections.abc import Mapping
from typing import Any

import yaml

_QUOTES_HINT = "put a value that contains ': ' in quotes"
_INDENT_HINT = "lines that belong together begin in the same column"
UNKNOWN_ESCAPE = (
    "unknown escape: in double quotes a backslash begins an escape",
    "use single quotes, where a backslash is an ordinary character",
)
_NO_ANCHOR = ("no such anchor (&) for this alias (*)", "put text that begins with * or & in quotes")
# Part of the context and problem of PyYAML -> message and remedy.
_MESSAGES: Mapping[str, tuple[str, str | None]] = {
    "character '\\t'": ("a tab where lines are indented", "indent with spaces"),
    "found character": ("a value cannot begin with this character", "put it in quotes"),
    "expected the node content": ("expected a value", None),
    "escape": UNKNOWN_ESCAPE,
    "hexdecimal": UNKNOWN_ESCAPE,
    "quoted scalar": ("the quote that opens here is never closed", None),
    "sequence entries are not allowed": ("a list item '- ' must begin a new line", None),
    "anchor": _NO_ANCHOR,
    "alias": _NO_ANCHOR,
    "single document": ("a second document begins here ('---')", "write one document per file"),
    "tag": ("text that begins with ! must be in quotes", None),
}


class Unsupported(yaml.MarkedYAMLError):
    """YAML that is well-formed and not supported."""

    def __init__(self, message: str, mark: yaml.Mark):
        super().__init__(problem=message, problem_mark=mark)


def explain(error: yaml.MarkedYAMLError, text: str) -> tuple[yaml.Mark | None, str, str | None]:
    """Return (mark, message, hint) for an error of PyYAML's scanner, parser or composer."""
    problem, context = error.problem or "", error.context or ""
    mark = error.problem_mark or error.context_mark
    if isinstance(error, Unsupported) or mark is None:
        return mark, problem or context, None
    opened = error.context_mark or mark
    lines = [*text.splitlines(), ""]
    before, rest = lines[min(mark.line, len(lines) - 1)][: mark.column], lines[mark.line :][:1]
    after = rest[0][mark.column :].strip() if rest else ""

    if "mapping values are not allowed" in problem:
        if ": " in before or before.rstrip().endswith(":"):
            return mark, "a second ':' in one line", _QUOTES_HINT
        start = yaml.Mark("", 0, mark.line, len(before) - len(before.lstrip()), None, 0)
        return start, "this line is indented below one whose key already has a value", _INDENT_HINT
    if "could not find expected ':'" in problem:
        words = lines[opened.line][opened.column :].strip()
        hint = "put a space after ':'" if re.match(r"[\w-]+:\S", words) else None
        return opened, f"expected 'key: value', got {got(words)}", hint
    if "flow sequence" in context or "flow mapping" in context:
        bracket, close = "[]" if "sequence" in context else "{}"
        if mark.line == opened.line and after:
            return mark, f"expected ',' or '{close}', got '{after[0]}'", _QUOTES_HINT
        return opened, f"the '{bracket}' that opens here is not closed by '{close}'", None
    if "expected <block end>" in problem:
        if before.strip():
            return mark, f"unexpected {got(after)} after the value", "put the whole value in quotes"
        message = f"this line begins in column {mark.column + 1}, which fits none of the lines above"
        return mark, message, _INDENT_HINT
    for part, (message, hint) in _MESSAGES.items():
        if part in f"{context} {problem}":
            return opened if part == "quoted scalar" else mark, message, hint
    return mark, f"this is not YAML: {problem or context}", None


def got(value: Any) -> str:
    """Return a value as messages show it: as YAML, shortened."""
    if value is None:
        return "nothing"
    if isinstance(value, dict | list | tuple):
        kind = "mapping" if isinstance(value, dict) else "list"
        text = flow(value) if value else ""
        return text if 0 < len(text) <= 40 else f"a {kind}" if value else f"an empty {kind}"
    if not isinstance(value, str | int | float):
        return f"a value of type {type(value).__name__}"
    text = value if isinstance(value, str) else flow(value)
    text = text if len(text) <= 40 else f"{text[:37]}..."
    return f"'{text}'" if isinstance(value, str) else text


class _Dumper(yaml.SafeDumper):
    """PyYAML's dumper that writes any value, and quotes each text that is not a simple word."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_text(self, text: str) -> yaml.Node:
        tag, is_word = "tag:yaml.org,2002:str", re.fullmatch(r"(\.\./)*[A-Za-z_][\w./+-]*", text)
        is_plain = is_word and self.resolve(yaml.ScalarNode, text, (True, False)) == tag  # not yes, null, ...
        return self.represent_scalar(tag, text, style=None if is_plain else '"')

    def represent_other(self, value: Any) -> yaml.Node:
        return self.represent_text(f"a value of type {type(value).__name__}")


_Dumper.add_representer(str, _Dumper.represent_text)
_Dumper.add_multi_representer(object, _Dumper.represent_other)


def flow(value: Any) -> str:
    """Return a plain value as YAML on one line."""
    options: dict[str, Any] = {"default_flow_style": True, "width": 10**9, "sort_keys": False}
    text = yaml.dump(value, Dumper=_Dumper, allow_unicode=True, **options)
    return text.removesuffix("\n").removesuffix("\n...")
