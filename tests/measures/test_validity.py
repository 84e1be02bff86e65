"""Validity and efficiency of p-values against their literal definitions, and on exchangeable data."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from report.report_cases import entry, result_of, run_by_hand
from scipy.stats import binom, kstest

from confml.measures import Case, Context
from confml.measures.coverage_band import coverage_band, covered_probabilities
from confml.measures.prediction import Prediction
from confml.measures.validity import distance_from_uniform
from confml.report.run.results import Split
from confml.report.tables import class_coverage


def random_case(seed, n=40, c=4, counted=20, unseen=False) -> Case:
    """p-values out of random counts; where ``unseen``, some true labels are of no column."""
    rng = np.random.default_rng(seed)
    greater = rng.integers(0, counted - 3, (n, c))
    equal = rng.integers(1, 4, (n, c))
    extra = {"n_greater": greater, "n_equal": equal}
    prediction = Prediction(np.arange(c), (greater + equal) / counted, "p-value", extra=extra)
    return Case(prediction, rng.integers(0, c + unseen, n))


# ---- smoothed p-values and their distance from uniform


def test_smoothed_p_values_lie_between_their_counts():
    case = random_case(1, unseen=True)
    p, counts = case.smoothed, case.prediction.extra
    seen = np.flatnonzero(case.truth < 4)
    greater, equal = (counts[name][seen, case.truth[seen]] for name in ("n_greater", "n_equal"))
    assert (greater / 20 - 1e-12 <= p[seen]).all() and (p[seen] <= (greater + equal) / 20).all()
    assert len(seen) < len(p) and (p[case.truth == 4] == 0).all()
    assert np.array_equal(p, case.smoothed), "the same results, the same ties broken"
    assert not np.array_equal(p, random_case(2, unseen=True).smoothed)


def test_p_values_that_are_smoothed_already_stay():
    case, tau = random_case(3), {"tau": np.full(40, 0.5)}
    counts = case.prediction.extra
    scores = (counts["n_greater"] + 0.5 * counts["n_equal"]) / 20
    with_counts = Prediction(np.arange(4), scores, "p-value", extra={**counts, **tau})
    smoothed = Case(with_counts, case.truth, context=Context(train_rows=7))
    assert np.array_equal(smoothed.smoothed, scores[np.arange(40), case.truth])
    assert smoothed.counted.tolist() == [20] * 40, "by the counts"
    without_counts = Prediction(np.arange(4), scores, "p-value", extra=tau)
    for params, expected in (({}, 20), ({"conformal__mondrian": True}, 5)):
        context = Context(19, dict.fromkeys(range(4), 4), params)
        assert Case(without_counts, case.truth, context=context).counted.tolist() == [expected] * 40


@pytest.mark.parametrize("n", [1, 2, 7, 200])
def test_distance_is_that_of_scipy(n):
    p = np.random.default_rng(n).random(n)
    assert distance_from_uniform(p) == pytest.approx(kstest(p, "uniform").statistic)


# ---- bands of coverage


def test_covered_examples_are_ranks_in_an_urn():
    """The p-values of split conformal prediction, by enumeration of all orders of 3 calibration and 3 test
    scores, each order as likely as another."""
    for level in (0.25, 0.3, 0.5, 0.75):
        counts = np.zeros(4)
        for order in itertools.permutations(range(6)):
            calibration, test = np.array(order[:3]), np.array(order[3:])
            p = [(np.sum(calibration >= score) + 1) / 4 for score in test]
            counts[np.sum(np.array(p) > level)] += 1
        assert covered_probabilities(3, 4, level) == pytest.approx(counts / counts.sum())


def test_levels_that_no_p_value_reaches_or_exceeds():
    assert coverage_band([(5, 10)], 0.05) == (1, 1) and coverage_band([(5, 10)], 1.0) == (0, 0)
    assert all(map(math.isnan, coverage_band([(5, 0)], 0.05))) and math.isnan(coverage_band([], 0.05)[0])
    assert covered_probabilities(3, 10, 0.3)[0] > 0, "0.3 of 10 is three p-values, though 3 / 10 * 10 rounds"
    hundred = covered_probabilities(3, 100, 0.29)  # 29 p-values, though 0.29 * 100 is below 29
    assert hundred == pytest.approx(covered_probabilities(3, 100, 0.295), rel=1e-12)


def test_an_online_pass_has_the_binomial_band():
    low, high = coverage_band([(200, None)], 0.1)
    assert (low, high) == tuple(binom.ppf([0.025, 0.975], 200, 0.9) / 200)


def test_weighted_p_values_have_no_band():
    """The coverage of weighted p-values varies more than that of independent errors: see the simulation."""
    p = np.tile([0.5, 0.01], (60, 1))
    counts = {name: np.ones((60, 2), np.int64) for name in ("n_greater", "n_equal")}
    y = np.zeros(60, dtype=int)
    for extra, has_band in ((counts, True), ({**counts, "own_share": np.full((60, 2), 0.01)}, False)):
        case = Case(Prediction(np.array([0, 1]), p, "p-value", extra=extra), y)
        parts = class_coverage.calibration_parts([Split(SimpleNamespace(rows=np.arange(60)), case)])
        assert np.isfinite(coverage_band(parts.values(), 0.1)).all() == has_band


# ---- classes


def run_of(seeds):
    """A run with one method of p-values and one of probabilities on a split for each seed."""
    cases = {f"r{number}": random_case(seed) for number, seed in enumerate(seeds)}

    def result(cell):
        case = cases[cell.split]
        p = case.prediction
        shares = Prediction(p.classes, p.scores / p.scores.sum(axis=1, keepdims=True), "probability")
        return result_of(cell, p if cell.method == "tcm-nn" else shares, case.truth, train_rows=19)

    methods = [entry("tcm-nn", {"k": 1}), "naive-bayes"]
    return run_by_hand(methods, result, splits=len(cases), classes=4), cases


def test_class_coverage_is_pooled_over_the_splits():
    run, cases = run_of([1, 2])
    rows = [row[4:] for variant in run.variants() for row in class_coverage.TABLE.rows(variant)]
    assert [row[:2] for row in rows] == list(itertools.product(range(4), (0.05, 0.2)))
    for label, level, n, counted, coverage, *band in rows:
        of_class = [(case, i) for case in cases.values() for i in np.flatnonzero(case.truth == label)]
        assert n == len({i for _, i in of_class}) and counted == 20
        covered = [case.prediction.scores[i, label] > level for case, i in of_class]
        assert coverage == pytest.approx(np.mean(covered))
        assert tuple(band) == coverage_band([(n, 20)], level)
        assert 0 <= band[0] <= 1 - level <= band[1] <= 1
