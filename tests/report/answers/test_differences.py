"""The test of differences equals a literal computation; its level is simulated by validity."""

import math

import numpy as np
import pytest
from scipy.stats import t as student

from confml.report.answers.differences import LossTable, SplitLosses, compare_lines, mean_interval
from confml.report.answers.text import detectable_text


def table_of(losses, rows=None, train=100, kind="rows", online=False, bound=1.0):
    """losses: (methods, splits, rows) values; rows: (splits, rows) numbers."""
    losses = np.asarray(losses, dtype=float)
    rows = np.tile(np.arange(losses.shape[2]), (losses.shape[1], 1)) if rows is None else rows
    methods = [
        [SplitLosses(np.asarray(at), values, train) for at, values in zip(rows, method, strict=True)]
        for method in losses
    ]
    return LossTable(methods, kind, online, bound)


def literal(table, first, second):
    """Difference, standard error and p-value, row by row."""
    parts, means = {}, []
    splits = table.methods[first]
    for first_losses, second_losses in zip(splits, table.methods[second], strict=True):
        gaps = first_losses.values - second_losses.values
        means.append(float(np.mean(gaps)))
        for row, gap in zip(first_losses.rows.tolist(), gaps.tolist(), strict=True):
            parts[row] = parts.get(row, 0.0) + gap / (len(splits) * len(gaps))
    x = list(parts.values())
    if not any(x):
        return 0.0, None, 1.0
    n, largest = len(x), max(map(abs, x))
    x = [value * n / (n + 2) for value in [*x, largest, -largest]]
    variance = sum(value**2 for value in x) - sum(x) ** 2 / (n + 2)
    j, degrees = len(means), n - 1
    ratio = len(splits[0].rows) / splits[0].train_rows
    if table.kind == "regions":
        degrees, ratio = j - 1, 1.0
    if j > 1:
        variance = max(variance, (1 / j + ratio) * np.var(means, ddof=1))
    error = math.sqrt(variance)
    return float(np.mean(means)), error, 2 * student.sf(abs(sum(x)) / error, degrees)


@pytest.mark.parametrize("kind", ["rows", "regions"])
@pytest.mark.parametrize("splits", [3, 6])
def test_it_equals_the_literal_computation(kind, splits):
    rng = np.random.default_rng(splits)
    rows = np.array([rng.permutation(60)[:20] for _ in range(splits)])
    table = table_of(rng.random((4, splits, 20)) < [[[0.1]], [[0.2]], [[0.4]], [[0.4]]], rows, 40, kind)
    p_values = table.p_values()
    for a in range(4):
        for b in range(4):
            if a != b:
                difference, error, p_value = literal(table, a, b)
                pair = table.pair(a, b)
                assert pair.difference == pytest.approx(difference) and pair.error == pytest.approx(error)
                assert pair.p_value == pytest.approx(p_value) == p_values[a, b]


def test_one_split_has_the_interval_of_bonett_and_price():
    """Its centre and width, with Student's quantile; it excludes 0 exactly if p < .05."""
    losses = np.zeros((2, 1, 40))
    losses[0, 0, :9] = losses[1, 0, 8:11] = 1
    pair = table_of(losses).pair(0, 1)
    a, b = (8 + 1) / 42, (2 + 1) / 42
    half = student.ppf(0.975, 39) * math.sqrt((a + b - (a - b) ** 2) / 42)
    assert pair.interval() == pytest.approx((a - b - half, a - b + half))
    assert (pair.interval()[0] > 0) == (pair.p_value < 0.05) and pair.difference == pytest.approx(6 / 40)


def test_two_equal_differences_are_no_proof():
    """Two splits with the same difference: the variance between the splits is 0, that of the rows is not."""
    losses = np.zeros((2, 2, 50))
    losses[0, :, 3] = 1
    pair = table_of(losses, [range(50), range(25, 75)]).pair(0, 1)
    assert pair.p_value > 0.2
    low, high = pair.interval()
    assert low < 0 < 1 / 50 < high


def test_edges():
    same = table_of(np.zeros((2, 2, 30))).pair(0, 1)
    assert same.p_value == 1.0 and same.same and same.interval()[0] < 0 < same.interval()[1]
    assert math.isnan(same.detectable())
    opposite = np.zeros((2, 1, 3))
    opposite[0] = 1
    assert table_of(opposite).pair(0, 1).interval(10)[1] == 1.0  # cut at 100 points
    # Two splits of calibrated regions say nothing about other calibration rows.
    rng = np.random.default_rng(0)
    assert math.isnan(table_of(rng.random((2, 2, 30)), kind="regions").pair(0, 1).p_value)
    assert table_of(rng.random((2, 1, 1))).pair(0, 1).p_value != 0


def test_the_best_and_the_worse():
    rng = np.random.default_rng(0)
    wrong = rng.random((3, 1, 400)) < [[[0.1]], [[0.1]], [[0.4]]]
    wrong[1] = wrong[0]
    comparison = compare_lines(table_of(wrong))
    assert comparison.best == [0, 1] and comparison.pairs == 3
    assert comparison.worse(2) and not comparison.worse(1)


def test_interval_of_a_mean_cost_holds_it_when_large_costs_are_rare():
    """Costs of 1 in 10 % and of 100 in 0.5 % of 200 rows: more than a third of the runs see none of 100."""
    rng = np.random.default_rng(0)
    drawn = rng.random((300, 200))
    costs = np.where(drawn < 0.005, 100.0, np.where(drawn < 0.105, 1.0, 0.0))
    losses = [SplitLosses(np.arange(200), values, 800) for values in costs]
    ends = np.array([mean_interval([one_split], bound=100.0) for one_split in losses])
    covered = (ends[:, 0] <= 0.6) & (0.6 <= ends[:, 1])
    assert covered.mean() >= 0.95
    unseen = costs.max(axis=1) < 100
    assert unseen.mean() > 0.3 and covered[unseen].all()


def test_differences_above_the_largest_possible_one_are_not_stated():
    """Ten test rows and 45 pairs: only a difference of more than 100 points would be shown."""
    rng = np.random.default_rng(0)
    few = compare_lines(table_of(rng.random((10, 1, 10)) < 0.3))
    assert few.detectable == math.inf
    assert detectable_text([few.detectable]).endswith("80 % power: too few test rows")
    text = detectable_text([0.02, math.inf, 0.031], 0.1)
    assert "a difference of 3.1 points or more" in text and "with enough test rows" in text
    assert detectable_text([math.nan]).startswith("no difference")
