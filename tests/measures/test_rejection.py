"""Accuracy-rejection curves under ties, sureness, matching, and certified thresholds."""

import numpy as np
import pytest
from reference.measures import aurc, auroc
from sklearn.metrics import roc_auc_score

from confml.measures.prediction import Prediction
from confml.measures.rejection import Sureness, band, curve_of, match, rejection_curve, sureness


def literal_areas(correct_in_order):
    """(AURC, AUGRC) of one order of predictions without ties, term by term."""
    n, errors, area, augrc = len(correct_in_order), 0, 0.0, 0.0
    for k, correct in enumerate(correct_in_order, start=1):
        before, errors = errors, errors + (not correct)
        area += errors / k / n
        augrc += 0.5 * (before + errors) / n / n
    return area, augrc


def tied_case(seed, n=60, values=5):
    rng = np.random.default_rng(seed)
    confidence = rng.integers(0, values, n) / values
    return confidence, rng.random(n) < 0.4 + 0.5 * confidence


@pytest.mark.parametrize("seed", range(4))
def test_areas_are_the_mean_over_orders_within_ties(seed):
    confidence, correct = tied_case(seed)
    curve = rejection_curve(confidence, correct)
    rng = np.random.default_rng(100 + seed)
    areas = []
    for _ in range(4000):
        order = np.lexsort((rng.random(len(correct)), -confidence))
        areas.append(literal_areas(correct[order]))
    mean, error = np.mean(areas, axis=0), np.std(areas, axis=0) / np.sqrt(len(areas))
    assert abs(aurc(curve) - mean[0]) < 5 * error[0]
    assert abs(curve.augrc() - mean[1]) < 5 * error[1]


@pytest.mark.parametrize("values", [2, 5, 1000])
@pytest.mark.parametrize("seed", range(3))
def test_augrc_and_auroc_against_scikit_learn(seed, values):
    confidence, correct = tied_case(seed, n=200, values=values)
    curve = rejection_curve(confidence, correct)
    area = roc_auc_score(correct, confidence)
    error = 1 - correct.mean()
    assert auroc(curve) == pytest.approx(area, abs=1e-12)
    assert curve.augrc() == pytest.approx((1 - area) * (1 - error) * error + error**2 / 2, abs=1e-12)


def test_a_small_curve_by_hand():
    """Confidences .9, .8 (two rows, one wrong), .5 wrong: e = 0, 0, 1/2, 1, 2."""
    curve = rejection_curve([0.8, 0.9, 0.5, 0.8], [True, True, False, False])
    assert aurc(curve) == pytest.approx((0 + 0.25 + 1 / 3 + 0.5) / 4)
    assert curve.augrc() == pytest.approx((0 + 0.25 + 0.75 + 1.5) / 16)
    assert curve.risk_at_coverage(0.5) == pytest.approx(0.25)
    assert curve.risk_at_coverage(1.0) == pytest.approx(0.5)
    assert np.isnan(curve.risk_at_coverage(0.0))
    assert curve.sure_incorrect_at(0.25) == pytest.approx(0.25)
    assert curve.confidences.tolist() == [0.9, 0.8, 0.5]
    assert curve.accepted.tolist() == [0, 1, 3, 4] and curve.errors.tolist() == [0, 0, 1, 2]


def test_extremes():
    right, wrong = rejection_curve([0.1, 0.2], [True, True]), rejection_curve([0.1, 0.2], [False, False])
    assert right.augrc() == 0.0 and wrong.augrc() == 0.5
    empty = rejection_curve([], [])
    assert empty.n == 0 and np.isnan(empty.augrc())
    infinite = rejection_curve([np.inf, -np.inf, 0.0], [True, False, True])
    assert auroc(infinite) == 1.0
    with pytest.raises(ValueError, match="1 confidences are NaN"):
        rejection_curve([0.1, np.nan], [True, True])
    with pytest.raises(ValueError, match="must both have"):
        rejection_curve([0.1], [True, True])


def test_points_are_what_prediction_accepts():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 5, (40, 3)) / 4
    truth = rng.integers(0, 3, 40)
    for kind in ("p-value", "probability", "margin"):
        prediction = Prediction(np.arange(3), scores, kind)
        curve = curve_of(prediction, truth)
        for row, threshold in enumerate(curve.confidences, start=1):
            rates = sureness(prediction.accepted(threshold), prediction.labels == truth)
            assert rates.incorrect == pytest.approx(curve.errors[row] / 40)
            assert rates.unsure == pytest.approx(1 - curve.accepted[row] / 40)


