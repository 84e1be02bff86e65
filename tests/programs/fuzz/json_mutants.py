"""Mutants of JSON documents: one value at a random place replaced, removed, repeated or renamed."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

STRANGE = [
    None, True, -1, 0, 1.5, 10**30, "", "x", "../../etc", "\ud800", "\x1b[31m", [], [1], {}, {"a": 1}, [[]],
]  # fmt: skip


def mutate(document: Any, rng: random.Random) -> Any:
    """A mutated copy of a document, which is an object or a list that is not empty."""
    document = copy.deepcopy(document)
    places: list[tuple[Any, Any]] = []

    def collect(node: Any) -> None:
        for key, value in list(node.items() if isinstance(node, dict) else enumerate(node)):
            places.append((node, key))
            if isinstance(value, dict | list):
                collect(value)

    collect(document)
    node, key = rng.choice(places)
    kind = rng.choice(["replace", "replace", "remove", "repeat", "rename"])
    if kind == "replace" or (kind == "rename" and isinstance(node, list)):
        node[key] = rng.choice(STRANGE)
    elif kind == "remove":
        del node[key]
    elif kind == "rename":
        node[str(rng.choice(["x", "name", "\x00", "key"]))] = node.pop(key)
    elif isinstance(node, list):
        node.insert(key, copy.deepcopy(node[key]))
    else:
        node["x"] = node[key]
    return document


def mutate_text(data: bytes, rng: random.Random) -> bytes | None:
    """A mutant of a JSON text; None where it is no object."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or not document:
        return None
    for _ in range(rng.choice((1, 1, 2))):
        document = mutate(document, rng) or document
    return json.dumps(document, indent=1).encode()
