"""Each step by hand, properties of every step, and chains of steps."""

import numpy as np
import pytest

from confml.errors import ConfmlError
from confml.steps.base import Step
from confml.steps.registry import build_pipeline, build_step, known_steps

NAMES = sorted(known_steps())
SCALING = ["standardise", "min-max", "row-standardise"]
NAN, LARGEST = np.nan, np.finfo(float).max


@pytest.fixture
def table():
    """40 examples of 5 attributes on different scales; the last is constant."""
    X = np.random.default_rng(7).normal(size=(40, 5)) * [1.0, 100.0, 1e-3, 5.0, 0.0]
    return X + [0.0, 50.0, 7.0, -3.0, 0.1], np.repeat([0, 1], 20)


# ---- by hand

# Name, training rows, the same after the step; new rows, the same after the step.
BY_HAND = [
    ("standardise", [[1, 10], [5, 40]], [[-1, -1], [1, 1]], [[3, 55]], [[0, 2]]),
    ("min-max", [[7], [-5], [25]], [[0.4], [0], [1]], [[55], [-20]], [[2], [-0.5]]),
    ("row-standardise", [[1, 1, 3, 3]], [[-1, -1, 1, 1]], [[0, 5, 0, 5]], [[-1, 1, -1, 1]]),
    (  # a column without a value in training: 0 where it is missing, the value where a test example has one
        "impute-mean",
        [[1, NAN, NAN], [3, 4, NAN], [NAN, 8, NAN]],
        [[1, 6, 0], [3, 4, 0], [2, 8, 0]],
        [[NAN, NAN, NAN], [NAN, 1, 5]],
        [[2, 6, 0], [2, 1, 5]],
    ),
]


@pytest.mark.parametrize(("name", "train", "after", "new", "new_after"), BY_HAND)
def test_values_by_hand(name, train, after, new, new_after):
    step = build_step(name)
    treated, _, _ = step.fit_training(np.array(train, float), np.zeros(len(train)))
    np.testing.assert_allclose(treated, after, atol=1e-15)
    np.testing.assert_allclose(step.transform(np.array(new, float)), new_after, atol=1e-15)
    if name == "impute-mean":
        assert step.fit_metrics_ == {"imputed_values": 5.0}


def test_images_are_smoothed_by_a_gaussian():
    """One bright pixel becomes the filter's weights; a constant image and the mean beyond borders stay."""
    image = np.zeros((9, 12))
    image[4, 6] = 1.0
    smoothed = build_step("smooth-images", {"width": 12, "sigma": 0.7}).transform(image.reshape(1, -1))
    weights = np.exp(-0.5 * (np.arange(-3, 4) / 0.7) ** 2)
    weights /= weights.sum()
    np.testing.assert_allclose(smoothed.reshape(9, 12)[1:8, 3:10], np.outer(weights, weights), atol=1e-15)
    flat = np.full((2, 9), 0.3)
    np.testing.assert_allclose(build_step("smooth-images", {"width": 3}).transform(flat), flat, rtol=1e-15)
    with pytest.raises(ConfmlError, match="9 features are not whole rows of 16 pixels"):
        build_step("smooth-images", {"width": 16}).transform(flat)


# ---- every step


@pytest.mark.parametrize("name", NAMES)
def test_steps_keep_rows_labels_and_their_input(name, table):
    X, y = table
    X.flags.writeable = False
    step = build_step(name)
    treated, labels, remaining = step.fit_training(X, y)
    assert np.array_equal(treated, step.transform(X)[remaining])
    alone = np.vstack([step.transform(np.asfortranarray(X[[row]])) for row in remaining])
    assert np.array_equal(treated, alone) or name == "smooth-images"
    assert np.array_equal(labels, y[remaining]) and (np.diff(remaining) > 0).all()
    if type(step).fit_training is Step.fit_training:  # otherwise it cleans
        assert np.array_equal(remaining, np.arange(40))
    columns = step.kept_columns_
    assert treated.shape[1] == (X.shape[1] if columns is None else len(columns))
    assert np.isfinite(treated).all()
    assert np.array_equal(treated, build_step(name).fit_training(X, y)[0])
    treated, _, _ = step.fit_training(np.array([[3.0, 5.0]]), np.zeros(1))
    assert treated.shape == (1, 2) and np.isfinite(treated).all()
    assert step.transform(np.empty((0, 2))).shape == (0, 2)


