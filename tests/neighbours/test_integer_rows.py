"""The bound of distances from products of 16-bit integers."""

import numpy as np
import pytest

from confml.neighbours.integer_rows import IntegerRows


def unpacked(rows, n, d):
    """The integers (n, d) of `IntegerRows`."""
    pairs = rows.panels.transpose(0, 2, 1).reshape(-1, rows.panels.shape[1])
    return np.ascontiguousarray(pairs).view(np.int16)[:n, :d].astype(np.int64)


@pytest.mark.parametrize("scale", [1e-90, 1.0, 1e90])
@pytest.mark.parametrize("d", [1, 4, 33])
def test_distances_are_within_the_bound(d, scale):
    rng = np.random.default_rng(d)
    X, T = (scale * (5.0 + rng.standard_t(2, size=(n, d))) for n in (150, 90))
    rows = IntegerRows.of(X)
    new = rows.query(T)
    q, p = unpacked(rows, 150, d), unpacked(new, 90, d)
    np.testing.assert_array_equal(rows.norms[:150], np.sum(q * q, axis=1))
    assert rows.usable.all() and np.sqrt(rows.norms.max()) > 2**14.4
    assert not rows.norms[150:].any() and not rows.panels[-1][:, 150 - 128 :].any()
    for left, right, x, y, error in ((X, X, q, q, 2 * rows.error), (T, X, p, q, rows.error + new.error)):
        on = new.usable if left is T else rows.usable
        distances = rows.scale * np.sqrt(np.sum((left[on, None] - right) ** 2, axis=2))
        roots = np.sqrt(np.sum((x[on, None] - y) ** 2, axis=2))
        assert np.abs(distances - roots).max() <= error < 4 * np.sqrt(d)


def test_integers_are_exact_where_they_are_short():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 256, size=(70, 40)).astype(float)
    rows = IntegerRows.of(X)
    assert rows.error == 0.0 and rows.scale == 1.0
    differences = unpacked(rows, 70, 40)[:, None] - unpacked(rows, 70, 40)
    np.testing.assert_array_equal(differences, X[:, None] - X)
    assert rows.query(X[:3] + 1.0).error == 0.0
    assert rows.query(X[:3] + 0.5).error > 0.5
    assert IntegerRows.of(X * 1000).error > 0.0


def test_new_rows_that_are_too_long_are_not_usable():
    X = np.random.default_rng(1).normal(size=(20, 3))
    new = IntegerRows.of(X).query(np.vstack([X[:2], 1e3 * X[:1], 1e200 * X[:1]]))
    np.testing.assert_array_equal(new.usable, [True, True, False, False])
    assert not new.norms[2:].any()


def test_rows_without_a_bound():
    assert IntegerRows.of(np.ones((5, 2)) * 0.3) is None
    assert IntegerRows.of(np.array([[0.1], [1e140]])) is None
    assert IntegerRows.of(np.random.default_rng(2).normal(size=(3, 5000))) is None
