"""Filters over rows that are added: bounds of all pairs, free places, rows that need a new filter."""

from __future__ import annotations

import numpy as np
import pytest

from confml._jit import kernel
from confml.neighbours.distance_filter import GrowingFilter
from confml.neighbours.lanes import GROUP, PANEL, products_above


@kernel
def all_values(queries, low, panels, others, values):
    masks, some = np.empty((2, GROUP), np.int64), np.empty((GROUP, PANEL), values.dtype)
    least, most = np.full(len(low), -np.inf, values.dtype), np.full(len(others), np.inf, values.dtype)
    for panel in range(len(panels)):
        for row in range(0, len(values), GROUP):
            products_above((queries, low), row, (panels, others), panel, least, most, masks, some)
            values[row : row + GROUP, PANEL * panel : PANEL * panel + PANEL] = some


@pytest.mark.parametrize("products", [False, True])
@pytest.mark.parametrize("whole", [False, True])
def test_bounds_hold_for_rows_put_later(products, whole):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) + 3.0
    X = np.rint(4 * X) if whole else X
    places = np.arange(0, 80, 2)
    near = GrowingFilter(np.ascontiguousarray(X), places, 128, products)
    assert near.direct is not products
    later = near.query(X[40:])
    assert near.accepts(later)
    near.put(later, np.arange(1, 41, 2))
    where = np.append(places, np.arange(1, 41, 2))
    T = rng.normal(size=(8, 5)) * 10
    rows = near.query(T)
    values = np.empty((8, 128), near.dtype)
    order = rng.permutation(8)
    all_values(*near.columns(rows, order), near.panels, near.low, values)
    values[order] = values.copy()
    squares = ((T[:, None] - X[None]) ** 2).sum(axis=2) / near.unit**2
    least = -near.factor * values.astype(np.float64)[:, where]
    slack = near.factor * (near.error[where] + rows.slack[:, None])
    assert np.all(least <= squares + 1e-12 * squares)
    assert np.all(squares <= least + slack + 1e-12 * squares)
    free = np.setdiff1d(np.arange(128), where)
    assert np.all(values[:, free] == -np.inf)


def test_rows_beyond_the_bound_are_refused():
    X = np.random.default_rng(1).integers(0, 5, (20, 3)).astype(float)
    near = GrowingFilter(X, np.arange(20), 64, True)
    assert near.accepts(near.query(X[:3]))
    assert not near.accepts(near.query(X[:3] + 0.5))
    assert not near.accepts(near.query(X[:3] + 1000.0))
    general = GrowingFilter(X + 0.25 * (X > 2), np.arange(20), 64, True)
    assert general.accepts(general.query(X[:3] + 1000.0))
    assert not general.accepts(general.query(X[:3] + 1e60))
    assert GrowingFilter(X, np.arange(20), 64, False).accepts(near.query(X + 1e60))


def test_equal_rows_have_no_products():
    assert GrowingFilter(np.full((5, 2), 0.1), np.arange(5), 64, True).direct
