"""YAML with the line and column of every key and value, and without YAML 1.1's surprises.

Scalars follow YAML 1.2: ``no``, ``on``, ``10:30``, ``2024-05-01`` and ``1_000`` are text, ``012`` is 12, and
``1e-3`` is a number. A whole number in the notation ``1e5`` stays a whole number. Keys are always text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from yaml.composer import Composer
from yaml.parser import Parser
from yaml.reader import Reader, ReaderError
from yaml.resolver import BaseResolver
from yaml.scanner import Scanner

from confml.config import yaml_words
from confml.config.problems import Mark, Problems

LARGEST_FILE = 1_000_000  # bytes; whoever gives a data file instead of a config should hear so at once
MOST_VALUES = 100_000  # after aliases are filled in: nine lines of aliases to aliases make billions
DEEPEST = 40

_INT = re.compile(r"[-+]?[0-9]+")
_OTHER_BASE = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WHOLE_POWER = re.compile(r"[-+]?[0-9]+[eE]\+?[0-9]+")
_INFINITE = re.compile(r"[-+]?\.(inf|Inf|INF)")
_WORDS = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_WORDS |= {word: True for word in ("true", "True", "TRUE")}
_WORDS |= {word: False for word in ("false", "False", "FALSE")}
_WORDS |= {word: math.nan for word in (".nan", ".NaN", ".NAN")}


@dataclass
class Node:
    """A value of a config with its mark: a scalar, a list of nodes, or a mapping of text to nodes.

    key_mark: where its key stands, in a mapping.
    """

    content: Any
    mark: Mark
    key_mark: Mark | None = None

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.content, dict)

    @property
    def is_list(self) -> bool:
        return isinstance(self.content, list)

    def plain(self) -> Any:
        """The value without marks: dicts, lists, text, numbers, booleans, None."""
        if self.is_mapping:
            return {key: node.plain() for key, node in self.content.items()}
        if self.is_list:
            return [node.plain() for node in self.content]
        return self.content

    def child(self, part: str | int) -> Node | None:
        """The value under a key or index, or None."""
        if self.is_mapping:
            return self.content.get(spelling(self.content, part))
        if self.is_list and isinstance(part, int) and 0 <= part < len(self.content):
            return self.content[part]
        return None

    def walk(self, place: Sequence[str | int]) -> Iterator[tuple[str | int, Node]]:
        """The parts of ``place`` that lead downwards from here, each with the value it leads to.

        Parts that the file does not have are passed over: they are names of types or fields, or keys that
        stand one level deeper in the short form ``{name: {key: value}}``.
        """
        node = self
        for part in place:
            found = node.child(part)
            if found is None and node.is_mapping and len(node.content) == 1:
                (inner,) = node.content.values()
                found = inner.child(part)
            if found is not None:
                node = found
                yield part, node

    def at(self, place: Sequence[str | int]) -> Node:
        """The deepest value on the way to ``place``."""
        node = self
        for _, found in self.walk(place):
            node = found
        return node

    @classmethod
    def of(cls, value: Any, mark: Mark) -> Node:
        """A plain value as nodes that all have the same mark."""
        if isinstance(value, Mapping):
            return cls({str(key): cls._entry(item, mark) for key, item in value.items()}, mark)
        if isinstance(value, list | tuple):
            return cls([cls.of(item, mark) for item in value], mark)
        return cls(value, mark)

    @classmethod
    def _entry(cls, value: Any, mark: Mark) -> Node:
        node = cls.of(value, mark)
        node.key_mark = mark
        return node


def spelling(keys: Iterable[str], part: str | int) -> str | int:
    """The key that ``part`` means: parameters may be written with - or with _."""
    if part in keys or not isinstance(part, str):
        return part
    plain = part.replace("-", "_")
    return next((key for key in keys if key.replace("-", "_") == plain), part)


def read_file(path: Path, shown: str, problems: Problems) -> Node:
    """The mapping in a YAML file; ``shown`` is its path as messages name it.

    Repeated keys are noted in ``problems``, and the rest is read on. Raises ConfigErrors for a file that
    cannot be read, is not YAML, or is no mapping.
    """
    whole = Mark(source=shown)
    try:
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise problems.stop(whole, f"a config is a short YAML file, this one has {size:,} bytes")
        content = path.read_bytes()
    except OSError as error:
        raise problems.stop(whole, f"cannot be read: {(error.strerror or str(error)).lower()}") from None
    root = parse(_decoded(content, shown, problems), shown, problems)
    if not root.is_mapping:
        got = "an empty file" if root.content is None else yaml_words.got(root.plain())
        raise problems.stop(root.mark, f"expected keys with values, such as 'datasets: [wine]', got {got}")
    return root


def parse(text: str, source: str, problems: Problems, mark: Mark | None = None) -> Node:
    """YAML text as nodes.

    source: the file, for marks. mark: one mark for everything instead (the value of an option).
    Repeated keys are noted in ``problems``. Raises ConfigErrors, with the place, for text that is not YAML.
    """
    builder = _Builder(source, mark, problems)
    loader = None
    try:
        loader = _Loader(text)
        document = loader.get_single_node()
        if document is None:
            return Node(None, builder.mark(_Place(0, 0)))
        return builder.node(document, 0)
    except _Refused as error:
        raise problems.stop(builder.mark(error.place), str(error)) from None
    except yaml.MarkedYAMLError as error:
        place, message, hint = yaml_words.explain(error, text)
        raise problems.stop(builder.mark(place), message, hint) from None
    except ReaderError as error:
        place = _Place.of(text, error.position)
        message = f"the control character U+{error.character:04X} has no place in a config"
        raise problems.stop(builder.mark(place), message) from None
    except (ValueError, OverflowError):
        # The scanner converts the digits of escapes unguarded: "\UFFFFFFFF" is no character.
        message = "in double quotes a backslash begins an escape, and this is none"
        hint = "use single quotes, in which it means nothing"
        raise problems.stop(builder.mark(loader.get_mark()), message, hint) from None


def scalar(text: str) -> Any:
    """What a plain (unquoted) scalar means: None, a boolean, a number, or the text itself."""
    if text in _WORDS:
        return _WORDS[text]
    if _INFINITE.fullmatch(text):
        return -math.inf if text.startswith("-") else math.inf
    if len(text) > 400:
        return text  # no number that anything here could use
    if _INT.fullmatch(text):
        return int(text)
    if _OTHER_BASE.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        number = float(text)
        whole = _WHOLE_POWER.fullmatch(text) and abs(number) <= 2**53
        return int(number) if whole else number
    return text


@dataclass
class _Place:
    """A line and a column, from 0, as PyYAML's own marks."""

    line: int
    column: int

    @classmethod
    def of(cls, text: str, position: int) -> _Place:
        before = text[:position]
        return cls(before.count("\n"), position - (before.rfind("\n") + 1))


