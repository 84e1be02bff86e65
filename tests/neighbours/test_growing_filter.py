"""Filters over rows that are added: bounds of all pairs, free places, rows that need a new filter."""

from __future__ import annotations

import numpy as np
import pytest

from confml.neighbours.distance_filter import GrowingFilter


@pytest.mark.parametrize("products", [False, True])
@pytest.mark.parametrize("whole", [False, True])
def test_bounds_hold_for_rows_put_later(products, whole):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) + 3.0
    X = np.rint(4 * X) if whole else X
    places = np.arange(0, 80, 2)
    near = GrowingFilter(np.ascontiguousarray(X), places, 100, products)
    assert near.direct is not products
    later = near.query(X[40:])
    assert near.accepts(later)
    near.put(later, np.arange(1, 41, 2))
    where = np.append(places, np.arange(1, 41, 2))
    T = rng.normal(size=(7, 5)) * 10
    rows = near.query(T)
    g = near.similarities(rows, np.empty(700, near.dtype)).astype(np.float64)
    squares = ((T[:, None] - X[None]) ** 2).sum(axis=2) / near.unit**2
    base, slack = rows.norms[:, None], rows.slack[:, None] + 1e-12 * squares
    assert np.all(squares >= base - near.factor * (g[:, where] - near.low[where]) - slack)
    assert np.all(squares <= base - near.factor * (g[:, where] - near.high[where]) + slack)
    free = np.setdiff1d(np.arange(100), where)
    assert np.all(np.isinf(near.low[free])) and np.all(np.isinf(near.high[free]))


def test_rows_beyond_the_bound_are_refused():
    X = np.random.default_rng(1).integers(0, 5, (20, 3)).astype(float)
    near = GrowingFilter(X, np.arange(20), 30, True)
    assert near.accepts(near.query(X[:3]))
    assert not near.accepts(near.query(X[:3] + 0.5))
    assert not near.accepts(near.query(X[:3] + 1000.0))
    general = GrowingFilter(X + 0.25 * (X > 2), np.arange(20), 30, True)
    assert general.accepts(general.query(X[:3] + 1000.0))
    assert not general.accepts(general.query(X[:3] + 1e60))
    assert GrowingFilter(X, np.arange(20), 30, False).accepts(near.query(X + 1e60))


def test_equal_rows_have_no_products():
    assert GrowingFilter(np.full((5, 2), 0.1), np.arange(5), 9, True).direct
