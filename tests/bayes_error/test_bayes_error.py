"""Spanning trees and Bayes error rates against literal versions: full graphs, all trees of tiny ones."""

import itertools

import numpy as np
import pytest
from reference import bayes_error as naive
from trials import more_of

import confml
from confml.bayes_error import forests
from confml.bayes_error.estimates import bayes_error_from_crossings, largest_crossings
from confml.bayes_error.rates import bayes_errors, pairwise_bayes_error, warnings_about
from confml.errors import ConfigError, DataError


def random_problem(seed):
    """Rows with and without ties, in several scales, and labels of 2 to 5 classes."""
    rng = np.random.default_rng(seed)
    n, d, k = rng.integers(4, 45), rng.integers(1, 5), rng.integers(2, 6)
    X = rng.normal(size=(n, d)) if seed % 2 else rng.integers(0, 3, size=(n, d)).astype(float)
    y = rng.integers(0, k, size=n)
    y[:2] = 0, 1
    return X * (1.0, 1e-12, 1e12)[seed % 3], y, int(rng.integers(1, 5))


def without_nan(values):
    return values[~np.isnan(values)].tolist()


def check_against_naive(X, y, trees):
    result = bayes_errors(X, y, trees=trees)
    classes = np.unique(y)
    for a, b in itertools.combinations(range(classes.size), 2):
        rows = (y == classes[a]) | (y == classes[b])
        expected = naive.crossings(X[rows], y[rows] == classes[a], trees)
        assert without_nan(result.pairwise.per_tree[:, a, b]) == expected
        low, high = naive.greedy_tie_bands(X[rows], y[rows] == classes[a], trees)
        assert result.pairwise.crossings_tie_low[a, b] == pytest.approx(np.mean(low))
        assert result.pairwise.crossings_tie_high[a, b] == pytest.approx(np.mean(high))
        values = naive.bayes_error(np.mean(expected), np.sum(y == classes[a]), np.sum(y == classes[b]))
        rates = [getattr(result.pairwise, field)[a, b] for field in ("estimate", "lower", "upper")]
        np.testing.assert_allclose(rates, values, rtol=1e-12, atol=1e-15)
    for a, label in enumerate(classes):
        assert without_nan(result.one_vs_rest.per_tree[:, a]) == naive.crossings(X, y == label, trees)
        low, high = naive.greedy_tie_bands(X, y == label, trees)
        assert result.one_vs_rest.crossings_tie_low[a] == pytest.approx(np.mean(low), nan_ok=True)
        assert result.one_vs_rest.crossings_tie_high[a] == pytest.approx(np.mean(high), nan_ok=True)
    for rates in (result.pairwise, result.one_vs_rest):
        assert not (rates.estimate_tie_low > rates.estimate).any()
        assert not (rates.estimate > rates.estimate_tie_high).any()


def assert_equal_results(ours, theirs):
    for view in ("pairwise", "one_vs_rest", "global_tree", "nearest_neighbour"):
        for field, values in vars(getattr(ours, view)).items():
            np.testing.assert_array_equal(getattr(getattr(theirs, view), field), values)


@pytest.mark.parametrize("d", [3, 20])
def test_same_bytes_by_searches_products_blocks_and_threads(d, monkeypatch):
    """One class with most rows, and many equal distances."""
    rng = np.random.default_rng(d)
    X = rng.integers(0, 3, size=(600, d)) + rng.normal(size=(600, 1)).round(1) + 1e6
    y = np.repeat([0, 1, 2, 3], [400, 130, 40, 30])
    expected = bayes_errors(X, y)
    monkeypatch.setattr(forests, "BLOCK", 64)
    assert_equal_results(bayes_errors(X, y), expected)
    monkeypatch.setattr(forests, "MANY_ROWS", 300)
    for threads in (1, 4):
        with confml.threads(threads):
            assert_equal_results(bayes_errors(X, y), expected)


@pytest.mark.parametrize("seed", [*range(4), *more_of(range(4, 12))])
def test_crossings_and_estimates_equal_kruskal_on_the_full_graph(seed):
    check_against_naive(*random_problem(seed))


