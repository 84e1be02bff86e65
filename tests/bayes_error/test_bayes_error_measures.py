"""Known Bayes errors, bounds of all classes, selection and intervals."""

from __future__ import annotations

import numpy as np
import pytest
from reference import bayes_error as naive
from scipy.stats import norm

from confml.bayes_error import bayes_errors, pairwise_bayes_error
from confml.bayes_error.estimates import cover_hart_bound
from confml.bayes_error.selection import class_weights, sample_by_class, select_attributes
from confml.bayes_error.uncertainty import leave_block_out_intervals
from confml.data.generators import two_gaussians_bayes_error
from confml.errors import ConfigError


def gaussian_classes(n, m, separation, rng):
    """n and m rows of two spherical Gaussians in the plane."""
    X = rng.normal(size=(n + m, 2))
    X[n:, 0] += separation
    return X, np.repeat([0, 1], [n, m])


@pytest.mark.parametrize(
    ("prior", "separation"), [(0.5, 0.5), (0.5, 2.0), (0.15, 0.5), (0.15, 2.0), (0.33, 4.0)]
)
def test_bias_against_the_known_error_of_two_gaussians(prior, separation):
    """The estimate tends to what (6) makes of the true divergence (2): the mean of 30 is that within noise
    and the finite sample's own bias, and the truth lies where the two bounds, and so the estimate, allow."""
    rng = np.random.default_rng(1)
    n = 1000
    m = round(prior * n)
    p = m / n
    truth = float(two_gaussians_bayes_error(distance=separation, prior=p))
    corrected, raw = [], []
    for _ in range(30):
        X, y = gaussian_classes(m, n - m, separation, rng)
        corrected.append(pairwise_bayes_error(X, y, normalise=False).estimate[0, 1])
        raw.append(pairwise_bayes_error(X, y, normalise=False, correct_bias=False).estimate[0, 1])
    # u = 1 - 4 integral of p f q g / (p f + q g), by (2) and (5), along the line through both means
    x = np.linspace(-9, separation + 9, 20_001)
    f, g = p * norm.pdf(x), (1 - p) * norm.pdf(x - separation)
    u = 1 - 4 * float(np.sum(f * g / (f + g)) * (x[1] - x[0]))
    lower, upper = 0.5 - 0.5 * np.sqrt(u), 0.5 - 0.5 * u
    limit = min((lower + upper) / 2, min(p, 1 - p))
    assert lower <= truth <= upper
    standard_error = np.std(corrected, ddof=1) / np.sqrt(30)
    assert abs(np.mean(corrected) - limit) < 3 * standard_error + 0.006
    assert abs(np.mean(raw) - (lower + upper) / 2) < 3 * np.std(raw, ddof=1) / np.sqrt(30) + 0.006
    # so the distance to the truth is at most half the gap between the bounds, and the correction helps
    assert abs(np.mean(corrected) - truth) < (upper - lower) / 2 + 0.01
    assert np.mean(corrected) <= np.mean(raw)
    if limit < (lower + upper) / 2:
        assert abs(np.mean(corrected) - truth) < abs(np.mean(raw) - truth) - 0.01


def test_one_vs_rest_is_at_most_the_sum_of_pairs():
    rng = np.random.default_rng(3)
    centres = np.array([[0.0, 0.0], [1.5, 0.0], [0.0, 1.5], [4.0, 4.0]])
    y = rng.integers(0, 4, size=4000)
    X = centres[y] + rng.normal(size=(4000, 2))
    share = np.bincount(y) / y.size
    result = bayes_errors(X, y, normalise=False)
    for k in range(4):
        others = [j for j in range(4) if j != k]
        # equations (11) and (27) weigh a pair by its classes' priors among all classes
        pairs = sum(result.pairwise.estimate[k, j] * (share[k] + share[j]) for j in others)
        assert result.one_vs_rest.estimate[k] <= pairs + 0.01


def four_random_densities(seed):
    """Points x (4001,) and the densities of four Gaussian classes times their priors (4, 4001)."""
    rng = np.random.default_rng(seed)
    x = np.linspace(-12, 12, 4001)
    prior = rng.dirichlet(np.ones(4))
    return x, np.array([p * norm.pdf(x, rng.normal(scale=2), rng.uniform(0.3, 2)) for p in prior])


@pytest.mark.parametrize("seed", range(5))
def test_theorem_3_holds_for_known_densities(seed):
    """(27): integrals of four random mixtures on a grid, and equality where only one pair overlaps."""
    x, joint = four_random_densities(seed)
    for k in range(4):
        rest = np.delete(joint, k, axis=0)
        one_vs_rest = np.minimum(joint[k], rest.sum(axis=0)).sum()
        pairs = np.minimum(joint[k], rest).sum()
        assert np.minimum(joint[k], rest).sum(axis=1).max() - 1e-12 <= one_vs_rest <= pairs + 1e-12
    apart = np.array([norm.pdf(x, c, 0.2) for c in (-10, -9.5, 0, 10)]) / 4
    pairs = np.minimum(apart[0], apart[1:]).sum()
    assert np.minimum(apart[0], apart[1:].sum(axis=0)).sum() == pytest.approx(pairs, rel=1e-9)


