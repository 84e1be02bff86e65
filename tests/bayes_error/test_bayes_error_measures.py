"""Known Bayes errors, bounds of all classes, selection and intervals."""

import itertools

import numpy as np
import pytest
from reference import bayes_error as naive
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist, jensenshannon
from scipy.stats import norm

from confml.bayes_error.estimates import cover_hart_bound
from confml.bayes_error.rates import bayes_errors, pairwise_bayes_error
from confml.bayes_error.selection import sample_by_class, select_attributes
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
        rest = [j for j in range(4) if j != k]
        # equations (11) and (27) weigh a pair by its classes' priors among all classes
        pairs = sum(result.pairwise.estimate[k, j] * (share[k] + share[j]) for j in rest)
        assert result.one_vs_rest.estimate[k] <= pairs + 0.01


@pytest.mark.parametrize("seed", range(5))
def test_theorems_2_and_3_hold_for_known_densities(seed):
    """(15) and (27): integrals of random mixtures of four Gaussians on a grid."""
    rng = np.random.default_rng(seed)
    x, prior = np.linspace(-12, 12, 4001), rng.dirichlet(np.ones(4))
    joint = np.array([p * norm.pdf(x, rng.normal(scale=2), rng.uniform(0.3, 2)) for p in prior])
    for k in range(4):
        rest = np.delete(joint, k, axis=0)
        error = np.minimum(joint[k], rest.sum(axis=0)).sum()
        assert error <= np.minimum(joint[k], rest).sum() + 1e-12
        assert error <= np.where(joint.argmax(axis=0) == k, rest.sum(axis=0), joint[k]).sum() + 1e-12


@pytest.mark.parametrize("prior", [0.5, 0.33, 0.15])
@pytest.mark.parametrize("separation", [0.0, 0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
def test_henze_penrose_bound_against_others(prior, separation, scale):
    """Two Gaussians: tighter than all three for equal priors, but Chernoff's can be tighter for others."""
    x = np.linspace(-15, 15, 6001)
    a = prior * norm.pdf(x) * (x[1] - x[0])
    b = (1 - prior) * norm.pdf(x, separation, scale) * (x[1] - x[0])
    henze_penrose = np.divide(2 * a * b, a + b, out=np.zeros_like(a), where=a + b > 0).sum()
    chernoff = min((a**s * b ** (1 - s)).sum() for s in np.linspace(0, 1, 101))
    assert np.minimum(a, b).sum() - 1e-9 <= henze_penrose <= np.sqrt(a * b).sum() + 1e-9  # Bhattacharyya's
    assert min(henze_penrose, prior) < chernoff + 0.01  # with the smaller prior as in (7)
    if prior == 0.5:
        assert henze_penrose <= chernoff + 1e-9
        assert henze_penrose <= 0.5 - 0.5 * jensenshannon(a, b, 2) ** 2 + 1e-9  # Lin 1991
    elif separation <= 0.5 and scale == 1:
        assert henze_penrose > chernoff + 0.08


@pytest.mark.parametrize("seed", range(24))
def test_errors_of_the_nearest_neighbour_equal_a_look_at_every_pair(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 40)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, d)) if seed % 2 else rng.integers(0, 3, size=(n, d)).astype(float)
    X = X * (1.0, 1e-12, 1e12)[seed % 3] + (1e6 if seed % 4 == 3 else 0.0)
    y = rng.integers(0, 3, size=n)
    y[:3] = 0, 1, 2
    rows = naive.nearest(X, y)
    bounds = bayes_errors(X, y, trees=1 + seed % 3).nearest_neighbour
    assert bounds.error == bounds.upper == sum(not first for _, _, first in rows) / n
    assert bounds.least == sum(same > different for same, different, _ in rows) / n
    assert bounds.most == sum(same >= different for same, different, _ in rows) / n
    assert bounds.lower == cover_hart_bound(bounds.error, 3)


