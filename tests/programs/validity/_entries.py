"""Entries of the validity table: a guarantee, the settings it is tried in, and one simulated draw."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

LEVELS = (0.05, 0.2)
AT_MOST, EXACTLY, ABOUT = "at most", "exactly", "about"
AT_LEAST, MEASURED = "at least", "no bound"


class Claim(NamedTuple):
    """An event and its promised probability: ``kind`` is `AT_MOST`, `EXACTLY` or `ABOUT` that rate.

    Or a number and its promised mean, if ``is_mean``: `AT_LEAST` or `ABOUT` the rate, or `MEASURED`, a number
    that nothing is promised of.
    """

    event: str
    rate: float
    kind: str = AT_MOST
    is_mean: bool = False


@dataclass(frozen=True)
class Entry:
    """One number that confml prints.

    draw(rng, **setting) simulates a data set of its own and returns, for each claim, whether its event
    happened, or the number. claims(setting) are the promised rates; guarantee quotes the documentation;
    fraction is the share of the draws asked for that a slow entry makes.
    """

    name: str
    quantity: str
    guarantee: str
    settings: Sequence[Mapping[str, Any]]
    claims: Callable[[Mapping[str, Any]], Sequence[Claim]]
    draw: Callable[..., Sequence[float]]
    fraction: float = 1.0

    def share_of(self, draws: int) -> int:
        return max(1, round(draws * self.fraction))


def grid(sizes: Sequence[Mapping[str, Any]] = ({},), **values: Any) -> list[dict[str, Any]]:
    """Return the settings of all combinations, for each of the sizes. values: a tuple has several values."""
    choices = [value if isinstance(value, tuple) else (value,) for value in values.values()]
    combinations = list(itertools.product(*choices))
    return [{**size, **dict(zip(values, chosen, strict=True))} for size in sizes for chosen in combinations]


def p_value_claims(kind: str = AT_MOST) -> Callable[[Mapping[str, Any]], Sequence[Claim]]:
    """Return the claims of a p-value: at most each of `LEVELS` with that probability."""
    return lambda setting: [Claim(f"p <= {level:g}", level, kind) for level in LEVELS]


def rejected(p: float) -> list[bool]:
    """Return the events of `p_value_claims`."""
    return [p <= level for level in LEVELS]