def test_henze_penrose_bound_is_tighter_than_jensen_shannon():
    x = np.linspace(-15, 15, 20_001)
    for separation in (0.0, 0.3, 1.0, 2.0, 5.0):
        f, g = (np.exp(-((x - c) ** 2) / 2) for c in (-separation / 2, separation / 2))
        f, g = f / f.sum(), g / g.sum()
        tight, loose = naive.henze_penrose_upper_bound(f, g), naive.jensen_shannon_upper_bound(f, g)
        assert norm.cdf(-separation / 2) - 1e-6 <= tight <= loose + 1e-9
    p = np.linspace(0.01, 0.99, 99)  # lemma 4, point by point
    assert (2 * p * (1 - p) <= -(p * np.log2(p) + (1 - p) * np.log2(1 - p)) / 2 + 1e-12).all()


@pytest.mark.parametrize("separation", [0.0, 0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
def test_henze_penrose_bound_against_bhattacharyya_and_chernoff(separation, scale):
    """Two Gaussians: tighter than both for equal priors, but Chernoff's can be tighter for others."""
    x = np.linspace(-15, 15, 6001)
    bounds = {}
    for prior in (0.5, 0.33, 0.15):
        a = prior * norm.pdf(x) * (x[1] - x[0])
        b = (1 - prior) * norm.pdf(x, separation, scale) * (x[1] - x[0])
        henze_penrose = np.divide(2 * a * b, a + b, out=np.zeros_like(a), where=a + b > 0).sum()
        bhattacharyya = np.sqrt(a * b).sum()
        chernoff = min((a**s * b ** (1 - s)).sum() for s in np.linspace(0, 1, 101))
        bounds[prior] = henze_penrose, chernoff
        assert np.minimum(a, b).sum() - 1e-9 <= henze_penrose <= bhattacharyya + 1e-9
        assert min(henze_penrose, prior) < chernoff + 0.01  # with the smaller prior as in (7)
    assert bounds[0.5][0] <= bounds[0.5][1] + 1e-9
    if separation <= 0.5 and scale == 1:
        assert bounds[0.33][0] > bounds[0.33][1] + 0.08 and bounds[0.15][0] > bounds[0.15][1] + 0.09


@pytest.mark.parametrize("seed", range(5))
def test_theorem_2_holds_for_known_densities(seed):
    """(15): the error against the mixture of the others is at most that of the Bayes classifier (12)."""
    _, joint = four_random_densities(seed)
    chosen = joint.argmax(axis=0)
    for k in range(4):
        rest = np.delete(joint, k, axis=0).sum(axis=0)
        one_vs_rest = np.where(chosen == k, rest, joint[k]).sum()
        assert np.minimum(joint[k], rest).sum() <= one_vs_rest + 1e-12


@pytest.mark.parametrize("seed", range(24))
def test_errors_of_the_nearest_neighbour_equal_a_look_at_every_pair(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 40)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, d)) if seed % 2 else rng.integers(0, 3, size=(n, d)).astype(float)
    X = X * (1.0, 1e-12, 1e12)[seed % 3] + (1e6 if seed % 4 == 3 else 0.0)
    y = rng.integers(0, 3, size=n)
    y[:3] = 0, 1, 2
    rows = naive.nearest(X, y)
    found = bayes_errors(X, y, trees=1 + seed % 3).nearest_neighbour
    assert found.error == found.upper == sum(not first for _, _, first in rows) / n
    assert found.least == sum(own > other for own, other, _ in rows) / n
    assert found.most == sum(own >= other for own, other, _ in rows) / n
    assert found.lower == cover_hart_bound(found.error, 3)


def test_rows_that_are_all_equal_have_every_error_of_the_nearest_neighbour():
    found = bayes_errors(np.zeros((6, 1)), [0, 0, 0, 1, 1, 1]).nearest_neighbour
    assert (found.least, found.most) == (0.0, 1.0)


@pytest.mark.parametrize("seed", range(12))
def test_bounds_from_one_tree_equal_kruskal(seed):
    """Sekeh, Oselio and Hero (2020), theorems 3 and 4."""
    rng = np.random.default_rng(seed)
    n, c = int(rng.integers(6, 40)), int(rng.integers(2, 5))
    X = rng.normal(size=(n, 3)) if seed % 2 else rng.integers(0, 3, size=(n, 3)).astype(float)
    y = np.concatenate([np.arange(c), rng.integers(0, c, size=n - c)])
    found = bayes_errors(X, y).global_tree
    crossing = [sorted((y[i], y[j])) for _, i, j in naive.kruskal(n, naive.all_edges(X)) if y[i] != y[j]]
    for a in range(c):
        for b in range(a + 1, c):
            assert found.delta[a, b] == found.delta[b, a] == crossing.count([a, b]) / (2 * n)
    most = 1 - np.bincount(y).max() / n
    upper = min(len(crossing) / n, (c - 1) / c)
    assert found.upper == pytest.approx(min(upper, most))
    assert found.lower == pytest.approx(min(cover_hart_bound(upper, c), most))
    assert found.least - 1e-12 <= found.estimate <= found.most + 1e-12