def test_posteriors_beyond_the_reach_of_phi_do_not_tie():
    scores = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]])
    sd = np.array([[0.01, 0.01], [0.02, 0.02], [0.1, 0.1]])  # 40, 15 and 2 sds above a half
    prediction = Prediction(np.array([0, 1]), scores, "posterior", extra={"sd": sd})
    assert (prediction.confidence[:2] == 1.0).all()
    curve = curve_of(prediction, np.array([0, 1, 0]))
    np.testing.assert_allclose(curve.confidences, [40.0, 15.0, 2.0])
    assert auroc(curve) == 0.5  # with the first two tied it would be 0.25


def test_bands_end_where_a_split_cannot_reject_more():
    certain = rejection_curve([1.0, 1.0, 0.8, 0.6], [1, 1, 1, 0], always_accepted_from=1.0)
    ordered = rejection_curve([0.9, 0.8, 0.7, 0.6], [1, 1, 0, 0], always_accepted_from=1.0)
    assert (certain.most_rejected, ordered.most_rejected) == (0.5, 1.0)
    mean_curve = band([certain, ordered], [0.0, 0.5, 0.75, 1.0])
    np.testing.assert_allclose(mean_curve.mean, [0.375, 0.0, np.nan, np.nan])
    assert np.isnan(mean_curve.sd[2:]).all()
    assert band([ordered], [1.0]).mean[0] == 0.0


def test_band_over_splits():
    curves = [rejection_curve(*tied_case(seed)) for seed in range(5)]
    grid = np.linspace(0, 0.9, 10)
    mean_curve = band(curves, grid)
    values = np.array([[curve.sure_incorrect_at(u) for u in grid] for curve in curves])
    np.testing.assert_allclose(mean_curve.mean, values.mean(axis=0))
    np.testing.assert_allclose(mean_curve.sd, values.std(axis=0, ddof=1))
    risk = band(curves, grid, what="risk")
    np.testing.assert_allclose(risk.mean * (1 - grid), mean_curve.mean)
    assert np.isnan(band(curves[:1], grid).sd).all()
    with pytest.raises(ValueError, match="risk"):
        band(curves, grid, what="rsik")


# ---- matching, as in Table 2


def test_match_by_equal_si_takes_the_largest_threshold():
    confidence = np.array([0.95, 0.9, 0.85, 0.8, 0.7, 0.6])
    correct = np.array([True, False, True, True, False, True])
    curve = rejection_curve(confidence, correct)
    matched = match(curve, Sureness(0.4, 1 / 6, 0.4))
    assert matched.threshold == 0.9 and matched.exact and (matched.low, matched.high) == (0.85, 0.9)
    assert matched.sureness == pytest.approx((1 / 6, 1 / 6, 4 / 6))
    for threshold in (matched.threshold, np.nextafter(matched.low, 1.0)):
        assert sureness(confidence >= threshold, correct) == pytest.approx(matched.sureness)
    near = match(curve, Sureness(0.4, 1 / 6, 0.4), near=0.81)
    assert near.threshold == pytest.approx(0.81) and (near.low, near.high) == (0.8, 0.85)
    by_correct = match(curve, Sureness(0.5, 1 / 6, 1 / 3), by="correct")
    assert by_correct.threshold == 0.8 and by_correct.sureness.correct == pytest.approx(0.5)


def test_match_takes_the_nearest_below_where_groups_jump():
    curve = rejection_curve([0.9, 0.8, 0.8, 0.7], [True, False, False, True])
    matched = match(curve, Sureness(0.5, 0.25, 0.25))
    assert not matched.exact and matched.sureness.incorrect == 0.0 and matched.high == np.inf
    nothing = match(curve, Sureness(0.0, 0.0, 1.0), by="correct")
    assert nothing.sureness.unsure == 1.0 and nothing.exact
    with pytest.raises(ValueError, match="'incorrect' or 'correct'"):
        match(curve, Sureness(0, 0, 1), by="si")


def test_match_finds_an_envelope_within_reach_only():
    curve = rejection_curve([1.0, 1.0, 0.7], [False, True, True], always_accepted_from=1.0)
    matched = match(curve, Sureness(0.0, 0.0, 1.0))
    assert not matched.exact and matched.sureness.incorrect == pytest.approx(1 / 3)
