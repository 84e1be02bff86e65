"""`Prediction`: confidence, credibility, regions and acceptance for every kind, ties and limits included."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import norm

from confml.measures.prediction import KINDS, Prediction

ABC = np.array(["a", "b", "c"])


def make(scores, kind, classes=None, **options) -> Prediction:
    scores = np.asarray(scores, dtype=float)
    classes = np.arange(scores.shape[1]) if classes is None else classes
    if kind == "posterior":
        options.setdefault("extra", {"sd": np.full(scores.shape, 0.1)})
    return Prediction(classes, scores, kind, **options)


# ---- confidence and credibility


def test_p_value_confidence_is_one_less_the_second_largest():
    prediction = make([[0.5, 0.02, 0.01], [0.2, 0.2, 0.1], [0.01, 0.03, 0.9]], "p-value", ABC)
    assert prediction.confidence.tolist() == [1 - 0.02, 1 - 0.2, 1 - 0.03]
    assert prediction.credibility.tolist() == [0.5, 0.2, 0.9]
    assert prediction.labels.tolist() == ["a", "a", "c"]


@pytest.mark.parametrize("kind", ["probability", "vote", "envelope"])
def test_share_confidence_is_the_largest_score(kind):
    prediction = make([[0.2, 0.5, 0.3], [0.4, 0.4, 0.2]], kind)
    assert prediction.confidence.tolist() == [0.5, 0.4]
    assert prediction.credibility is None


def test_posterior_confidence_is_phi_of_the_standardised_mean():
    sd = np.array([[0.1, 0.1], [0.2, 0.05]])
    prediction = make([[0.6, 0.4], [0.3, 0.7]], "posterior", extra={"sd": sd})
    assert prediction.confidence == pytest.approx([norm.cdf(1.0), norm.cdf(4.0)])
    # The example of the methods' definition: p ~ N(0.6, 0.1^2) exceeds 1/2 with probability 0.841.
    assert prediction.confidence[0] == pytest.approx(0.841, abs=5e-4)
    shifted = make([[0.6, 0.4]], "posterior", extra={"sd": sd[:1]}, posterior_threshold=0.7)
    assert shifted.confidence == pytest.approx([norm.cdf(-1.0)])


def test_posterior_without_spread_is_certain_either_way_and_undecided_on_the_threshold():
    prediction = make([[0.6, 0.4], [0.45, 0.40], [0.5, 0.5]], "posterior", extra={"sd": np.zeros((3, 2))})
    assert prediction.confidence.tolist() == [1.0, 0.0, 0.5]
    assert prediction.accepted(0.999).tolist() == [True, False, False]
    assert prediction.accepted(0.5).tolist() == [True, False, False]
    assert prediction.accepted(0.4).tolist() == [True, False, True]


def test_margin_confidence_is_largest_less_second_largest():
    prediction = make([[3.0, -1.0, 2.5], [0.0, 0.0, -4.0]], "margin")
    assert prediction.confidence.tolist() == [0.5, 0.0]
    assert not prediction.has_regions
    with pytest.raises(ValueError, match="conformal"):
        prediction.region(0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_one_class(kind):
    prediction = make([[0.25], [1.0]], kind, np.array(["only"]))
    assert prediction.labels.tolist() == ["only", "only"]
    expected = {"p-value": [1.0, 1.0], "posterior": [norm.cdf(-2.5), norm.cdf(5.0)]}
    assert prediction.confidence == pytest.approx(expected.get(kind, [0.25, 1.0]))
    if prediction.has_regions:
        regions = [[False], [True]] if kind == "p-value" else [[True], [True]]
        assert prediction.region(0.5).tolist() == regions


# ---- labels


def test_ties_go_to_the_first_class_unless_labels_are_given():
    scores = [[0.4, 0.4, 0.2], [0.1, 0.45, 0.45]]
    assert make(scores, "probability", ABC).labels.tolist() == ["a", "b"]
    given_labels = make(scores, "p-value", ABC, labels=np.array(["b", "c"]))
    assert given_labels.labels.tolist() == ["b", "c"]
    assert given_labels.predicted_columns.tolist() == [1, 2]


# ---- regions of p-values: exact at ties


@pytest.mark.parametrize("denominator", [10, 100, 1000, 10_000])
def test_regions_and_acceptance_at_ties_are_those_of_exact_fractions(denominator):
    """p = rank / size at a level x and a threshold 1 - x, each also as one minus a number, up to 100,000
    examples: p is in the region if p > x, and a second largest p is accepted if 1 - p >= 1 - x."""
    sizes = np.unique(np.geomspace(1, 100_000, 300).astype(int))
    for numerator in np.unique(np.linspace(1, denominator - 1, 150).astype(int)).tolist():
        largest = (numerator * sizes) // denominator  # ranks with p at most x
        shares = numerator / denominator, (denominator - numerator) / denominator
        for ranks, contained in ((largest, False), (largest + 1, True)):
            p = ranks / sizes
            view = Prediction(np.arange(2), np.column_stack([np.ones(len(sizes)), p]), "p-value")
            for level, threshold in ((shares[0], shares[1]), (1 - shares[1], 1 - shares[0])):
                assert (view.region(level)[:, 1] == contained).all()
                assert (view.accepted(threshold) != contained).all()


@pytest.mark.parametrize("kind", ["probability", "vote"])
def test_shares_are_accepted_at_thresholds_that_equal_them(kind):
    shares = make([[0.3, 0.25, 0.2, 0.15, 0.1], [0.1 + 0.2, 0.25, 0.2, 0.15, 0.1]], kind)
    assert shares.accepted(0.3).all() and shares.accepted(1 - 0.7).all()


# ---- regions of shares: the smallest sufficient set


def test_share_region_is_the_smallest_set_by_decreasing_score():
    prediction = make([[0.15, 0.6, 0.25]], "probability", ABC)
    for level, size in ((0.5, 1), (0.4, 1), (0.39, 2), (0.15, 2), (0.14, 3), (1.0, 1)):
        assert prediction.region(level)[0].tolist() == [size > 2, True, size > 1]
    # At level 0 classes without a share are left out.
    assert make([[0.0, 1.0, 0.0]], "vote").region(0.0)[0].tolist() == [False, True, False]


def test_share_region_survives_rounding_of_the_sum():
    thirds = np.full((1, 3), 1 / 3)
    assert make(thirds, "probability").region(1 - 2 / 3)[0].sum() == 2
    tenths = np.full((1, 10), 0.1)  # 0.1 + ... + 0.1 = 0.8999999999999999 for nine of them
    assert make(tenths, "probability").region(0.1)[0].sum() == 9


@given(
    hnp.arrays(float, st.tuples(st.integers(0, 5), st.integers(1, 5)), elements=st.floats(0, 1)),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_regions_shrink_as_the_level_grows_and_hold_the_prediction(scores, first, second):
    low, high = sorted([first, second])
    for kind in ("p-value", "probability"):
        prediction = make(scores, kind)
        at_low, at_high = prediction.region(low), prediction.region(high)
        assert not (at_high & ~at_low).any()
        if kind == "probability" and len(scores):
            assert at_high[np.arange(len(scores)), prediction.predicted_columns].all()


# ---- acceptance


@pytest.mark.parametrize("kind", ["probability", "vote", "margin"])
def test_acceptance_includes_the_threshold(kind):
    scores = [[0.75, 0.0], [0.74, 0.0], [0.0, 0.76]]
    assert make(scores, kind).accepted(0.75).tolist() == [True, False, True]


def test_envelope_acceptance_is_strict_but_a_share_of_1_is_always_accepted():
    prediction = make([[0.8, 0.2], [0.81, 0.19], [1.0, 0.0]], "envelope")
    assert prediction.accepted(0.8).tolist() == [False, True, True]
    assert prediction.accepted(1.0).tolist() == [False, False, True]


def test_posterior_acceptance_is_mean_less_c_sd_above_t0():
    sd = np.full((3, 2), 0.1)
    prediction = make([[0.66, 0.34], [0.67, 0.33], [0.5, 0.5]], "posterior", extra={"sd": sd})
    assert prediction.accepted(0.95).tolist() == [False, True, False]  # c = 1.645
    assert prediction.accepted(norm.cdf(0.0)).tolist() == [True, True, False]


# ---- shape, parts, immutability


@pytest.mark.parametrize("kind", KINDS)
def test_parts_put_together_are_the_whole(kind):
    rng = np.random.default_rng(5)
    scores = rng.random((7, 3))
    extra = {"sd": rng.random((7, 3)), "count": np.arange(7)}
    whole = make(scores, kind, ABC, labels=ABC[rng.integers(0, 3, 7)], extra=extra, posterior_threshold=0.4)
    parts = [whole.take(rows) for rows in (slice(0, 3), np.array([3, 4]), [5, 6])]
    together = Prediction.concatenate(parts)
    assert np.array_equal(together.scores, whole.scores) and np.array_equal(together.labels, whole.labels)
    assert np.array_equal(together.confidence, whole.confidence)
    assert set(together.extra) == {"sd", "count"} and together.extra["count"].tolist() == list(range(7))
    assert together.kind == kind and together.posterior_threshold == 0.4


def test_arrays_cannot_be_written_to():
    prediction = make([[0.5, 0.5]], "posterior")
    for values in (prediction.scores, prediction.labels, prediction.classes, prediction.extra["sd"]):
        with pytest.raises(ValueError, match="read-only"):
            values[...] = values
    with pytest.raises(TypeError):
        prediction.extra["more"] = prediction.scores


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((ABC, np.zeros((2, 3)), "p"), "kind must be one of"),
        ((ABC, np.zeros((2, 2)), "vote"), "one column per class"),
        ((ABC, np.zeros((2, 3)), "vote", np.array(["a"])), r"labels must be \(2,\)"),
        ((ABC, np.zeros((2, 3)), "vote", None, {"n": np.zeros(3)}), "must have 2 rows"),
        ((ABC, np.zeros((2, 3)), "posterior"), "needs extra"),
        ((ABC, [[0.5 + 0j, 0.5, 0.0]], "probability"), "complex"),
        ((ABC, np.ma.array(np.zeros((1, 3)), mask=[[True, False, False]]), "probability"), "masked"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Prediction(*arguments)
    with pytest.raises(ValueError, match="between 0 and 1"):
        make([[0.5, 0.5]], "p-value").region(1.1)


def test_masked_scores_without_a_masked_value_are_accepted():
    whole = np.ma.array([[0.25, 0.75]], mask=False)
    assert Prediction(np.array([0, 1]), whole, "probability").scores.tolist() == [[0.25, 0.75]]