def test_bounds_of_the_nearest_neighbour_contain_the_known_error():
    rng = np.random.default_rng(4)
    X, y = gaussian_classes(1500, 1500, 2.0, rng)
    bounds = bayes_errors(X, y).nearest_neighbour
    truth = float(two_gaussians_bayes_error(distance=2.0))
    assert bounds.lower - 0.02 < truth < bounds.upper
    assert cover_hart_bound(0.5, 2) == pytest.approx(0.5)
    assert cover_hart_bound(2 / 3, 3) == pytest.approx(2 / 3)


def test_selection_finds_the_attribute_that_separates():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, size=200)
    X = rng.normal(size=(200, 4))
    X[:, 2] += 5 * y
    chosen = select_attributes(X, y, 2)
    assert chosen.attributes[0] == 2 and chosen.attributes.size == 2
    assert chosen.criterion[0] == pairwise_bayes_error(X[:, [2]], y).estimate[0, 1]
    with pytest.raises(ConfigError, match="1 to 4"):
        select_attributes(X, y, 5)
    with pytest.raises(ConfigError, match="mean"):
        select_attributes(X, y, 1, criterion="meen")


@pytest.mark.parametrize(("separation", "count"), [(30.0, "all"), (30.0, "nontrivial"), (0.0, "all")])
def test_intervals_have_a_width(separation, count):
    """Separated without any block, or as mixed as the bias correction allows: all estimates are equal."""
    rng = np.random.default_rng(3)
    for _ in range(5):
        X, y = gaussian_classes(30, 30, separation, rng)
        found = leave_block_out_intervals(X, y, rng, bayes_errors(X, y, count=count)).pairwise
        assert found.high[0, 1] - found.low[0, 1] > 0.01


def test_intervals_hold_uncorrected_estimates_above_one():
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(200, 2)), np.repeat([0, 1], [20, 180])
    found = leave_block_out_intervals(X, y, rng, bayes_errors(X, y, correct_bias=False), blocks=5)
    for view in ("pairwise", "one_vs_rest"):
        estimate, interval = getattr(found.errors, view).estimate, getattr(found, view)
        known = ~np.isnan(estimate)
        assert estimate[known].min() > 1
        assert (interval.low < estimate)[known].all() and (estimate < interval.high)[known].all()
        assert interval.high[known].max() <= 5  # 1/2 over the smaller prior


@pytest.mark.real_data
def test_letter_has_wide_ties_and_agrees_with_full_matrices(data_folder):
    text = (data_folder / "letter" / "letter-recognition.data").read_text().split()
    rows = [line.split(",") for line in text]
    X, y = np.array([r[1:] for r in rows], float), np.array([r[0] for r in rows])
    result = pairwise_bayes_error(X, y)
    band = result.estimate_tie_high - result.estimate_tie_low
    assert np.nanmax(band) > 0  # whole numbers from 0 to 15 tie
    assert (result.estimate_tie_low <= result.estimate)[~np.isnan(band)].all()
    assert (result.estimate <= result.estimate_tie_high)[~np.isnan(band)].all()
    result = pairwise_bayes_error(X, y, trees=1)
    from scipy.sparse.csgraph import minimum_spanning_tree
    from scipy.spatial.distance import cdist

    for a, b in [("C", "G"), ("H", "K"), ("A", "Z")]:
        i, j = (int(np.flatnonzero(result.classes == k)[0]) for k in (a, b))
        part = np.isin(y, [a, b])
        tree = minimum_spanning_tree(cdist(X[part], X[part], "sqeuclidean") + 1e-9).tocoo()
        crossed = np.sum((y[part] == a)[tree.row] != (y[part] == a)[tree.col])
        assert result.crossings_tie_low[i, j] <= crossed <= result.crossings_tie_high[i, j]


# ---- rows and class weights selected by the Bayes error


def test_a_sample_has_every_class_with_its_share():
    y = np.repeat(["a", "b", "c", "d"], [700, 290, 9, 1])
    rows = sample_by_class(y, 100, np.random.default_rng(0))
    assert len(set(rows.tolist())) == len(rows)
    assert np.unique(y[rows], return_counts=True)[1].tolist() == [69, 28, 2, 1]
    thirds = np.repeat([0, 1, 2], 50)
    for most in range(6, 150):  # never more, and never far from the shares
        counts = np.bincount(thirds[sample_by_class(thirds, most, np.random.default_rng(most))])
        assert counts.sum() == most and np.ptp(counts) <= 1
    assert len(sample_by_class(thirds, 2, np.random.default_rng(0))) == 6
    assert sorted(sample_by_class(y, None, np.random.default_rng(0)).tolist()) == list(range(1000))


def test_class_weights_grow_with_the_estimate():
    assert class_weights(np.array([0.0, 1.0, 0.5])).tolist() == pytest.approx([2 / 3, 4 / 3, 1.0])
