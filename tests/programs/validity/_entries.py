"""Entries of the validity table: a guarantee, the settings it is tried in, and one simulated draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

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


def p_value_claims(kind: str = AT_MOST) -> Callable[[Mapping[str, Any]], Sequence[Claim]]:
    """Return the claims of a p-value: at most each of `LEVELS` with that probability."""
    return lambda setting: [Claim(f"p <= {level:g}", level, kind) for level in LEVELS]


def rejected(p: float) -> list[bool]:
    """Return the events of `p_value_claims`."""
    return [p <= level for level in LEVELS]


def sample(rng: np.random.Generator, rows: int, classes: int, ties: bool = False):
    """Draw X (rows, 2) and y of overlapping classes; whole numbers, and so ties, where ``ties``."""
    y = rng.integers(0, classes, rows)
    X = rng.normal(size=(rows, 2)) + 1.2 * np.column_stack([y % 4, y // 4])
    return (np.round(X) if ties else X), y


def true_p_value(method, X, y, rows: int) -> float:
    """Fit to the first ``rows`` examples and return the p-value of the next one's label.

    NaN for a label that training never saw, which has no p-value.
    """
    method.fit(X[:rows], y[:rows])
    place = np.flatnonzero(method.classes_ == y[rows])
    return float(method.predict_p_values(X[rows : rows + 1])[0, place[0]]) if len(place) else float("nan")
