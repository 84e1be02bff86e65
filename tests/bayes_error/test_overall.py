"""Bayes error of all classes: k-NN by k, its limit, one global tree, soft labels, noise series."""

from __future__ import annotations

import csv
import itertools
from pathlib import Path

import numpy as np
import pytest
from reference import overall_bayes_error as naive
from scipy.stats import binom, multinomial

import confml
from confml.bayes_error import (
    bayes_errors,
    extrapolate,
    neighbour_errors,
    noise_series,
    soft_label_error,
)
from confml.bayes_error import neighbour_lists as lists_module
from confml.bayes_error.assessment import assess
from confml.bayes_error.extrapolation import EXPONENTS, fit_curves, subsamples
from confml.bayes_error.label_noise import ABOUT, BOUNDS, INTERVALS, EstimatorSettings, raised_error
from confml.bayes_error.neighbour_errors import lower_bound, sampling_interval
from confml.bayes_error.soft_labels import votes_bounds
from confml.bayes_error.trials import gaussian_classes
from confml.data.generators import GENERATORS
from confml.errors import ConfigError, DataError


def problem(seed):
    rng = np.random.default_rng(seed)
    n, d, c = int(rng.integers(6, 40)), int(rng.integers(1, 5)), int(rng.integers(2, 5))
    X = rng.normal(size=(n, d)) if seed % 2 else rng.integers(0, 3, size=(n, d)).astype(float)
    y = rng.integers(0, c, size=n)
    y[:2] = 0, 1
    return X * (1.0, 1e-12, 1e12)[seed % 3], y


@pytest.fixture(params=["searches", "products"])
def way(request, monkeypatch):
    if request.param == "products":
        monkeypatch.setattr(lists_module, "searches_pay", lambda X: False)


@pytest.mark.parametrize("seed", range(16))
def test_lists_and_curves_equal_a_vote_of_each_row(seed, way):
    X, y = problem(seed)
    k = min(12, len(X) - 1)
    lists = lists_module.neighbour_lists(X, k)
    assert lists.tolist() == [naive.neighbours(X, i)[:k] for i in range(len(X))]
    found = neighbour_errors(X, y, k)
    error, risk = naive.neighbour_curve(X, y.tolist(), k)
    np.testing.assert_allclose(found.error, error, atol=1e-12)
    np.testing.assert_allclose(found.vote_risk, risk, atol=1e-12)
    rows = np.array(naive.vote_rows(X, y.tolist(), k))
    assert found.standard_error[-1] == pytest.approx(rows.mean(axis=1).std() / np.sqrt(len(X)), abs=1e-9)
    assert found.error_standard_error[-1] == pytest.approx(rows[:, 0].std() / np.sqrt(len(X)), abs=1e-9)
    most = 1 - np.bincount(y).max() / len(y)
    middle = (found.error + np.minimum(found.error, found.vote_risk)) / 2
    assert found.estimate == pytest.approx(np.minimum(middle, most))


@pytest.mark.parametrize("threads", [2, 4])
def test_lists_do_not_depend_on_threads(threads, monkeypatch, way):
    module = lists_module
    monkeypatch.setattr(module, "HELD", 1 << 12)
    monkeypatch.setattr("confml.bayes_error.searched_trees.LIST_ROWS", 64)
    X = np.random.default_rng(0).integers(0, 9, size=(600, 5)).astype(float)
    one = module.neighbour_lists(X, 7)
    with confml.threads(threads):
        assert module.neighbour_lists(X, 7).tobytes() == one.tobytes()


def test_bounds_of_the_error_hold_for_every_number_of_neighbours():
    """The asymptotic error of k-NN where class 2 has probability p, exactly, against the bounds from it."""
    for k in range(1, 60):
        for p in np.linspace(0.01, 0.5, 30):
            votes = np.arange(k + 1)
            wins = np.where(2 * votes > k, 1.0, np.where(2 * votes == k, 0.5, 0.0))
            chosen = float(binom.pmf(votes, k, p) @ wins)
            error = p * (1 - chosen) + (1 - p) * chosen
            assert lower_bound(error, k, 2) <= p + 1e-12 <= error + 2e-12
            risk = float(binom.pmf(votes, k, p) @ (1 - np.maximum(votes, k - votes) / k))
            assert risk <= p + 1e-12


