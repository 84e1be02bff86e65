"""Read YAML as nodes with lines and columns, because PyYAML's constructors return bare values.

PyYAML scans, parses and composes the text. Its constructors also keep the last of repeated keys, and read
``no``, ``10:30`` and ``1e-3`` as YAML 1.1 does. Here keys are always text, aliases are filled in, merge keys
merged, and repeated keys are errors.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from yaml.reader import ReaderError

from confml.yaml.nodes import Node, scalar
from confml.yaml.problems import Mark, Problems
from confml.yaml.wording import UNKNOWN_ESCAPE, explain, got

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
    whole = Mark(source=shown)
    try:
        with path.open("rb") as file:  # which may be a pipe, or a device without an end
            content = file.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            size = f"{max(path.stat().st_size, len(content)):,} bytes"
            raise problems.stop(whole, f"a {document.noun} is a short YAML file, this one has {size}")
    except OSError as error:
        raise problems.stop(whole, f"cannot be read: {(error.strerror or str(error)).lower()}") from None
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
    builder = _Builder(source, mark, problems)
    loader = None
    try:
        loader = _Loader(text)
        document = loader.get_single_node()
        return Node(None, builder.mark()) if document is None else builder.node(document, 0)
    except _Refused as error:
        raise problems.stop(builder.mark(error.mark), str(error)) from None
    except yaml.MarkedYAMLError as error:
        position, message, hint = explain(error, text)
        raise problems.stop(builder.mark(position), message, hint) from None
    except ReaderError as error:
        before = text[: error.position]
        place = mark or Mark(0, before.count("\n") + 1, len(before) - before.rfind("\n"), source)
        message = f"the control character U+{error.character:04X} is not allowed"
        raise problems.stop(place, message) from None
    except (ValueError, OverflowError):  # PyYAML converts the digits of "\UFFFFFFFF" unguarded
        raise problems.stop(builder.mark(loader.get_mark() if loader else None), *UNKNOWN_ESCAPE) from None


class _Refused(Exception):
    """YAML that is well-formed and not supported."""

    def __init__(self, message: str, mark: yaml.Mark):
        super().__init__(message)
        self.mark = mark


class _Loader(yaml.SafeLoader):
    """PyYAML's loader without its meanings of plain scalars, and with a limit of depth."""

    yaml_implicit_resolvers = {None: [(PLAIN, re.compile(""))]}
    depth = 0

    def compose_node(self, parent, index):
        if self.depth > DEEPEST:
            raise _Refused(f"nested more than {DEEPEST} levels deep", self.peek_event().start_mark)
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


class _Builder:
    """Turns PyYAML's nodes into `Node`: aliases filled in, merge keys merged, repeated keys noted."""

    def __init__(self, source: str, fixed: Mark | None, problems: Problems):
        self.source, self.fixed, self.problems = source, fixed, problems
        self.count = 0
        self.open: set[int] = set()

    def mark(self, mark: yaml.Mark | None = None) -> Mark:
        line, column = (mark.line, mark.column) if mark else (0, 0)
        return self.fixed or Mark(0, line + 1, column + 1, self.source)

    def node(self, node: yaml.Node, depth: int) -> Node:
        self.count += 1
        if self.count > MOST_VALUES:
            raise _Refused(
                f"more than {MOST_VALUES:,} values once aliases (*) are filled in", node.start_mark
            )
        if id(node) in self.open or depth > DEEPEST:
            raise _Refused("an anchor (&) that contains an alias (*) of itself has no end", node.start_mark)
        if node.tag not in (PLAIN, *(f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map"))):
            tag = node.tag.replace("tag:yaml.org,2002:", "!!")
            raise _Refused(f"tags such as {tag} are not used here: write the value alone", node.start_mark)
        self.open.add(id(node))
        try:
            return Node(self._content(node, depth), self.mark(node.start_mark))
        finally:
            self.open.discard(id(node))

    def _content(self, node: yaml.Node, depth: int) -> Any:
        if isinstance(node, yaml.MappingNode):
            return self._entries(node, depth)
        if isinstance(node, yaml.SequenceNode):
            return [self.node(item, depth + 1) for item in node.value]
        if any("\ud800" <= letter <= "\udfff" for letter in node.value):
            raise _Refused(
                "half a character: an escape such as \\ud800 stands for nothing alone", node.start_mark
            )
        return scalar(node.value) if node.tag == PLAIN else node.value

    def _entries(self, node: yaml.MappingNode, depth: int) -> dict[str, Node]:
        entries: dict[str, Node] = {}
        merged: dict[str, Node] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise _Refused("a key must be a word, got a list or a mapping", key_node.start_mark)
            key, key_mark = key_node.value, self.node(key_node, depth).mark
            is_plain = key_node.style is None
            if key == "" and is_plain:
                raise _Refused("a key is missing before ':'", key_node.start_mark)
            value = self.node(value_node, depth + 1)
            if key == "<<" and is_plain:
                for source in value.content if value.is_list else [value]:
                    if not source.is_mapping:
                        message = "'<<' takes keys from a mapping, as in '<<: *name'"
                        raise _Refused(message, value_node.start_mark)
                    merged = _with_missing(merged, source.content)
                continue
            value.key_mark = key_mark
            if key in entries:
                first = entries[key].key_mark
                again = f", first given on line {first.line}" if first and first.line else ""
                self.problems.add(key_mark, f"repeated key '{key}'{again}")
                continue
            entries[key] = value
        return _with_missing(entries, merged)


def _with_missing(entries: dict[str, Node], others: dict[str, Node]) -> dict[str, Node]:
    """Return the entries, followed by those of ``others`` whose keys they lack."""
    return entries | {key: value for key, value in others.items() if key not in entries}


def _decoded(content: bytes, shown: str, problems: Problems) -> str:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise problems.stop(Mark(0, 1, 1, shown), "the file is UTF-16", "save it as UTF-8")
    content = content.removeprefix(b"\xef\xbb\xbf")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start]
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8")) + 1
        mark = Mark(0, before.count(b"\n") + 1, column, shown)
        message = f"the byte 0x{content[error.start]:02X} is not UTF-8"
        raise problems.stop(mark, message, "save the file as UTF-8") from None
