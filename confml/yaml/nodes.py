"""`Node`: a YAML value with its place in the file, which the plain values of PyYAML do not have."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
        return [node.plain() for node in self.content] if self.is_list else self.content

    def child(self, part: str | int) -> "Node | None":
        """Return the value of a key or index, or None."""
        if self.is_mapping:
            return self.content.get(spelling(self.content, part))
        is_index = self.is_list and isinstance(part, int) and 0 <= part < len(self.content)
        return self.content[part] if is_index else None

    def walk(self, path: Sequence[str | int]) -> "Iterator[tuple[str | int, Node]]":
        """Iterate over the parts of ``path`` from here downwards, each with its value.

        Parts that the file does not have are skipped: names of types or fields, and keys that are one level
        deeper in the short form ``{name: {key: value}}``.
        """
        node = self
        for part in path:
            child = node.child(part)
            if child is None and node.is_mapping and len(node.content) == 1:
                (inner,) = node.content.values()
                child = inner.child(part)
            if child is not None:
                node = child
                yield part, node

    def at(self, path: Sequence[str | int]) -> "Node":
        """Return the deepest value on the path to ``path``."""
        return [self, *(node for _, node in self.walk(path))][-1]

    @classmethod
    def of(cls, value: Any, mark: Mark, key_mark: Mark | None = None) -> "Node":
        """Return a plain value as nodes that all have the same mark."""
        if isinstance(value, Mapping):
            value = {str(key): cls.of(item, mark, mark) for key, item in value.items()}
        elif isinstance(value, list | tuple):
            value = [cls.of(item, mark) for item in value]
        return cls(value, mark, key_mark)


def spelling(keys: Iterable[str], part: Any) -> Any:
    """Return the key that ``part`` refers to: parameters may be written with - or with _."""
    if not isinstance(part, str) or part in keys:
        return part
    plain = part.replace("-", "_")
    return next((key for key in keys if key.replace("-", "_") == plain), part)


_WORDS: dict[str, Any] = dict.fromkeys(("", "~", "null", "Null", "NULL"))
_WORDS |= dict.fromkeys(("true", "True", "TRUE"), True) | dict.fromkeys(("false", "False", "FALSE"), False)
_WORDS |= dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan)
_WORDS |= {f"{sign}.{word}": float(f"{sign}inf") for sign in ("", "+", "-") for word in ("inf", "Inf", "INF")}
LONGEST_NUMBER = 400  # characters; longer texts are no numbers


def scalar(text: str) -> Any:
    """Return the value of a plain (unquoted) scalar: None, a boolean, a number, or the text itself."""
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > LONGEST_NUMBER:
        return text
    if re.fullmatch(r"[-+]?[0-9]+", text):
        return int(text)
    if re.fullmatch(r"0o[0-7]+|0x[0-9a-fA-F]+", text):
        return int(text, 0)
    if re.fullmatch(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", text):
        number = float(text)
        is_whole = re.fullmatch(r"[-+]?[0-9]+[eE]\+?[0-9]+", text) and abs(number) <= 2**53
        return int(number) if is_whole else number
    return text
