"""YAML of cards as plain values, with the line of every key and value.

Only what a card needs of YAML is known: text, whole numbers, decimal numbers, true, false and null. The words
that YAML 1.1 turns into something else (no, on, 10:30) stay text, and a repeated key is an error.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from confml.errors import DataError


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    yaml_implicit_resolvers: dict = {}


_INT = re.compile(r"^[-+]?(0|[1-9][0-9]*)$")
_FLOAT = re.compile(r"^[-+]?[0-9]+\.[0-9]+([eE][-+]?[0-9]+)?$")
_Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^(null|~|)$"), ["n", "~", ""])
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(true|false)$"), ["t", "f"])
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", _INT, list("-+0123456789"))
_Loader.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, list("-+0123456789"))

Path_ = tuple[str | int, ...]


def read_marked(path: Path) -> tuple[dict[str, Any], dict[Path_, int]]:
    """The mapping in a YAML file and, for every place in it (a tuple of keys and indexes), its line from 1.

    Keys become text. Raises DataError with file:line for a file that is not YAML, not a mapping or not UTF-8.
    """
    try:
        node = yaml.compose(path.read_text(encoding="utf-8"), Loader=_Loader)
    except UnicodeDecodeError as error:
        raise DataError(f"a card is UTF-8 text, this is not (byte {error.start})", where=str(path)) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        raise DataError(f"not YAML: {getattr(error, 'problem', None) or error}", where=where) from None
    lines: dict[Path_, int] = {}
    if not isinstance(node, yaml.MappingNode):
        raise DataError("a card is a mapping of keys to values", where=f"{path}:1")
    return _plain(node, (), lines, path), lines


def _plain(node: yaml.Node, at: Path_, lines: dict[Path_, int], path: Path) -> Any:
    lines.setdefault(at, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        mapping: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                raise DataError("a key is a word or a number", where=f"{path}:{line}")
            key = key_node.value
            if key in mapping:
                first = lines[(*at, key)]
                raise DataError(f"the key '{key}' stands here and on line {first}", where=f"{path}:{line}")
            lines[(*at, key)] = line
            mapping[key] = _plain(value_node, (*at, key), lines, path)
        return mapping
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, (*at, i), lines, path) for i, item in enumerate(node.value)]
    kind = node.tag.rpartition(":")[2]
    if kind == "null":
        return None
    if kind == "bool":
        return node.value == "true"
    if kind in ("int", "float"):
        return (int if kind == "int" else float)(node.value)
    return node.value
