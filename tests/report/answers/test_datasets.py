"""Ranks over data sets: which methods are ranked, what is tested, and which bars are drawn."""

import numpy as np
import pandas as pd
import pytest

from confml.measures.ranks import compare_ranks
from confml.report.answers.datasets import Ranking, complete


def ranking_of(scores):
    return Ranking(pd.DataFrame(scores), compare_ranks(scores))


@pytest.mark.parametrize(("methods", "needed"), [(2, 6), (3, 7), (5, 9), (10, 11), (20, 13)])
def test_smallest_numbers_of_data_sets(methods, needed):
    assert ranking_of(np.ones((2, methods))).needed == needed


def test_bars_only_after_friedman_s_test():
    rng = np.random.default_rng(0)
    equal = ranking_of(rng.random((20, 4)))
    assert not equal.differs and equal.groups() == [] and "shows no difference" in equal.sentence
    few = ranking_of(np.arange(12.0).reshape(3, 4))
    assert not few.testable and few.groups() == [] and "too few for a test" in few.sentence
    two = ranking_of(rng.random((20, 4)) + [0.0, 0.05, 2.0, 2.05])
    assert two.differs and sorted(map(sorted, two.groups())) == [[0, 1], [2, 3]] and two.worse(0)
    assert ranking_of(rng.random((20, 3)) + [0.0, 2.0, 4.0]).groups() == []


def test_a_method_that_fails_often_is_left_out_and_named():
    names = [f"d{number}" for number in range(20)]
    means = pd.DataFrame(dict.fromkeys(["often", "seldom", "m0"], np.arange(20.0)), index=names)
    means[["m1", "never"]] = 0.4, np.nan
    means.loc[names[8:], "often"] = means.loc["d19", "seldom"] = np.nan
    failed = {(name, label) for name in names for label in ("often", "seldom", "never")}
    scores, sentence = complete(means, False, failed)
    assert scores.columns.tolist() == ["seldom", "m0", "m1"] and scores.index.tolist() == names
    assert sentence.endswith("are missing: often. Failed, and ranked last there: seldom on d19.")
    assert scores.loc["d19"].tolist() == [19.0, 19.0, 0.4]
    scores, sentence = complete(means, False)  # without a failure, the data set is left out
    assert len(scores) == 19 and sentence.endswith("are missing: d19.")