def test_missing_values_are_an_error_that_says_what_to_do():
    train = np.array([[1.0, 2.0], [np.nan, 1.0], [np.nan, np.nan]])
    with pytest.raises(ConfmlError, match="'min-max'.*2 of 3 rows.*row 1.*impute-mean"):
        build_step("min-max").fit_training(train, np.zeros(3))


@pytest.mark.parametrize("name", SCALING)
@pytest.mark.parametrize("value", [0.1, 1e-200, 1e200])
def test_constant_values_become_zeros(name, value):
    """0.1 added up 256 times is not 25.6: the computed deviation is not 0."""
    train = np.full((256, 256), value)
    train[:, 1] = value if name == "row-standardise" else np.arange(256.0)
    step = build_step(name)
    treated, _, _ = step.fit_training(train, np.zeros(256))
    assert not treated[:, 0].any() and not step.transform(train[:1])[0, 0]


@pytest.mark.parametrize("name", SCALING)
@pytest.mark.parametrize("exponent", [-900, -532, 664, 1020])
def test_the_scale_of_the_data_does_not_matter(name, exponent):
    X = np.clip(np.random.default_rng(7).normal(size=(40, 3)), -3, 3)
    treated, _, _ = build_step(name).fit_training(np.ldexp(X, exponent), np.zeros(40))
    expected, _, _ = build_step(name).fit_training(X, np.zeros(40))
    np.testing.assert_allclose(treated, expected, atol=1e-12)


@pytest.mark.parametrize("name", SCALING)
def test_finite_values_become_finite_ones(name):
    ends = np.array([[-LARGEST, 0.0], [LARGEST, 0.25], [0.0, 5e-324], [LARGEST, LARGEST]])
    step = build_step(name)
    assert np.isfinite(step.fit_training(ends[:3], np.zeros(3))[0]).all()
    assert np.isfinite(step.transform(ends)).all()


# ---- chains


@pytest.mark.parametrize("name", SCALING)
def test_scaling_leaves_codes_alone(name):
    rng = np.random.default_rng(6)
    X = np.column_stack([rng.integers(0, 4, 30), rng.normal(5, 3, 30), rng.normal(1, 9, 30)]).astype(float)
    chain = build_pipeline([(name, {})])
    treated, _, _ = chain.fit_training(X, np.arange(30) % 2, None, np.array([True, False, False]))
    expected = build_step(name).fit_training(X[:, 1:], np.arange(30) % 2)[0]
    assert np.array_equal(treated[:, 0], X[:, 0]) and np.array_equal(treated[:, 1:], expected)
    assert np.array_equal(chain.transform(X), treated)


def test_missing_codes_become_the_most_frequent():
    X = np.array([[2.0, 1.0], [2.0, np.nan], [np.nan, 3.0], [1.0, 5.0]])
    chain = build_pipeline([("impute-mean", {})])
    treated, _, _ = chain.fit_training(X, np.zeros(4), None, np.array([True, False]))
    np.testing.assert_array_equal(treated, [[2, 1], [2, 3], [2, 3], [1, 5]])


def test_a_chain_has_the_columns_and_kinds_that_are_left():
    rng = np.random.default_rng(7)
    y = np.repeat([0, 1], 40)
    X = np.column_stack([rng.random(80), rng.random(80), y, y + 0.01 * rng.random(80)])
    chain = build_pipeline([("min-max", {}), ("select-attributes", {"least": 2}), ("tomek-links", {})])
    treated, _, remaining = chain.fit_training(X, y, rng, np.array([False, False, True, False]))
    assert len(chain.columns_) == treated.shape[1] == 2
    assert np.array_equal(chain.nominal_, chain.columns_ == 2)
    assert chain.fit_metrics_["tomek-links.removed_rows"] == 80 - len(remaining)


def test_a_step_learns_from_the_rows_that_are_left(table):
    X, y = table
    chain = build_pipeline([("tomek-links", {}), ("standardise", {}), ("select-examples", {})])
    treated, labels, remaining = chain.fit_training(X, y, np.random.default_rng(0))
    left = build_step("tomek-links").fit_training(X, y)[0]
    expected = (X - left.mean(axis=0))[:, :4] / left.std(axis=0)[:4]
    assert len(remaining) < len(left) < 40 and np.array_equal(labels, y[remaining])
    np.testing.assert_allclose(treated[:, :4], expected[remaining])
    np.testing.assert_allclose(chain.transform(X)[:, :4], expected)
