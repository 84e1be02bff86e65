"""Simulated examples, and p-values of their labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from confml.measures import Case
from confml.methods.registry import build
from confml.methods.tcm_nn.online import OnlineTCMNN


def sample(rng: np.random.Generator, rows: int, classes: int, ties: bool = False):
    """Draw X (rows, 2) and y of overlapping classes; whole numbers, and so ties, where ``ties``."""
    y = rng.integers(0, classes, rows)
    X = features(rng, y)
    return (np.round(X) if ties else X), y


def features(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """Draw X (rows, 2) of classes y around the points of a lattice."""
    return rng.normal(size=(len(y), 2)) + 1.2 * np.column_stack([y % 4, y // 4])


def seeded(rng: np.random.Generator, method: str, params: Mapping[str, Any]):
    """Return a method whose random numbers, if it has any, are drawn from ``rng``."""
    model = build(method, params)
    if "random_state" in model.get_params():
        model.set_params(random_state=int(rng.integers(2**31)))
    return model


def true_p_value(method, X, y, rows: int, **fit: Any) -> float:
    """Fit to the first ``rows`` examples and return the p-value of the next one's label.

    NaN for a label that training never saw, which has no p-value. fit: further arguments of ``fit``.
    """
    method.fit(X[:rows], y[:rows], **fit)
    column = np.flatnonzero(method.classes_ == y[rows])
    p_values = method.predict_p_values(X[rows : rows + 1])[0]
    return float(p_values[column[0]]) if len(column) else float("nan")


def online_p_values(rng: np.random.Generator, steps: int, classes: int, ties: bool) -> np.ndarray:
    """Return the smoothed p-values (steps,) of an online pass of TCM-NN."""
    X, y = sample(rng, steps, classes, ties)
    online = OnlineTCMNN(np.arange(classes), smoothed=True, random_state=int(rng.integers(2**31)))
    return Case(online.predict_then_learn(X, y), y).smoothed
