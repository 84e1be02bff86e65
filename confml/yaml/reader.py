"""Construct nodes with lines and columns from YAML, because PyYAML's constructors return bare values.

PyYAML scans, parses and composes the text. Its constructors also keep the last of repeated keys, and read
``no``, ``10:30`` and ``1e-3`` as YAML 1.1 does. Here keys are always text, aliases are filled in, merge keys
merged, and repeated keys are errors.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from yaml.composer import Composer
from yaml.parser import Parser
from yaml.reader import Reader, ReaderError
from yaml.resolver import BaseResolver
from yaml.scanner import Scanner

from confml.yaml.nodes import Node, scalar
from confml.yaml.problems import Mark, Problems
from confml.yaml.wording import Place, explain, got

LARGEST_FILE = 1_000_000  # bytes; a data file in the place of a document is refused at once
MOST_VALUES = 100_000  # after aliases are filled in: nine lines of aliases to aliases make billions
DEEPEST = 40


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
        found = "an empty file" if root.content is None else got(root.plain())
        expected = f"expected keys with values, such as '{document.example}'"
        raise problems.stop(root.mark, f"{expected}, got {found}")
    return root


def parse(text: str, source: str, problems: Problems, mark: Mark | None = None) -> Node:
    """Parse YAML text as nodes.

    source: the file, for marks. mark: one mark for all nodes instead (the value of an option).
    Repeated keys are noted in ``problems``. Raises ConfigErrors, with the place, for text that is not YAML.
    """
    builder = _Builder(source, mark, problems)
    loader: _Loader | None = None
    try:
        loader = _Loader(text)
        document = loader.get_single_node()
        if document is None:
            return Node(None, builder.mark(Place(0, 0)))
        return builder.node(document, 0)
    except _Refused as error:
        raise problems.stop(builder.mark(error.place), str(error)) from None
    except yaml.MarkedYAMLError as error:
        place, message, hint = explain(error, text)
        raise problems.stop(builder.mark(place), message, hint) from None
    except ReaderError as error:
        place = Place.at(text, error.position)
        message = f"the control character U+{error.character:04X} is not allowed"
        raise problems.stop(builder.mark(place), message) from None
    except (ValueError, OverflowError):
        # The scanner converts the digits of escapes unguarded: "\UFFFFFFFF" is not a character.
        message = "unknown escape: in double quotes a backslash begins an escape"
        hint = "use single quotes, where a backslash is an ordinary character"
        here = loader.get_mark() if loader else None
        raise problems.stop(builder.mark(Place.of(here)), message, hint) from None


class _Refused(Exception):
    """YAML that is well-formed and not supported."""

    def __init__(self, message: str, mark: yaml.Mark):
        super().__init__(message)
        self.place = mark


_KINDS = {
    yaml.ScalarNode: BaseResolver.DEFAULT_SCALAR_TAG,
    yaml.SequenceNode: BaseResolver.DEFAULT_SEQUENCE_TAG,
    yaml.MappingNode: BaseResolver.DEFAULT_MAPPING_TAG,
}


class _Resolver(BaseResolver):
    """Leaves the meaning of plain scalars to `scalar`; the tag ``!plain`` tells them from quoted ones."""

    def resolve(self, kind, value, implicit):
        return "!plain" if kind is yaml.ScalarNode and implicit[0] else _KINDS[kind]


class _Loader(Reader, Scanner, Parser, Composer, _Resolver):
    def __init__(self, text: str):
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        Composer.__init__(self)
        _Resolver.__init__(self)
        self.depth = 0

    def compose_node(self, parent, index):
        if self.depth > DEEPEST:
            raise _Refused(f"nested more than {DEEPEST} levels deep", self.peek_event().start_mark)
        self.depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1


class _Builder:
    """Turns PyYAML's nodes into `Node`: aliases filled in, merge keys merged, repeated keys noted."""

    def __init__(self, source: str, fixed: Mark | None, problems: Problems):
        self.source, self.fixed, self.problems = source, fixed, problems
        self.count = 0
        self.open: set[int] = set()

    def mark(self, position: Place | yaml.Mark) -> Mark:
        return self.fixed or Mark(0, position.line + 1, position.column + 1, self.source)

    def node(self, node: yaml.Node, depth: int) -> Node:
        self.count += 1
        if self.count > MOST_VALUES:
            raise _Refused(
                f"more than {MOST_VALUES:,} values once aliases (*) are filled in", node.start_mark
            )
        if id(node) in self.open or depth > DEEPEST:
            raise _Refused("an anchor (&) that contains an alias (*) of itself has no end", node.start_mark)
        if isinstance(node, yaml.ScalarNode):
            return Node(self._scalar(node), self.mark(node.start_mark))
        self._check_tag(
            node, node.tag in (BaseResolver.DEFAULT_SEQUENCE_TAG, BaseResolver.DEFAULT_MAPPING_TAG)
        )
        self.open.add(id(node))
        try:
            if isinstance(node, yaml.MappingNode):
                return self._mapping(node, depth)
            return Node([self.node(item, depth + 1) for item in node.value], self.mark(node.start_mark))
        finally:
            self.open.discard(id(node))

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        self._check_tag(node, node.tag in ("!plain", BaseResolver.DEFAULT_SCALAR_TAG))
        if any("\ud800" <= letter <= "\udfff" for letter in node.value):
            raise _Refused(
                "half a character: an escape such as \\ud800 stands for nothing alone", node.start_mark
            )
        return scalar(node.value) if node.tag == "!plain" else node.value

    def _check_tag(self, node: yaml.Node, known: bool) -> None:
        if not known:
            tag = node.tag.replace("tag:yaml.org,2002:", "!!")
            raise _Refused(f"tags such as {tag} are not used here: write the value alone", node.start_mark)

    def _mapping(self, node: yaml.MappingNode, depth: int) -> Node:
        entries: dict[str, Node] = {}
        merged: dict[str, Node] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise _Refused("a key must be a word, got a list or a mapping", key_node.start_mark)
            self._scalar(key_node)
            key, key_mark = key_node.value, self.mark(key_node.start_mark)
            if key == "" and key_node.style is None:
                raise _Refused("a key is missing before ':'", key_node.start_mark)
            value = self.node(value_node, depth + 1)
            if key == "<<" and key_node.style is None:
                for found, entry in self._merged(value, value_node).items():
                    merged.setdefault(found, entry)
                continue
            value.key_mark = key_mark
            if key in entries:
                first = entries[key].key_mark
                again = f", first given on line {first.line}" if first and first.line else ""
                self.problems.add(key_mark, f"repeated key '{key}'{again}")
                continue
            entries[key] = value
        return Node(
            entries | {k: v for k, v in merged.items() if k not in entries}, self.mark(node.start_mark)
        )

    def _merged(self, value: Node, node: yaml.Node) -> dict[str, Node]:
        sources = value.content if value.is_list else [value]
        entries: dict[str, Node] = {}
        for source in sources:
            if not source.is_mapping:
                raise _Refused("'<<' takes keys from a mapping, as in '<<: *name'", node.start_mark)
            for key, entry in source.content.items():
                entries.setdefault(key, entry)
        return entries


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
