"""Seeds that depend on what is computed, never on when, where or beside what."""

from __future__ import annotations

import hashlib
import json
from typing import Any, cast

import numpy as np


def stable_hash(*parts: Any) -> str:
    """64 hexadecimal digits by the parts' contents alone (numbers, strings, lists, dicts, None)."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()


def stable_generator(*parts: Any) -> np.random.Generator:
    """A random generator seeded by the parts' contents alone."""
    return np.random.default_rng(int(stable_hash(*parts)[:32], 16))


def derived_generator(rng: np.random.Generator, *parts: Any) -> np.random.Generator:
    """A generator for one part of a larger work, whatever the other parts and their order.

    It is derived from the seed of ``rng``, not from its state: drawing from one never moves another.
    """
    seed = cast(np.random.SeedSequence, rng.bit_generator.seed_seq)
    return stable_generator("derived", seed.entropy, list(seed.spawn_key), *parts)


def stable_integer(*parts: Any) -> int:
    """A seed in [0, 2^31) for libraries that take one number."""
    return int(stable_hash(*parts)[:8], 16) >> 1


def _plain(value: Any) -> Any:
    """numpy scalars and tuples of mappings as what JSON knows."""
    if isinstance(value, np.generic):
        return value.item()
    if hasattr(value, "items"):
        return dict(value)
    raise TypeError(f"cannot hash a {type(value).__name__} in a stable way")
