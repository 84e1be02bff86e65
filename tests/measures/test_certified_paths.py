"""Thresholds certified together, against the literal procedure, and their guarantee."""

from __future__ import annotations

import numpy as np
import pytest
from reference import certified_paths as literal

from confml.measures.certified import certify, threshold_grid
from confml.measures.certified_paths import CostTable, Path, certify_paths, least_loss, most_accepting
from confml.measures.risk_p_values import betting_p_value, binomial_p_value


def path_of(p_values, name="path"):
    p = np.asarray(p_values, dtype=np.float64)
    return Path(name, np.linspace(1, 0, len(p)), p, np.arange(len(p)), np.zeros(len(p)))


@pytest.mark.parametrize("accepted", [0, 1, 7, 60, 300])
def test_binomial_p_value_is_the_sum(accepted):
    errors = np.arange(min(accepted, 12) + 1)
    for risk in (0.01, 0.05, 0.6):
        found = binomial_p_value(errors, np.full(len(errors), accepted), risk)
        np.testing.assert_allclose(
            found, [literal.binomial(int(e), accepted, risk) for e in errors], rtol=1e-11
        )


def test_betting_p_value_is_that_of_one_bet_after_another():
    rng = np.random.default_rng(1)
    losses = rng.choice([0.0, 0.2, 1.0], (150, 4), p=[0.8, 0.15, 0.05])
    found = betting_p_value(losses, 0.1, 0.02)
    expected = [literal.betting(losses[:, column], 0.1, 0.02) for column in range(4)]
    np.testing.assert_allclose(found, expected, rtol=1e-11)
    assert betting_p_value(losses[:, 0], 0.1, 0.02) == found[0]
    assert betting_p_value(np.ones(50), 0.1) == 1.0


@pytest.mark.parametrize("seed", range(30))
def test_paths_are_the_graphical_procedure_in_any_order(seed):
    rng = np.random.default_rng(seed)
    # The budgets are exact, and p-values tie with them.
    values = [rng.choice([0.0, 0.125, 0.25, 0.5], rng.integers(1, 6)).tolist() for _ in range(4)]
    found = certify_paths([path_of(p) for p in values], 0.5)
    for order in (min, max, lambda able: able[rng.integers(len(able))]):
        assert found == literal.paths(values, 0.5, order)


def test_one_threshold_per_path_is_holm_and_one_path_is_the_fixed_sequence():
    assert certify_paths([path_of([p]) for p in (0.01, 0.02, 0.04)], 0.05) == [1, 1, 1]
    assert certify_paths([path_of([p]) for p in (0.01, 0.026, 0.04)], 0.05) == [1, 0, 0]
    rng = np.random.default_rng(2)
    confidence = np.round(rng.random(900), 2)
    correct = rng.random(900) < 0.8 + 0.2 * confidence
    grid = threshold_grid(rng.random(300), 900, 0.08, 0.05)
    path = Path.of_errors("one", confidence, correct, grid, 0.08)
    (count,) = certify_paths([path], 0.05)
    alone = certify(confidence, correct, grid, 0.08, 0.05)
    assert count and path.thresholds[count - 1] == alone.threshold
    assert (path.accepted[count - 1], path.loss[count - 1]) == (alone.accepted, alone.errors)


def test_paths_without_thresholds_get_no_budget():
    empty = path_of([])
    assert certify_paths([empty, path_of([0.05])], 0.05) == [0, 1]
    assert certify_paths([], 0.05) == [] and certify_paths([empty], 0.05) == [0]


def test_every_class_takes_the_largest_p_value():
    confidence, correct = np.linspace(0, 1, 400), np.ones(400, dtype=bool)
    correct[380:390] = False
    codes = np.where(np.arange(400) >= 300, 1, 0)
    path = Path.of_every_class("one", confidence, correct, [0.9, 0.0], 0.05, codes, 2)
    own = [
        Path.of_errors("one", confidence[codes == code], correct[codes == code], [0.9, 0.0], 0.05)
        for code in (0, 1)
    ]
    np.testing.assert_array_equal(path.p_values, np.maximum(own[0].p_values, own[1].p_values))
    assert path.accepted.tolist() == [40, 400] and path.loss.tolist() == [10, 10]
    absent = Path.of_every_class("one", confidence, correct, [0.0], 0.05, codes, 3)
    assert absent.p_values.tolist() == [1.0]  # a class without rows is not certified


