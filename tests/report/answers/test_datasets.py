"""Ranks over data sets: which methods are ranked, what is tested, and which bars are drawn."""

import itertools

import numpy as np
import pytest
from scipy.stats import rankdata

from confml.measures.ranks import compare_ranks, signed_rank_p_value
from confml.report.answers.datasets import RankVerdict, complete, needed_datasets


def literal(z):
    """Two-sided p-value over all signs of the ranks."""
    z = z[z != 0]
    ranks = rankdata(np.abs(z))
    sums = [np.dot(ranks, signs) for signs in itertools.product((0, 1), repeat=len(z))]
    w = ranks[z > 0].sum()
    return min(1.0, 2 * min(np.mean(np.array(sums) <= w), np.mean(np.array(sums) >= w)))


@pytest.mark.parametrize("seed", range(20))
def test_the_signed_rank_test_is_exact_with_ties_and_zeros(seed):
    rng = np.random.default_rng(seed)
    z = rng.integers(-3, 5, rng.integers(1, 11)).astype(float)
    assert signed_rank_p_value(z) == pytest.approx(literal(z) if z.any() else 1.0)


def test_zeros_do_not_change_to_an_approximation():
    assert signed_rank_p_value([0, 0, 1, 2, 3, 4, 5]) == 0.0625
    assert signed_rank_p_value([0.3 - 0.2, 0.2 - 0.1, -0.1]) == 1.0  # ties but for rounding


def test_smallest_numbers_of_data_sets():
    assert [needed_datasets(k) for k in (2, 3, 5, 10, 20)] == [6, 7, 9, 11, 13]


def test_bars_only_after_friedman_s_test():
    rng = np.random.default_rng(0)
    equal = RankVerdict(compare_ranks(rng.random((20, 4))))
    assert not equal.differs and equal.groups() == [] and "shows no difference" in equal.sentence()
    few = RankVerdict(compare_ranks(np.arange(12.0).reshape(3, 4)))
    assert not few.testable and few.groups() == [] and "too few for a test" in few.sentence()
    scores = rng.random((20, 4)) + [0.0, 0.05, 2.0, 2.05]
    two = RankVerdict(compare_ranks(scores))
    assert two.differs and sorted(map(sorted, two.groups())) == [[0, 1], [2, 3]]
    assert "under one bar" in two.sentence() and two.worse(0)
    apart = RankVerdict(compare_ranks(rng.random((20, 3)) + [0.0, 2.0, 4.0]))
    assert apart.groups() == [] and "under one bar" not in apart.sentence()


def test_a_method_that_fails_often_is_left_out_and_named():
    names = [f"d{place}" for place in range(20)]
    known = {"often": names[:8], "seldom": names[:19], **{f"m{k}": names for k in range(3)}}
    failed = {(name, label) for label, own in known.items() for name in names if name not in own}
    found = complete(known, names, failed)
    assert found.methods == ["seldom", "m0", "m1", "m2"] and found.datasets == names
    assert found.dropped == ["often"] and found.worst == [("d19", "seldom")]
    assert "often" in found.sentence() and "seldom on d19" in found.sentence()
    means = {(name, label): 0.1 * k for k, label in enumerate(known) for name in known[label]}
    assert found.scores(means, higher_is_better=False)[19].tolist() == pytest.approx([0.4, 0.2, 0.3, 0.4])
    # Without a failure, the data set is left out.
    assert complete(known, names).dropped_datasets == ["d19"]
