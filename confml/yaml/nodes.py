"""`Node`: a YAML value with its place in the file, which the plain values of PyYAML do not have."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

from confml.yaml.problems import Mark


@dataclass
class Node:
    """A value with its mark. content: a scalar, a list of nodes, or a mapping of text to nodes.

    key_mark: the place of its key, in a mapping.
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
        """Return the value without marks: dicts, lists, text, numbers, booleans, None."""
        if self.is_mapping:
            return {key: node.plain() for key, node in self.content.items()}
        if self.is_list:
            return [node.plain() for node in self.content]
        return self.content

    def child(self, part: str | int) -> "Node | None":
        """Return the value of a key or index, or None."""
        if self.is_mapping:
            return self.content.get(spelling(self.content, part))
        if self.is_list and isinstance(part, int) and 0 <= part < len(self.content):
            return self.content[part]
        return None

    def walk(self, path: Sequence[str | int]) -> "Iterator[tuple[str | int, Node]]":
        """Iterate over the parts of ``path`` from here downwards, each with its value.

        Parts that the file does not have are skipped: names of types or fields, and keys that are one level
        deeper in the short form ``{name: {key: value}}``.
        """
        node = self
        for part in path:
            found = node.child(part)
            if found is None and node.is_mapping and len(node.content) == 1:
                (inner,) = node.content.values()
                found = inner.child(part)
            if found is not None:
                node = found
                yield part, node

    def at(self, path: Sequence[str | int]) -> "Node":
        """Return the deepest value on the path to ``path``."""
        node = self
        for _, found in self.walk(path):
            node = found
        return node

    @classmethod
    def of(cls, value: Any, mark: Mark) -> "Node":
        """Return a plain value as nodes that all have the same mark."""
        if isinstance(value, Mapping):
            return cls({str(key): cls._entry(item, mark) for key, item in value.items()}, mark)
        if isinstance(value, list | tuple):
            return cls([cls.of(item, mark) for item in value], mark)
        return cls(value, mark)

    @classmethod
    def _entry(cls, value: Any, mark: Mark) -> "Node":
        node = cls.of(value, mark)
        node.key_mark = mark
        return node


@overload
def spelling(keys: Iterable[str], part: str) -> str: ...
@overload
def spelling(keys: Iterable[str], part: int) -> int: ...
def spelling(keys: Iterable[str], part: str | int) -> str | int:
    """Return the key that ``part`` refers to: parameters may be written with - or with _."""
    if not isinstance(part, str) or part in keys:
        return part
    plain = part.replace("-", "_")
    return next((key for key in keys if key.replace("-", "_") == plain), part)


_INT = re.compile(r"[-+]?[0-9]+")
_OTHER_BASE = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WHOLE_POWER = re.compile(r"[-+]?[0-9]+[eE]\+?[0-9]+")
_INFINITE = re.compile(r"[-+]?\.(inf|Inf|INF)")
_WORDS: dict[str, Any] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_WORDS |= {word: True for word in ("true", "True", "TRUE")}
_WORDS |= {word: False for word in ("false", "False", "FALSE")}
_WORDS |= {word: math.nan for word in (".nan", ".NaN", ".NAN")}


def scalar(text: str) -> Any:
    """Return the value of a plain (unquoted) scalar: None, a boolean, a number, or the text itself."""
    if text in _WORDS:
        return _WORDS[text]
    if _INFINITE.fullmatch(text):
        return -math.inf if text.startswith("-") else math.inf
    if len(text) > 400:
        return text  # longer than any number in use
    if _INT.fullmatch(text):
        return int(text)
    if _OTHER_BASE.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        number = float(text)
        whole = _WHOLE_POWER.fullmatch(text) and abs(number) <= 2**53
        return int(number) if whole else number
    return text
