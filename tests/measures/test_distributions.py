"""Distributions are those of scipy.stats, to the last bit."""

import numpy as np
import pytest
from scipy import stats

from confml.measures import distributions


def same(values, expected):
    np.testing.assert_array_equal(values, expected, strict=True)


@pytest.mark.parametrize("rows", [1, 2, 17, 557])
@pytest.mark.parametrize(("a", "b"), [(0.5, 60), (3, 200), (950.5, 50.5)])
def test_beta_binomial(rows, a, b):
    k = np.arange(rows + 1)
    same(distributions.beta_binomial_pmf(k, rows, a, b), stats.betabinom.pmf(k, rows, a, b))


def test_beta_and_student():
    rng = np.random.default_rng(0)
    n = rng.integers(1, 5000, 20_000)
    k = (rng.random(len(n)) * n).astype(np.int64)
    p = rng.choice([1e-3, 0.01, 0.05, 0.1, 0.2, 0.5, 0.9], len(n))
    same(distributions.beta_quantile(p, k + 1, n - k), stats.beta.ppf(p, k + 1, n - k))
    x = np.append(rng.normal(scale=4, size=len(n)), [0, np.inf, -np.inf])
    df = np.append(n, [1, 2, 3])
    same(distributions.student_sf(x, df), stats.t.sf(x, df))
    same(distributions.student_quantile(p, n), stats.t.ppf(p, n))


def test_intervals_are_clopper_pearson():
    interval = stats.binomtest(45, 50).proportion_ci(0.95, "exact")
    assert distributions.clopper_pearson(45, 50) == pytest.approx((interval.low, interval.high))
    assert (distributions.clopper_pearson(0, 3)[0], distributions.clopper_pearson(3, 3)[1]) == (0.0, 1.0)
