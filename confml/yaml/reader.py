"""Read YAML as nodes with lines and columns, because PyYAML's constructors return bare values.

PyYAML scans, parses and composes the text. Its constructors also keep the last of repeated keys, and read
``no``, ``10:30`` and ``1e-3`` as YAML 1.1 does. Here keys are always text, aliases are filled in, merge keys
merged, and repeated keys are errors.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from yaml.reader import ReaderError

from confml.yaml.nodes import Node, scalar
from confml.yaml.problems import Mark, Problems
from confml.yaml.wording import UNKNOWN_ESCAPE, Unsupported, explain, got

LARGEST_FILE = 1_000_000  # bytes; a data file in the place of a document is refused at once
MOST_VALUES = 100_000  # after aliases are filled in: nine lines of aliases to aliases make billions
DEEPEST = 40
PLAIN = "!plain"  # tag of scalars without quotes and without a tag


@dataclass(frozen=True)
class Document:
    """A kind of YAML file: its name in messages, and an example of a key with its value."""

    noun: str
    example: str


def read_file(path: Path, shown: str, problems: Problems, document: Document) -> Node:
    """Read the mapping in a YAML file.

    shown: the path as messages name it. Repeated keys are noted in ``problems`` and the rest is read. Raises
    ConfigErrors for a file that cannot be read, is not YAML, or does not hold a mapping.
    """
    try:
        with path.open("rb") as file:  # which may be a pipe, or a device without an end
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        message = f"cannot be read: {(error.strerror or str(error)).lower()}"
        raise problems.stop(Mark(source=shown), message) from None
    if len(content) > LARGEST_FILE:
        message = f"a {document.noun} is a short YAML file, this one has more than {LARGEST_FILE:,} bytes"
        raise problems.stop(Mark(source=shown), message)
    root = parse(_decoded(content, shown, problems), shown, problems)
    if not root.is_mapping:
        value = "an empty file" if root.content is None else got(root.plain())
        expected = f"expected keys with values, such as '{document.example}'"
        raise problems.stop(root.mark, f"{expected}, got {value}")
    return root


def parse(text: str, source: str, problems: Problems, mark: Mark | None = None) -> Node:
    """Parse YAML text as nodes.

    source: the file, for marks. mark: one mark for all nodes instead (the value of an option).
    Repeated keys are noted in ``problems``. Raises ConfigErrors, with the place, for text that is not YAML.
    """

    def place(position: yaml.Mark | None) -> Mark:
        line, column = (position.line, position.column) if position else (0, 0)
        return mark or Mark(0, line + 1, column + 1, source)

    loader = None
    try:
        loader = _Loader(text)
        document = loader.get_single_node()
        return Node(None, place(None)) if document is None else _Builder(place, problems).node(document, 0)
    except yaml.MarkedYAMLError as error:
        position, message, hint = explain(error, text)
        raise problems.stop(place(position), message, hint) from None
    except ReaderError as error:
        before = text[: error.position]
        position = yaml.Mark("", 0, before.count("\n"), len(before) - before.rfind("\n") - 1, None, 0)
        message = f"the control character U+{error.character:04X} is not allowed"
        raise problems.stop(place(position), message) from None
    except (ValueError, OverflowError):  # PyYAML converts the digits of "\UFFFFFFFF" unguarded
        raise problems.stop(place(loader.get_mark() if loader else None), *UNKNOWN_ESCAPE) from None


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
    """Turns PyYAML's nodes into `Node`: aliases filled in, merge keys merged, repeated keys noted."""

    def __init__(self, place: Callable[[yaml.Mark], Mark], problems: Problems):
        self.place, self.problems = place, problems
        self.count = 0
        self.open: set[int] = set()

    def node(self, node: yaml.Node, depth: int) -> Node:
        self.count += 1
        message = None
        if self.count > MOST_VALUES:
            message = f"more than {MOST_VALUES:,} values once aliases (*) are filled in"
        elif id(node) in self.open or depth > DEEPEST:
            message = "an anchor (&) that contains an alias (*) of itself has no end"
        elif node.tag.removeprefix("tag:yaml.org,2002:") not in (PLAIN, "str", "seq", "map"):
            tag = node.tag.replace("tag:yaml.org,2002:", "!!")
            message = f"tags such as {tag} are not used here: write the value alone"
        elif isinstance(node.value, str) and re.search("[\ud800-\udfff]", node.value):
            message = "half a character: an escape such as \\ud800 stands for nothing alone"
        if message is not None:
            raise Unsupported(message, node.start_mark)
        content: Any
        self.open.add(id(node))
        if isinstance(node, yaml.MappingNode):
            content = self._entries(node, depth)
        elif isinstance(node, yaml.SequenceNode):
            content = [self.node(item, depth + 1) for item in node.value]
        else:
            content = scalar(node.value) if node.tag == PLAIN else node.value
        self.open.discard(id(node))
        return Node(content, self.place(node.start_mark))

    def _entries(self, node: yaml.MappingNode, depth: int) -> dict[str, Node]:
        entries: dict[str, Node] = {}
        merged: dict[str, Node] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise Unsupported("a key must be a word, got a list or a mapping", key_node.start_mark)
            key, is_plain = key_node.value, key_node.style is None
            if key == "" and is_plain:
                raise Unsupported("a key is missing before ':'", key_node.start_mark)
            key_mark, value = self.node(key_node, depth).mark, self.node(value_node, depth + 1)
            if key == "<<" and is_plain:
                for source in value.content if value.is_list else [value]:
                    if not source.is_mapping:
                        message = "'<<' takes keys from a mapping, as in '<<: *name'"
                        raise Unsupported(message, value_node.start_mark)
                    merged |= {key: item for key, item in source.content.items() if key not in merged}
            elif key in entries:
                line = (entries[key].key_mark or key_mark).line
                again = f", first given on line {line}" if line else ""
                self.problems.add(key_mark, f"repeated key '{key}'{again}")
            else:
                value.key_mark = key_mark
                entries[key] = value
        return entries | {key: value for key, value in merged.items() if key not in entries}


def _decoded(content: bytes, shown: str, problems: Problems) -> str:
    content = content.removeprefix(b"\xef\xbb\xbf")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start]
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8")) + 1
        mark = Mark(0, before.count(b"\n") + 1, column, shown)
        message = f"the byte 0x{content[error.start]:02X} is not UTF-8"
        raise problems.stop(mark, message, "save the file as UTF-8") from None