def test_costs_are_scaled_and_unknown_classes_cost_most():
    table = CostTable(np.array([[0.0, 1.0], [5.0, 0.0]]), 0.5)
    assert table.of_rows([0, 1, 1, -1], [1, 0, 1, 0]).tolist() == [1.0, 5.0, 0.0, 5.0]
    assert table.scaled(table.abstain) == pytest.approx(0.1)
    shifted = CostTable(np.array([[-1.0, 0.0], [4.0, -1.0]]), -0.5)
    assert shifted.scaled(shifted.abstain) == pytest.approx(0.1)


def test_cost_path_counts_abstentions():
    rng = np.random.default_rng(3)
    confidence, cost = rng.random(300), (rng.random(300) < 0.02).astype(float)
    path = Path.of_costs("one", confidence, cost, [0.5, 0.0], 0.2, 0.15, 0.05)
    for place, threshold in enumerate((0.5, 0.0)):
        losses = np.where(confidence >= threshold, cost, 0.2)
        assert path.loss[place] == pytest.approx(losses.mean())
        assert path.p_values[place] == pytest.approx(literal.betting(losses, 0.15, 0.05))
    assert certify_paths([path]) == [2] and least_loss([path], [2]) == (0, 1)


def test_choices_among_certified_thresholds():
    first, second = path_of([0, 0, 0], "first"), path_of([0, 0, 0], "second")
    assert most_accepting([first, second], [2, 3]) == (1, 2)
    assert most_accepting([first, second], [2, 2]) == (0, 1)
    assert most_accepting([first, second], [0, 0]) is None and least_loss([first], [0]) is None


def test_choice_of_the_best_of_ten_methods_keeps_the_risk():
    """Each method certified by itself: one of ten has a false threshold in far more than delta."""
    rng = np.random.default_rng(4)
    together = alone = certified = 0
    draws, rows, risk, delta = 300, 500, 0.05, 0.05
    for _ in range(draws):
        paths = []
        for name in range(10):
            confidence = rng.random(rows)
            # risk of the rows with confidence >= t is 0.1 (1 - t)^1.5
            correct = rng.random(rows) >= 0.25 * (1 - confidence) ** 1.5
            grid = 1 - np.linspace(0.25, 1, 50)
            paths.append(Path.of_errors(name, confidence, correct, grid, risk))
        false = [0.1 * (1 - path.thresholds) ** 1.5 > risk for path in paths]
        counts = certify_paths(paths, delta)
        together += any(wrong[:count].any() for wrong, count in zip(false, counts, strict=True))
        certified += any(counts)
        own = [certify_paths([path], delta)[0] for path in paths]
        alone += any(wrong[:count].any() for wrong, count in zip(false, own, strict=True))
    assert certified > draws / 2
    assert together <= draws * delta + 3 * np.sqrt(draws * delta * (1 - delta))
    assert alone > 2 * draws * delta


@pytest.mark.parametrize("procedure", ["bonferroni", "bonferroni_holm", "fixed_sequence"])
def test_mean_coverage_is_not_below_that_of_mapie(procedure):
    """The same scores and thresholds, for a precision of 95 % of the accepted rows at delta = 5 %."""
    mapie = pytest.importorskip("mapie.risk_control", reason="MAPIE is not installed")
    ours, theirs = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        confidence = rng.random(1000)
        correct = rng.random(1000) >= 0.25 * (1 - confidence) ** 1.5
        grid = threshold_grid(rng.random(300), 1000, 0.05, 0.05)
        path = Path.of_errors("one", confidence, correct, grid, 0.05)
        (count,) = certify_paths([path], 0.05)
        ours.append(path.accepted[count - 1] / 1000 if count else 0.0)
        controller = mapie.BinaryClassificationController(
            lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]),
            "precision",
            target_level=0.95,
            confidence_level=0.95,
            list_predict_params=grid,
            fwer_method=procedure,
        )
        controller.calibrate(confidence[:, None], correct.astype(int))
        valid = np.asarray(controller.valid_predict_params, dtype=float)
        theirs.append(float((confidence >= valid.min()).mean()) if len(valid) else 0.0)
    assert np.mean(ours) >= np.mean(theirs) > 0


def test_mistakes():
    with pytest.raises(ValueError, match="delta must be above 0"):
        certify_paths([], 0.0)
    with pytest.raises(ValueError, match="NaN"):
        Path.of_errors("one", [np.nan], [True], [0.1], 0.1)
    with pytest.raises(ValueError, match="from 0 to 1"):
        betting_p_value([2.0], 0.1)
    with pytest.raises(ValueError, match="limit must be above"):
        betting_p_value([0.5], 1.0)
