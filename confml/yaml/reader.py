"""Read YAML as plain values with lines and columns, because PyYAML's constructors lose them.

Keys are always text, aliases are filled in, merge keys merged, and repeated keys are errors.
"""

import math
import re
from pathlib import Path
from typing import Any

import yaml
from yaml.reader import ReaderError

from confml.errors import ConfigErrors
from confml.yaml.located import Loc, Located, Mark, Problems, error_at
from confml.yaml.wording import UNKNOWN_ESCAPE, Unsupported, explain, got

LARGEST_FILE = 1_000_000  # bytes; a data file in place of a document is refused at once
MOST_VALUES = 100_000  # after aliases are filled in: nine lines of aliases to aliases make billions
DEEPEST = 40
LONGEST_NUMBER = 400  # characters; longer texts are not numbers
PLAIN = "!plain"  # tag of scalars without quotes and without a tag


def read_file(path: Path, shown: str, noun: str, example: str) -> Located:
    """Read the mapping in a YAML file. Repeated keys are noted in its problems and the rest is read.

    shown: the path as messages name it. noun: the kind of file, and example: a key with its value, for
    messages. Raises ConfigErrors for a file that cannot be read, is not YAML, or does not hold a mapping.
    """
    mark = Mark(source=shown)
    try:
        with path.open("rb") as file:  # which may be a pipe, or a device without an end
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        message = f"cannot be read: {(error.strerror or str(error)).lower()}"
        raise ConfigErrors([error_at(mark, message)]) from None
    if len(content) > LARGEST_FILE:
        message = f"a {noun} is a short YAML file, this one has more than {LARGEST_FILE:,} bytes"
        raise ConfigErrors([error_at(mark, message)])
    content = content.removeprefix(b"\xef\xbb\xbf")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        *lines, before = content[: error.start].split(b"\n")
        mark = Mark(0, len(lines) + 1, len(before.decode("utf-8")) + 1, shown)
        message = f"the byte 0x{content[error.start]:02X} is not UTF-8"
        raise ConfigErrors([error_at(mark, message, "save the file as UTF-8")]) from None
    document = parse(text, shown)
    if not isinstance(document.values, dict):
        value = "an empty file" if document.values is None else got(document.values)
        message = f"expected keys with values, such as '{example}', got {value}"
        document.problems.add(document.mark_of(()), message)
        document.problems.raise_any()
    return document


def parse(text: str, source: str = "", problems: Problems | None = None, mark: Mark | None = None) -> Located:
    """Parse YAML text.

    source: the file, for marks. mark: one mark for all values instead (the value of an option).
    Repeated keys are noted in ``problems``. Raises ConfigErrors, with the position, for text that is not
    YAML.
    """
    document = Located(None, mark or Mark(0, 1, 1, source), problems=problems or Problems())
    builder, loader = _Builder(document), None
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        document.values = None if node is None else builder.value(node, ())
        return document
    except yaml.MarkedYAMLError as error:
        position, message, hint = explain(error, text)
    except ReaderError as error:
        *lines, before = text[: error.position].split("\n")
        position = yaml.Mark("", 0, len(lines), len(before), None, 0)
        message, hint = f"the control character U+{error.character:04X} is not allowed", None
    except (ValueError, OverflowError):  # PyYAML converts the digits of "\UFFFFFFFF" unguarded
        position = loader.get_mark() if loader else None
        message, hint = UNKNOWN_ESCAPE
    document.problems.add(builder.mark(position), message, hint)
    document.problems.raise_any()
    raise AssertionError("there is an error")


class _Loader(yaml.SafeLoader):
    """PyYAML's loader without its meanings of plain scalars, and with a limit of depth."""

    yaml_implicit_resolvers = {None: [(PLAIN, re.compile(""))]}
    depth = 0

    def compose_node(self, parent, index):
        if self.depth > DEEPEST:
            raise Unsupported(f"nested more than {DEEPEST} levels deep", self.peek_event().start_mark)
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