@pytest.mark.parametrize("seed", range(12))
def test_bounds_from_one_tree_equal_kruskal(seed):
    """Sekeh, Oselio and Hero (2020), theorems 3 and 4."""
    rng = np.random.default_rng(seed)
    n, c = int(rng.integers(6, 40)), int(rng.integers(2, 5))
    X = rng.normal(size=(n, 3)) if seed % 2 else rng.integers(0, 3, size=(n, 3)).astype(float)
    y = np.concatenate([np.arange(c), rng.integers(0, c, size=n - c)])
    bounds = bayes_errors(X, y).global_tree
    crossing = [sorted((y[i], y[j])) for _, i, j in naive.kruskal(n, naive.all_edges(X)) if y[i] != y[j]]
    for a, b in itertools.combinations(range(c), 2):
        assert bounds.delta[a, b] == bounds.delta[b, a] == crossing.count([a, b]) / (2 * n)
    most = 1 - np.bincount(y).max() / n
    upper = min(len(crossing) / n, (c - 1) / c)
    assert bounds.upper == pytest.approx(min(upper, most))
    assert bounds.lower == pytest.approx(min(cover_hart_bound(upper, c), most))
    assert bounds.least - 1e-12 <= bounds.estimate <= bounds.most + 1e-12


def test_bounds_of_the_nearest_neighbour_contain_the_known_error():
    X, y = gaussian_classes(500, 500, 2.0, np.random.default_rng(4))
    bounds = bayes_errors(X, y).nearest_neighbour
    assert bounds.lower - 0.02 < float(two_gaussians_bayes_error(distance=2.0)) < bounds.upper
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


@pytest.mark.parametrize(("separation", "count"), [(30.0, "all"), (30.0, "nontrivial"), (0.0, "all")])
def test_intervals_have_a_width(separation, count):
    """Separated without any block, or as mixed as the bias correction allows: all estimates are equal."""
    rng = np.random.default_rng(3)
    for _ in range(5):
        X, y = gaussian_classes(30, 30, separation, rng)
        intervals = leave_block_out_intervals(X, y, rng, bayes_errors(X, y, count=count)).pairwise
        assert intervals.high[0, 1] - intervals.low[0, 1] > 0.01


def test_intervals_hold_uncorrected_estimates_above_one():
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(200, 2)), np.repeat([0, 1], [20, 180])
    intervals = leave_block_out_intervals(X, y, rng, bayes_errors(X, y, correct_bias=False), blocks=5)
    for view in ("pairwise", "one_vs_rest"):
        estimate, interval = getattr(intervals.errors, view).estimate, getattr(intervals, view)
        assert np.nanmin(estimate) > 1
        assert not (interval.low >= estimate).any() and not (estimate >= interval.high).any()
        assert np.nanmax(interval.high) <= 5  # 1/2 over the smaller prior


@pytest.mark.real_data
def test_letter_has_wide_ties_and_agrees_with_full_matrices(data_folder):
    rows = np.loadtxt(data_folder / "letter" / "letter-recognition.data", delimiter=",", dtype=str)
    X, y = rows[:, 1:].astype(float), rows[:, 0]
    rates = pairwise_bayes_error(X, y, trees=1)
    assert np.nanmax(rates.estimate_tie_high - rates.estimate_tie_low) > 0  # whole numbers from 0 to 15 tie
    assert not (rates.estimate_tie_low > rates.estimate).any()
    assert not (rates.estimate > rates.estimate_tie_high).any()
    for pair in ("CG", "HK", "AZ"):
        i, j = np.searchsorted(rates.classes, list(pair))
        part = np.isin(y, list(pair))
        tree = minimum_spanning_tree(cdist(X[part], X[part], "sqeuclidean") + 1e-9).tocoo()
        crossed = np.sum(y[part][tree.row] != y[part][tree.col])
        assert rates.crossings_tie_low[i, j] <= crossed <= rates.crossings_tie_high[i, j]


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
    assert sorted(sample_by_class(y, None, np.random.default_rng(0)).tolist()) == list(range(1000))