def test_k_nn_bounds_use_all_neighbours():
    X, y = gaussian_classes(1500, 1500, 2.0, np.random.default_rng(1))
    found = neighbour_errors(X, y)
    estimate, lower, upper = found.bounds
    assert len(found.k) == 40 and found.k[found.best] >= 5
    assert upper == found.error.min() and lower <= estimate <= upper
    assert estimate == pytest.approx(0.1587, abs=0.02)
    few = neighbour_errors(X[1498:1502], y[1498:1502], 9)  # 4 rows have 3 neighbours
    assert few.k.tolist() == [1, 2, 3] and few.best == 2


def test_k_nn_lower_bound_is_below_the_error_where_neighbours_are_far_away():
    """In 20 dimensions the vote risk is above the error, so only the bound from the error is left."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 150)
    X = rng.normal(size=(300, 20))
    X[:, 0] += 2.0 * y
    found = neighbour_errors(X, y)
    first = int(np.argmin(found.error))
    assert found.vote_risk[found.best] > found.error[first]
    estimate, lower, upper = found.bounds
    assert estimate == upper == found.error[first]
    assert lower == lower_bound(upper, int(found.k[first]), 2) < 0.1587 < upper


@pytest.mark.parametrize("classes", [3, 5])
def test_asymptotic_error_of_many_classes_does_not_grow_with_k(classes):
    """So the bound of Cover and Hart for 1-NN holds for each k; exact sums over all votes."""
    for seed in range(10):
        p = np.random.default_rng(seed).dirichlet(np.full(classes, (0.3, 1.0)[seed % 2]))
        errors = []
        for k in range(1, 7):
            votes = [v for v in itertools.product(range(k + 1), repeat=classes) if sum(v) == k]
            chances = multinomial.pmf(votes, k, p)
            right = [p[np.equal(v, max(v))].mean() for v in votes]
            errors.append(1 - float(np.dot(chances, right)))
        assert np.diff(errors).max() <= 1e-12
        assert all(lower_bound(one, k, classes) <= 1 - p.max() + 1e-12 for k, one in enumerate(errors, 1))


@pytest.mark.parametrize("seed", range(12))
def test_global_tree_equals_kruskal(seed):
    X, y = problem(seed)
    found = bayes_errors(X, y, trees=3).global_tree
    delta, lower, upper = naive.global_tree(X, y.tolist())
    assert (found.lower, found.upper) == pytest.approx((lower, upper), abs=1e-12)
    assert found.estimate == pytest.approx((lower + upper) / 2)
    assert found.least - 1e-12 <= found.estimate <= found.most + 1e-12
    for a, b in itertools.combinations(found.classes.tolist(), 2):
        place = found.classes.tolist().index(a), found.classes.tolist().index(b)
        assert found.delta[place] == found.delta[place[::-1]] == pytest.approx(delta.get((a, b), 0.0))


def test_one_look_gives_what_the_separate_functions_give():
    X, y = gaussian_classes(120, 80, 2.0, np.random.default_rng(3))
    together = assess(X, y, neighbours=6, rng=np.random.default_rng(5))
    apart = bayes_errors(X, y, neighbours=6)
    for field, value in vars(apart.neighbours).items():
        np.testing.assert_array_equal(getattr(together.errors.neighbours, field), value)
    limit = extrapolate(X, y, np.random.default_rng(5))
    for field, value in vars(limit).items():
        np.testing.assert_array_equal(getattr(together.errors.limit, field), value)
    np.testing.assert_array_equal(together.errors.global_tree.delta, apart.global_tree.delta)
    assert together.errors.neighbours.error[0] == together.neighbours.error
    soft = np.full((200, 2), 0.5)
    assert bayes_errors(X, y, soft_labels=soft).soft_labels.estimate == 0.5
    with pytest.raises(DataError, match=r"200 rows and soft labels of shape \(3, 2\)"):
        bayes_errors(X, y, soft_labels=soft[:3])


# ---- extrapolation


@pytest.mark.parametrize("seed", range(8))
def test_fitted_curves_are_those_of_bounded_least_squares(seed):
    rng = np.random.default_rng(seed)
    sizes = np.array([4000, 2800, 2000, 1400, 1000, 700])
    means = rng.uniform(0, 0.3) + rng.uniform(-0.2, 0.6) * (sizes / 700.0) ** -0.4 + rng.normal(size=6) * 0.01
    means = np.maximum(means, 0)
    (limit,), (slope,), (exponent,) = fit_curves(sizes, means[None, :])
    expected, expected_exponent = naive.least_squares_curve(sizes, means, EXPONENTS[::-1])
    assert limit == pytest.approx(expected, abs=1e-6)
    if slope > 1e-9 and limit > 1e-9:
        assert exponent == pytest.approx(expected_exponent)


def test_limit_of_a_known_curve_is_found():
    sizes = np.array([10_000, 7000, 5000, 3500, 2500, 1700])
    (limit,), (slope,), (exponent,) = fit_curves(sizes, (0.1 + 2 * sizes ** -EXPONENTS[9])[None, :])
    assert (limit, slope, exponent) == pytest.approx((0.1, 2.0, EXPONENTS[9]))


def test_subsamples_are_disjoint_and_each_row_is_classified_by_its_own_subsample():
    X = np.random.default_rng(2).normal(size=(400, 2))
    parts = subsamples(X, 3, np.random.default_rng(0))
    assert parts.sizes[0] == 400 and (np.diff(parts.sizes) < 0).all()
    for size, rows, lists in zip(parts.sizes, parts.rows, parts.lists, strict=True):
        assert len(set(rows.tolist())) == len(rows) == 400 // size * size
        for part, near in zip(rows.reshape(-1, size), lists.reshape(-1, size, 3), strict=True):
            for i in range(0, size, 37):
                assert near[i].tolist() == [part[j] for j in naive.neighbours(X[part], i)[:3]]


def test_limit_is_below_the_error_of_all_rows_where_neighbours_are_far():
    rng = np.random.default_rng(0)
    X, y = gaussian_classes(700, 700, 2.0, rng, d=10)
    found = extrapolate(X, y, rng)
    assert found.low <= found.estimate <= found.high and found.low < 0.1587 < found.high
    assert found.estimate < found.curve[0] < found.curve[-1]
    assert found.error[0] == neighbour_errors(X, y, 10).error[-1]
    again = extrapolate(X, y, np.random.default_rng(7))
    assert vars(again)["estimate"] == extrapolate(X, y, np.random.default_rng(7)).estimate


# ---- soft labels


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_votes_of_annotators_equal_leaving_out_each_one(classes):
    tables = [v for v in itertools.product(range(4), repeat=classes) if sum(v) >= 2]
    lower, upper = votes_bounds(np.array(tables, float))
    for row, votes in enumerate(tables):
        assert lower[row] == pytest.approx(1 - max(votes) / sum(votes))
        assert upper[row] == pytest.approx(naive.held_out_annotator(votes))


@pytest.mark.parametrize("annotators", [2, 3, 5, 10])
def test_correction_is_exact_for_uniform_probabilities_and_the_bounds_hold(annotators):
    """P(count = j) = 1 / (m + 1) for each j if the probability of class 1 is uniform; Bayes error 1/4."""
    votes = np.column_stack([np.arange(annotators + 1), annotators - np.arange(annotators + 1)]).astype(float)
    found = soft_label_error(np.repeat(votes, 10, axis=0))
    assert found.annotated and found.rows == 10 * (annotators + 1)
    assert found.estimate == pytest.approx(0.25)
    assert found.mean < 0.25 < found.held_out


def test_mean_of_probabilities_and_its_interval():
    shares = np.array([[0.9, 0.1], [0.4, 0.6], [0.5, 0.5], [1.0, 0.0]])
    found = soft_label_error(shares, level=0.9)
    values = np.array([0.1, 0.4, 0.5, 0.0])
    assert found.estimate == found.mean == pytest.approx(values.mean())
    assert not found.annotated and np.isnan(found.held_out)
    half = 1.6448536269514722 * values.std(ddof=1) / 2
    assert (found.low, found.high) == pytest.approx((max(0.25 - half, 0), min(0.25 + half, 0.5)))
    assert soft_label_error(shares * 1.004).estimate == pytest.approx(0.25)


def test_interval_of_annotators_covers_both_biases():
    """From the mean of 1 - max n / m to the error of predicting one annotator: the truth is between them."""
    rng, generator = np.random.default_rng(0), GENERATORS["two-gaussians"]
    X, _ = generator.make(20_000, rng, d=2, distance=2.0)
    truth = float(generator.bayes_error(d=2, distance=2.0))
    found = soft_label_error(rng.multinomial(3, generator.bayes_probability(X, d=2, distance=2.0)))
    assert found.low < found.mean < found.estimate < found.held_out < found.high
    half = found.high - found.held_out
    assert abs(found.estimate - truth) > half  # the interval of the estimate alone misses
    assert found.low < truth < found.high


@pytest.mark.parametrize("mean", [0.0, 0.02, 0.3, 1.0])
def test_sampling_interval_solves_the_equation_of_wilson(mean):
    """Its ends are the means whose normal test just does not reject the one observed."""
    low, high = sampling_interval(mean, 50, 0.95)
    for end in (low, high):
        if 1e-12 < end < 1 - 1e-12:
            assert (mean - end) ** 2 == pytest.approx(1.959964**2 * end * (1 - end) / 50, rel=1e-5)
    assert low <= mean <= high and (low < high)


def test_intervals_of_neighbours_cover_a_known_bayes_error():
    """The intervals without bounds covered 70 to 88 % of such data sets."""
    generator = GENERATORS["two-gaussians"]
    truth = float(generator.bayes_error(d=2, distance=2.0))
    held = np.zeros(2)
    for seed in range(60):
        X, y = generator.make(300, np.random.default_rng(seed), d=2, distance=2.0)
        low, high = neighbour_errors(X, y).interval(0.95)
        limit = extrapolate(X, y, np.random.default_rng(seed))
        held += low <= truth <= high, limit.low <= truth <= limit.high
    assert (held >= 54).all()


def test_printed_shares_are_those_of_the_stored_simulation():
    path = Path(__file__).parents[2] / "results/reference/validity/validity.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["entry"] == "overall-bayes-error"]
    for kind, shares in (("interval", INTERVALS), ("bounds", BOUNDS)):
        for name, printed in shares.items():
            event = f"Bayes error outside the {kind} of {name}"
            seen = [1 - float(row["seen"]) for row in rows if row["event"] == event]
            assert len(seen) == 4 and printed == (round(min(seen), 2), round(max(seen), 2))


def test_rows_of_one_annotator_are_left_out():
    assert soft_label_error([[1, 0], [2, 1], [0, 1]]).rows == 1


@pytest.mark.parametrize(
    "labels, words",
    [
        ([[1, 0], [0, 1]], "every row has one annotator, or none"),
        ([[0.5, 0.2], [0.5, 0.5]], "soft labels of row 0 sum to 0.7"),
        ([[0.5, 0.5], [-0.1, 1.1]], "row 1, column 0 of the soft labels is -0.1"),
        ([[0.5], [0.5]], "at least two classes"),
        ([0.5, 0.5], r"shape \(2,\)"),
        ([["a", "b"]], "expected a table of soft labels"),
    ],
)
def test_soft_labels_that_cannot_be(labels, words):
    with pytest.raises(DataError, match=words):
        soft_label_error(labels)


# ---- noise series


def test_known_rise_is_that_of_the_noisy_distribution():
    """The Bayes error of mixed probabilities, from its definition, against the formula."""
    rng = np.random.default_rng(0)
    for c in (2, 3, 7):
        p = rng.dirichlet(np.full(c, 0.4), size=500)
        for rate in (0.0, 0.2, 0.7, 1.0):
            noisy = (1 - rate) * p + rate / c
            expected = np.mean(1 - noisy.max(axis=1))
            assert raised_error(np.mean(1 - p.max(axis=1)), rate, c) == pytest.approx(expected)


def test_noise_series_of_known_data():
    rng = np.random.default_rng(4)
    X, y = gaussian_classes(800, 800, 2.0, rng)
    rates = [1.0, 0.0, 0.5]
    found = noise_series(X, y, rates, rng, EstimatorSettings(extrapolate=True), repeats=2, true_error=0.1587)
    assert found.rates.tolist() == [0.0, 0.5, 1.0]
    assert set(found.estimate) == set(ABOUT)
    assert found.known_low.tolist() == found.known_high.tolist() == pytest.approx([0.1587, 0.32935, 0.5])
    near = neighbour_errors(X, y)
    clean = bayes_errors(X, y)
    for repeat in range(2):  # without noise every draw is the data
        assert found.estimate["k-nn"][0, repeat] == near.bounds[0]
        assert found.lower["1-nn"][0, repeat] == near.lower[0]
        assert found.upper["1-nn"][0, repeat] == near.error[0]
        assert found.estimate["global-tree"][0, repeat] == clean.global_tree.estimate
        pair = clean.pairwise.estimate[0, 1] * 0.5
        assert found.estimate["pair-trees"][0, repeat] == pytest.approx(pair)
    assert (np.diff(found.estimate["k-nn"].mean(axis=1)) > 0.05).all()
    outside = np.abs(found.estimate["k-nn"] - found.known_low[:, None]).mean(axis=1)
    assert found.area("k-nn") == pytest.approx((outside[0] + 2 * outside[1] + outside[2]) / 4)
    assert found.area("k-nn") < 0.03 < found.area("1-nn", "upper")


def test_noise_series_without_a_known_error_has_a_range():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(90, 3)), rng.integers(0, 3, 90)
    X[:, 0] += 9 * y
    found = noise_series(X, y, [0, 0.3], rng, repeats=3, best_error=0.02)
    assert found.known_low.tolist() == pytest.approx([0, 0.2])
    assert found.known_high.tolist() == pytest.approx([0.02, 0.02 + 0.3 * (2 / 3 - 0.02)])
    assert "pair-trees" not in found.estimate and "k-nn-limit" not in found.estimate
    assert found.area("1-nn", "upper") >= 0
    assert noise_series(X, y, [0.3], rng).best_error == neighbour_errors(X, y).error.min()
    one = noise_series(X, y, [0.3], rng, repeats=3, best_error=0.02)  # a draw does not depend on the rates
    np.testing.assert_array_equal(one.estimate["k-nn"][0], found.estimate["k-nn"][1])


@pytest.mark.parametrize(
    "options, words",
    [
        ({"rates": [1.2]}, "noise rates from 0 to 1"),
        ({"rates": []}, "noise rates from 0 to 1"),
        ({"rates": [0.1], "repeats": 0}, "repeats"),
        ({"rates": [0.1], "best_error": 2}, "best_error"),
        ({"rates": [0.1], "settings": EstimatorSettings(k=0)}, "k: expected"),
    ],
)
def test_noise_that_cannot_be(options, words):
    with pytest.raises(ConfigError, match=words):
        noise_series(np.eye(4), [0, 1, 0, 1], rng=np.random.default_rng(0), **options)


def test_too_few_rows_to_extrapolate():
    with pytest.raises(DataError, match="expected at least 156 rows to extrapolate with k = 10, got 20"):
        extrapolate(np.arange(20.0)[:, None], [0, 1] * 10, np.random.default_rng(0))
