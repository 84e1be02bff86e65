"""Mutants of JSON documents: one value at a random place replaced, removed, repeated or renamed."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

STRANGE = [
    None, True, -1, 0, 1.5, 10**30, "", "x", "../../etc", "\ud800", "\x1b[31m", [], [1], {}, {"a": 1}, [[]],
]  # fmt: skip


def members(node: Any) -> Iterator[tuple[Any, Any]]:
    """Yield (container, key) of each value of a document."""
    for key, value in list(node.items() if isinstance(node, dict) else enumerate(node)):
        yield node, key
        if isinstance(value, dict | list):
            yield from members(value)


def mutate(document: Any, rng: random.Random) -> Any:
    """A mutated copy of a document, which is an object or a list that is not empty."""
    document = copy.deepcopy(document)
    node, key = rng.choice(list(members(document)))
    value = node[key]
    kind = rng.choice(["replace", "replace", "remove", "repeat", "rename"])
    if kind == "replace":
        node[key] = rng.choice(STRANGE)
    elif kind in ("remove", "rename"):
        del node[key]
    if kind in ("repeat", "rename"):
        if isinstance(node, list):
            node.insert(rng.randrange(len(node) + 1), copy.deepcopy(value))
        else:
            node[rng.choice(["x", "name", "\x00", "key"])] = copy.deepcopy(value)
    return document


def mutate_text(data: bytes, rng: random.Random) -> bytes | None:
    """A mutant of a JSON text; None where it is no object."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or not document:
        return None
    return json.dumps(mutate(document, rng), indent=1).encode()