class _Refused(Exception):
    """YAML that is well formed and of no use here."""

    def __init__(self, message: str, place: Any):
        super().__init__(message)
        self.place = place


_KINDS = {
    yaml.ScalarNode: BaseResolver.DEFAULT_SCALAR_TAG,
    yaml.SequenceNode: BaseResolver.DEFAULT_SEQUENCE_TAG,
    yaml.MappingNode: BaseResolver.DEFAULT_MAPPING_TAG,
}


class _Resolver(BaseResolver):
    """Leaves the meaning of plain scalars to `scalar`; ``!plain`` tells them from quoted ones."""

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

    def mark(self, place: Any) -> Mark:
        return self.fixed or Mark(0, place.line + 1, place.column + 1, self.source)

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
            if isinstance(node, yaml.SequenceNode):
                return Node([self.node(item, depth + 1) for item in node.value], self.mark(node.start_mark))
            return self._mapping(node, depth)
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
                raise _Refused("a key is missing ahead of ':'", key_node.start_mark)
            value = self.node(value_node, depth + 1)
            if key == "<<" and key_node.style is None:
                for found, entry in self._merged(value, value_node).items():
                    merged.setdefault(found, entry)
                continue
            value.key_mark = key_mark
            if key in entries:
                first = entries[key].key_mark
                again = f", it stands on line {first.line} already" if first.line else ""
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
