"""Random seeds derived from the content of a computation, independent of order, time and machine."""

import hashlib
import json
from typing import Any, cast

import numpy as np


def stable_hash(*parts: Any) -> str:
    """Return 64 hexadecimal digits from the content of the parts (numbers, strings, lists, dicts, None)."""
    return hashlib.sha256(_ENCODER.encode(parts).encode()).hexdigest()


def stable_generator(*parts: Any) -> np.random.Generator:
    """Return a random generator seeded by the content of the parts."""
    return np.random.default_rng(int(stable_hash(*parts)[:32], 16))


def derived_generator(rng: np.random.Generator | int, *parts: Any) -> np.random.Generator:
    """Return a generator for one part of a computation, independent of the other parts and their order.

    It is derived from the seed of ``rng``, or from a seed, not from a state: draws from one never change
    another.
    """
    if isinstance(rng, int):
        return stable_generator("derived", rng, [], *parts)
    seed = cast(np.random.SeedSequence, rng.bit_generator.seed_seq)
    return stable_generator("derived", seed.entropy, list(seed.spawn_key), *parts)


def stable_integer(*parts: Any) -> int:
    """Return a seed in [0, 2^31), for libraries that take an integer."""
    return int(stable_hash(*parts)[:8], 16) >> 1


def _plain(value: Any) -> Any:
    """Return numpy scalars and mappings as types of JSON."""
    if isinstance(value, np.generic):
        return value.item()
    if hasattr(value, "items"):
        return dict(value)
    raise TypeError(f"cannot hash a {type(value).__name__} in a stable way")


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=_plain)
