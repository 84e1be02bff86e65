"""The error bound of `DistanceFilter` under attack: squared distances in exact arithmetic must lie inside."""

from fractions import Fraction

import numpy as np
import pytest

from confml.bayes_error.points import Points
from confml.neighbours.distance_filter import MOST_FEATURES, DistanceFilter


def exact_squares(A, B):
    """Squared distances of the rows of A (n, d) to those of B (m, d) as fractions."""
    return [
        [sum((Fraction(float(a)) - Fraction(float(b))) ** 2 for a, b in zip(x, z, strict=True)) for z in B]
        for x in A
    ]


def largest_share(distance_filter, X, T):
    """The largest error of n_i + n_j - 2 p over s_i + s_j; `inf` for an error where the slack is 0."""
    rows, training = distance_filter.query(T), distance_filter.rows
    products = distance_filter.products(rows, np.empty(len(T) * len(X), np.float32))
    worst = 0.0
    for i, squares in enumerate(exact_squares(T, X)):
        assert np.isfinite(rows.slack[i])
        for j, square in enumerate(squares):
            exact = (
                Fraction(rows.norms[i]) + Fraction(training.norms[j]) - 2 * Fraction(float(products[i, j]))
            )
            error = abs(square / Fraction(distance_filter.unit) ** 2 - exact)
            slack = Fraction(rows.slack[i]) + Fraction(training.slack[j])
            worst = max(worst, float(error / slack) if slack else (np.inf if error else 0.0))
    return worst


def adversarial(d, rng):
    """Rows that make float32 products as wrong as they get: (X, T) by their kind."""
    half = 1 + rng.integers(0, 2**10, (12, d)) * 2.0**-10 + 2.0**-24  # each is rounded by half a unit
    normal, signs = rng.normal(size=(12, d)), rng.choice([-1, 1], (12, d))
    top, first = np.arange(12)[:, None] < 6, np.arange(12)[:, None] == 0
    kinds = {
        "every coordinate halfway between two float32": half * signs,
        "one sign, so that all roundings add up": half,
        "near rows far from the centre": np.where(top, 1, -1) * (1 + normal * 1e-7),
        "products that cancel": half * np.where(top & (np.arange(d) % 2 == 0), -1, 1),
        "one row much longer than the others": np.where(first, 1e9, normal * 1e-6),
        "products below float32": np.where(first, 1.0, normal * 1e-24),
        "coordinates below float32": np.where(first, 1.0, rng.integers(-9, 10, (12, d)) * 1e-46),
        "coordinates of all sizes": 2.0 ** rng.uniform(-40, 0, (12, d)) * signs,
        "a large offset": normal + 1e9,
    }
    for kind, X in kinds.items():
        yield kind, X, np.vstack([X[::4] * (1 + 2.0**-23), X[::4] + X[1::4] - X[0], 1e6 * X[:2]])


@pytest.mark.parametrize("scale", [1e-55, 1.0, 1e118])
@pytest.mark.parametrize("d", [1, 2, 30])
def test_the_bound_holds_for_adversarial_rows(d, scale):
    for kind, X, T in adversarial(d, np.random.default_rng(d + 1)):
        distance_filter = DistanceFilter.of(X * scale)
        assert largest_share(distance_filter, X * scale, X * scale) <= 1, kind
        assert largest_share(distance_filter, X * scale, T * scale) <= 1, kind


def test_the_bound_holds_in_high_dimension():
    """The products of rows with one sign add up to errors that grow with the dimension."""
    rng = np.random.default_rng(1000)
    X = 1 + rng.integers(0, 2**10, (3, 3000)) * 2.0**-10 + 2.0**-24
    X[0] *= -1
    distance_filter = DistanceFilter.of(X)
    assert 0 < largest_share(distance_filter, X, X[:2]) <= 1


def test_products_of_integers_have_no_error():
    rng = np.random.default_rng(1)
    X = rng.integers(-50, 50, size=(30, 40)).astype(float)
    T = rng.integers(-60, 60, size=(10, 40)).astype(float)
    T[0] += 0.1  # one row that is not exact carries the error of both
    distance_filter = DistanceFilter.of(X)
    assert not distance_filter.rows.slack.any() and not distance_filter.query(T).slack[1:].any()
    assert largest_share(distance_filter, X, T[1:]) == 0
    assert 0 < largest_share(distance_filter, X, T[:1]) <= 1


def test_float32_bounds_around_each_row():
    """low and high are rounded to float32 and still hold after float32 sums, as the kernels compute them."""
    for kind, X, _ in adversarial(17, np.random.default_rng(2)):
        distance_filter = DistanceFilter.of(X)
        g = distance_filter.products(distance_filter.rows, np.empty(144, np.float32))
        upper, lower = g - distance_filter.low, g - distance_filter.high
        norms = distance_filter.rows.norms
        slack, _ = distance_filter.rows.rounded()
        for i, squares in enumerate(exact_squares(X, X)):
            for j, square in enumerate(squares):
                square = square / Fraction(distance_filter.unit) ** 2
                base = Fraction(norms[i])
                assert square >= base - 2 * Fraction(float(upper[i, j])) - Fraction(float(slack[i]))
                assert square <= base - 2 * Fraction(float(lower[i, j])) + Fraction(float(slack[i])), kind


def test_bounds_of_the_spanning_trees():
    """`Points.rounded` gives lower bounds of the exact squared distances."""
    for kind, X, _ in adversarial(17, np.random.default_rng(3)):
        points = Points.of(X, np.zeros(12, dtype=np.int64), 1)
        Z, low = points.rounded
        products = Z @ Z.T
        for i, squares in enumerate(exact_squares(points.X, points.X)):
            for j, square in enumerate(squares):
                bound = Fraction(low[i]) + Fraction(low[j]) - 2 * Fraction(float(products[i, j]))
                assert i == j or bound <= square, kind


def test_where_the_bound_does_not_hold_nothing_is_excluded():
    equal = DistanceFilter.of(np.full((5, 3), 0.1))  # no distance to compare
    too_wide = DistanceFilter.of(np.broadcast_to(np.float64(0.5), (2, MOST_FEATURES + 1)))
    for distance_filter in (equal, too_wide):
        assert np.isneginf(distance_filter.low).all() and np.isposinf(distance_filter.high).all()
    rows = DistanceFilter.of(np.random.default_rng(0).normal(size=(9, 3))).query(
        np.full((2, 3), [[1e10], [1e60]])
    )
    assert np.isinf(rows.slack).tolist() == [False, True] and not rows.values[1].any()