@pytest.mark.parametrize("seed", [*range(20), *more_of(range(20, 40))])
def test_tie_band_equals_all_spanning_trees(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    X = rng.integers(0, 2 + seed % 2, size=(n, 1 + seed % 2)).astype(float)
    y = np.array([0, 1, 2, 0, 1, 0])[rng.permutation(n)] if seed % 3 else np.arange(n) % 2
    if np.unique(y).size < 2:
        y[0] = 1 - min(y[0], 1)
    result = bayes_errors(X, y)
    rest = result.one_vs_rest
    for k, label in enumerate(result.pairwise.classes):
        low, high = map(np.mean, naive.tie_bands(X, y == label, 3))
        assert (rest.crossings_tie_low[k], rest.crossings_tie_high[k]) == pytest.approx((low, high))
        assert low <= rest.crossings[k] <= high
    if result.pairwise.classes.size == 2:
        low, high = map(np.mean, naive.tie_bands(X, y == y[0], 3))
        assert result.pairwise.crossings_tie_low[0, 1] == pytest.approx(low)
        assert result.pairwise.crossings_tie_high[0, 1] == pytest.approx(high)


@pytest.mark.parametrize("scale", [1e-300, 3.0, 1e300])
def test_order_of_rows_without_ties_and_scale_do_not_matter(scale):
    rng = np.random.default_rng(3)
    X, y, order = rng.normal(size=(300, 5)), rng.integers(0, 4, size=300), rng.permutation(300)
    plain, moved = bayes_errors(X, y), bayes_errors(X[order] * scale, y[order])
    np.testing.assert_array_equal(plain.pairwise.per_tree, moved.pairwise.per_tree)
    np.testing.assert_array_equal(plain.one_vs_rest.per_tree, moved.one_vs_rest.per_tree)


def test_the_largest_and_the_smallest_numbers_there_are():
    rng = np.random.default_rng(7)
    X, y = np.round(1000 * rng.uniform(-1, 1, size=(40, 1))), rng.integers(0, 2, size=40)
    X[:2, 0] = -1000, 1000
    expected = bayes_errors(X, y).pairwise.per_tree
    np.testing.assert_array_equal(bayes_errors(X * 2.0**1014, y).pairwise.per_tree, expected)
    beside = np.column_stack([X * 2.0**-1040, np.ones(40)])  # a constant that must not overflow
    np.testing.assert_array_equal(bayes_errors(beside, y).pairwise.per_tree, expected)


@pytest.mark.parametrize("d", [1, 30])
def test_all_points_equal(d):
    X, y = np.full((400, d), 7.0), np.repeat([0, 1, 2], [100, 250, 50])
    result = bayes_errors(X, y)
    assert result.pairwise.crossings_tie_low[0, 1] == 1
    assert result.pairwise.crossings_tie_high[0, 1] == 349
    assert result.one_vs_rest.crossings_tie_low.tolist() == [1, 1, 1]
    assert result.one_vs_rest.crossings_tie_high.tolist() == [399, 399, 399]
    assert any("a tie band wider than" in text for text in warnings_about(result.pairwise))


def test_duplicates_and_a_class_of_one_row():
    X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [5.0]])
    y = np.array(["a", "a", "b", "b", "b", "c"])
    check_against_naive(X, y, 3)
    rng = np.random.default_rng(0)
    X = np.repeat(2.0**40 + rng.integers(0, 1000, size=(12, 3)) * 2.0**-10, 5, axis=0)  # far from the origin
    check_against_naive(X, np.r_[np.zeros(30), np.ones(29), 2].astype(int), 2)


def test_two_rows_have_one_tree():
    result = bayes_errors([[0.0], [1.0]], [0, 1], trees=3)
    assert without_nan(result.pairwise.per_tree[:, 0, 1]) == [1.0]
    assert result.pairwise.estimate[0, 1] == 1.0
    assert warnings_about(result.pairwise) == [
        "1 estimate is a mean over fewer than 3 orthogonal trees (at least 1), because no more exist"
    ]


def test_fields_shapes_and_options():
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(90, 2)), np.repeat(["x", "y", "z"], [50, 30, 10])
    pairs, rest = pairwise_bayes_error(X, y), bayes_errors(X, y).one_vs_rest
    assert pairs.classes.tolist() == ["x", "y", "z"]
    for field in ("estimate", "lower", "upper", "crossings", "crossings_tie_low", "crossings_tie_high"):
        values = getattr(pairs, field)
        assert values.shape == (3, 3) and np.isnan(np.diag(values)).all()
        np.testing.assert_array_equal(values, values.T)
        assert getattr(rest, field).shape == (3,)
    nontrivial = pairwise_bayes_error(X, y, count="nontrivial")
    np.testing.assert_allclose(nontrivial.crossings_tie_high, pairs.crossings_tie_high - 1)
    plain = pairwise_bayes_error(X, y, normalise=False)
    np.testing.assert_allclose(plain.estimate[0, 2] / (10 / 60), pairs.estimate[0, 2])
    np.testing.assert_allclose(plain.estimate, (plain.lower + plain.upper) / 2)
    assert pairwise_bayes_error(X, y, correct_bias=False).estimate[0, 1] >= pairs.estimate[0, 1]


def test_estimate_with_gamma_crossings_is_the_smaller_prior():
    m, n = np.array([5, 50, 30.0]), np.array([95, 50, 3.0])
    pm = np.minimum(m, n) / (m + n)
    gamma = largest_crossings(m + n, pm)
    estimate, lower, upper = bayes_error_from_crossings(gamma * 1.5, m, n, normalise=False)
    np.testing.assert_allclose(estimate, pm)
    assert (upper / pm).max() < 4 / 3 and (upper >= pm - 1e-12).all() and (lower <= pm + 1e-12).all()
    estimate, lower, upper = bayes_error_from_crossings(40, 20, 20, correct_bias=False, normalise=False)
    assert (estimate, lower, upper) == (0.5, 0.5, 0.5)  # u is clipped at 0


@pytest.mark.parametrize(
    ("X", "y", "options", "error", "words"),
    [
        ([[1.0], [np.nan]], [0, 1], {}, DataError, "row 1, feature 0"),
        ([[1.0], [2.0]], [0, 0], {}, DataError, "two classes"),
        ([[1.0], [2.0]], [0, 1, 1], {}, DataError, "one label per row"),
        ([["red"], ["blue"]], [0, 1], {}, DataError, "table of numbers"),
        ([[1.0], [2.0]], [0, 1], {"trees": 101}, ConfigError, "trees.*from 1 to 100"),
        ([[1.0], [2.0]], [0, 1], {"count": "nontrival"}, ConfigError, "nontrivial"),
    ],
)
def test_mistakes_are_named(X, y, options, error, words):
    with pytest.raises(error, match=words):
        pairwise_bayes_error(X, y, **options)
