"""A table, and a generator of random numbers."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def table(rng):
    """40 examples of 5 attributes on different scales; the last is constant."""
    X = rng.normal(size=(40, 5)) * [1.0, 100.0, 1e-3, 5.0, 0.0] + [0.0, 50.0, 7.0, -3.0, 0.1]
    return X, np.repeat([0, 1], 20)


@pytest.fixture
def rng():
    return np.random.default_rng(7)