class _Builder:
    """Builds the values of a document from PyYAML's nodes."""

    def __init__(self, document: Located):
        self.document, self.count = document, 0
        self.open: list[yaml.Node] = []  # that contain the node

    def mark(self, position: yaml.Mark | None) -> Mark:
        """Return the mark of a position of PyYAML."""
        mark = self.document.mark
        if position is None or mark.line == 0:  # of an option
            return mark
        return Mark(0, position.line + 1, position.column + 1, mark.source)

    def value(self, node: yaml.Node, loc: Loc, key_mark: Mark | None = None) -> Any:
        """Return the plain value of a node, and note its marks and those of all values inside."""
        self._check(node, len(loc))
        mark = self.mark(node.start_mark)
        self.document.marks[loc] = (key_mark or mark, mark)
        self.open.append(node)
        value: Any
        if isinstance(node, yaml.MappingNode):
            pairs = self._pairs(node, len(loc)).items()
            value = {key: self.value(item, (*loc, key), self.mark(at)) for key, (at, item) in pairs}
        elif isinstance(node, yaml.SequenceNode):
            value = [self.value(item, (*loc, index)) for index, item in enumerate(node.value)]
        else:
            value = _scalar(node.value) if node.tag == PLAIN else node.value
        self.open.pop()
        return value

    def _check(self, node: yaml.Node, depth: int) -> None:
        self.count += 1
        message = None
        if self.count > MOST_VALUES:
            message = f"more than {MOST_VALUES:,} values once aliases (*) are filled in"
        elif node in self.open or depth > DEEPEST:
            message = "an anchor (&) that contains an alias (*) of itself has no end"
        elif node.tag.removeprefix("tag:yaml.org,2002:") not in (PLAIN, "str", "seq", "map"):
            tag = node.tag.replace("tag:yaml.org,2002:", "!!")
            message = f"tags such as {tag} are not used here: write the value alone"
        elif isinstance(node.value, str) and re.search("[\ud800-\udfff]", node.value):
            message = "half a character: an escape such as \\ud800 stands for nothing alone"
        if message is not None:
            raise Unsupported(message, node.start_mark)

    def _pairs(self, node: yaml.MappingNode, depth: int) -> dict[str, tuple[yaml.Mark, yaml.Node]]:
        """Return the entries of a mapping (mark of the key, value), merge keys merged; note repeated keys."""
        pairs: dict[str, tuple[yaml.Mark, yaml.Node]] = {}
        merged: dict[str, tuple[yaml.Mark, yaml.Node]] = {}
        for key_node, value in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise Unsupported("a key must be a word, got a list or a mapping", key_node.start_mark)
            self._check(key_node, depth)
            key, is_plain = key_node.value, key_node.style is None
            if key == "" and is_plain:
                raise Unsupported("a key is missing before ':'", key_node.start_mark)
            if key == "<<" and is_plain:
                for source in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                    if not isinstance(source, yaml.MappingNode):
                        message = "'<<' takes keys from a mapping, as in '<<: *name'"
                        raise Unsupported(message, value.start_mark)
                    self._check(source, depth + 1)
                    merged = self._pairs(source, depth + 1) | merged
            elif key in pairs:
                line = self.mark(pairs[key][0]).line
                again = f", first given on line {line}" if line else ""
                self.document.problems.add(self.mark(key_node.start_mark), f"repeated key '{key}'{again}")
            else:
                pairs[key] = key_node.start_mark, value
        return pairs | {key: pair for key, pair in merged.items() if key not in pairs}


_WORDS: dict[str, Any] = dict.fromkeys(("", "~", "null", "Null", "NULL"))
_WORDS |= dict.fromkeys(("true", "True", "TRUE"), True) | dict.fromkeys(("false", "False", "FALSE"), False)
_WORDS |= dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan)
_WORDS |= {f"{sign}.{word}": float(f"{sign}inf") for sign in ("", "+", "-") for word in ("inf", "Inf", "INF")}


def _scalar(text: str) -> Any:
    """Return the value of a plain (unquoted) scalar: None, a boolean, a number, or the text itself."""
    if text in _WORDS or len(text) > LONGEST_NUMBER:
        return _WORDS.get(text, text)
    if re.fullmatch(r"[-+]?[0-9]+", text):
        return int(text)
    if re.fullmatch(r"0o[0-7]+|0x[0-9a-fA-F]+", text):
        return int(text, 0)
    if re.fullmatch(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", text):
        number = float(text)
        is_whole = re.fullmatch(r"[-+]?[0-9]+[eE]\+?[0-9]+", text) and abs(number) <= 2**53
        return int(number) if is_whole else number
    return text
