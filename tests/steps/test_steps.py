"""Steps: worked numbers, degenerate columns and rows, chains, and finding them by name."""

from __future__ import annotations

import numpy as np
import pytest

from confml.errors import ConfigError, ConfmlError
from confml.steps.base import Step
from confml.steps.pipeline import StepPipeline
from confml.steps.registry import (
    build_pipeline,
    build_step,
    check_step,
    describe_step,
    known_steps,
    step_class,
    version_of_step,
)

NAMES = sorted(known_steps())


@pytest.fixture
def table(rng):
    """40 examples of 5 attributes on different scales; the last is constant."""
    X = rng.normal(size=(40, 5)) * [1.0, 100.0, 1e-3, 5.0, 0.0] + [0.0, 50.0, 7.0, -3.0, 0.1]
    return X, np.repeat([0, 1], 20)


@pytest.fixture
def rng():
    return np.random.default_rng(7)


# ---- each step by itself


def test_row_standardise_by_hand():
    rows = np.array([[1.0, 2.0, 3.0], [4.0, 4.0, 10.0]])
    treated = build_step("row-standardise").transform(rows)
    root = np.sqrt(1.5)
    np.testing.assert_allclose(treated, [[-root, 0, root], [-np.sqrt(0.5), -np.sqrt(0.5), np.sqrt(2)]])


def test_row_standardise_gives_mean_0_and_population_sd_1(rng):
    treated = build_step("row-standardise").transform(rng.normal(3, 8, size=(30, 17)))
    np.testing.assert_allclose(treated.mean(axis=1), 0, atol=1e-14)
    np.testing.assert_allclose(treated.std(axis=1), 1)


@pytest.mark.parametrize("value", [0.0, 0.1, -7.3, 1e-200, 1e200])
def test_a_constant_row_becomes_zeros(value):
    # 0.1 added up 256 times is not 25.6: the computed deviation of such a row is not 0.
    treated = build_step("row-standardise").transform(np.full((3, 256), value))
    assert np.array_equal(treated, np.zeros((3, 256)))


def test_row_standardise_treats_a_row_alone_as_among_others(rng):
    X = rng.normal(size=(50, 257))
    step = build_step("row-standardise")
    together = step.transform(X)
    alone = np.concatenate([step.transform(X[i : i + 1]) for i in range(50)])
    assert np.array_equal(together, alone)
    assert np.array_equal(together, step.transform(np.asfortranarray(X)))


def test_standardise_learns_from_training_only():
    step = build_step("standardise")
    train = np.array([[1.0, 10.0], [3.0, 10.0], [5.0, 40.0], [7.0, 40.0]])
    treated, _, _ = step.fit_training(train, np.arange(4))
    np.testing.assert_allclose(treated, np.array([[-3, -1], [-1, -1], [1, 1], [3, 1]]) / [np.sqrt(5), 1])
    np.testing.assert_allclose(step.transform(np.array([[4.0, 55.0]])), [[0, 2]])


def test_min_max_worked_numbers():
    step = build_step("min-max")
    treated, _, _ = step.fit_training(np.array([[7.0], [4.0], [25.0], [-5.0], [10.0]]), np.zeros(5))
    np.testing.assert_allclose(treated[:, 0], [0.4, 0.3, 1.0, 0.0, 0.5])
    np.testing.assert_allclose(step.transform(np.array([[55.0], [-20.0]]))[:, 0], [2.0, -0.5])


@pytest.mark.parametrize("name", ["standardise", "min-max"])
def test_a_column_constant_in_training_becomes_zeros(name):
    step = build_step(name)
    train = np.column_stack([np.full(256, 0.1), np.arange(256.0)])
    treated, _, _ = step.fit_training(train, np.zeros(256))
    assert np.array_equal(treated[:, 0], np.zeros(256))
    assert np.array_equal(step.transform(np.array([[99.0, 1.0]]))[:, 0], [0.0])


def test_impute_mean():
    nan = np.nan
    train = np.array([[1.0, nan, nan], [3.0, 4.0, nan], [nan, 8.0, nan]])
    step = build_step("impute-mean")
    treated, _, _ = step.fit_training(train, np.zeros(3))
    assert np.array_equal(treated, [[1, 6, 0], [3, 4, 0], [2, 8, 0]])
    # A column without any value in training: 0 where it is missing, the value where a test example has one.
    assert np.array_equal(
        step.transform(np.array([[nan, nan, nan], [nan, 1.0, 5.0]])), [[2, 6, 0], [2, 1, 5]]
    )
    assert step.fit_metrics_ == {"imputed_values": 5.0}


@pytest.mark.parametrize("name", ["row-standardise", "standardise", "min-max"])
def test_missing_values_are_an_error_that_says_what_to_do(name):
    train = np.array([[1.0, 2.0], [np.nan, 1.0], [np.nan, np.nan]])
    with pytest.raises(ConfmlError, match=f"'{name}'.*2 of 3 rows.*row 1.*impute-mean"):
        build_step(name).fit_training(train, np.zeros(3))


# ---- what holds for every step


@pytest.mark.parametrize("name", NAMES)
def test_steps_keep_rows_labels_and_their_input(name, table):
    X, y = table
    before = X.copy()
    X.flags.writeable = False
    step = build_step(name)
    treated, labels, kept = step.fit_training(X, y)
    assert np.array_equal(treated, step.transform(X)[kept])
    assert np.array_equal(labels, y[kept]) and (np.diff(kept) > 0).all()
    if type(step).fit_training is Step.fit_training:  # otherwise it cleans
        assert np.array_equal(kept, np.arange(40))
    columns = step.kept_columns_
    assert treated.shape[1] == (X.shape[1] if columns is None else len(columns))
    assert np.isfinite(treated).all()
    assert np.array_equal(X, before)
    again, _, _ = build_step(name).fit_training(X, y)
    assert np.array_equal(treated, again)


@pytest.mark.parametrize("name", NAMES)
def test_one_training_row_and_no_test_row(name):
    step = build_step(name)
    treated, _, _ = step.fit_training(np.array([[3.0, 5.0]]), np.zeros(1))
    assert treated.shape == (1, 2) and np.isfinite(treated).all()
    assert step.transform(np.empty((0, 2))).shape == (0, 2)


@pytest.mark.parametrize("name", NAMES)
def test_every_step_is_described(name):
    card = describe_step(name)
    assert card["name"] == name and card["source"] == "confml"
    assert card["summary"].endswith(".") and card["text"].startswith(card["summary"])
    assert card["version"] == version_of_step(name) >= 1
    assert [entry["name"] for entry in card["parameters"]] == list(step_class(name).parameters)


# ---- chains


class DropSecond(Step):
    """Keeps every second training row, and says how many went."""

    name = "drop-second"

    def fit_training(self, X, y, rng=None):
        self.removed = len(y) // 2
        kept = np.arange(0, len(y), 2)
        return X[kept], y[kept], kept

    @property
    def fit_metrics_(self):
        return {"removed_rows": float(self.removed)}


class DropAll(Step):
    """Leaves nothing."""

    name = "drop-all"

    def fit_training(self, X, y, rng=None):
        return X[:0], y[:0], np.arange(0)


def test_an_empty_chain_changes_nothing(table):
    X, y = table
    chain = StepPipeline()
    treated, labels, kept = chain.fit_training(X, y)
    assert np.array_equal(treated, X) and np.array_equal(labels, y) and np.array_equal(kept, np.arange(40))
    assert np.array_equal(chain.transform(X), X) and chain.fit_metrics_ == {}


def test_a_chain_applies_its_steps_in_order(table):
    X, y = table
    chain = build_pipeline([("standardise", {}), ("row-standardise", {})])
    treated, _, _ = chain.fit_training(X, y)
    first, _, _ = build_step("standardise").fit_training(X, y)
    assert np.array_equal(treated, build_step("row-standardise").transform(first))
    assert np.array_equal(chain.transform(X), treated)
    other, _, _ = build_pipeline([("row-standardise", {}), ("standardise", {})]).fit_training(X, y)
    assert not np.allclose(treated, other)


def test_a_step_learns_from_the_rows_that_are_left(table):
    X, y = table
    chain = StepPipeline([DropSecond(), build_step("standardise"), DropSecond()])
    treated, labels, kept = chain.fit_training(X, y)
    assert np.array_equal(kept, np.arange(0, 40, 4)) and np.array_equal(labels, y[kept])
    left = X[::2]
    expected = (left - left.mean(axis=0))[:, :4] / left.std(axis=0)[:4]
    np.testing.assert_allclose(treated[:, :4], expected[::2])
    assert len(chain.transform(X)) == 40
    assert chain.fit_metrics_ == {"drop-second.removed_rows": 10.0}


def test_a_chain_that_leaves_no_row_says_which_step_it_was(table):
    with pytest.raises(ConfmlError, match="'drop-all' left none of 40"):
        StepPipeline([DropAll()]).fit_training(*table)


# ---- compiling


@pytest.mark.parametrize("name", NAMES)
def test_a_step_without_kernels_has_nothing_to_warm(name):
    from confml.runner.kernels import has_kernels

    scaling = {"impute-mean", "min-max", "row-standardise", "smooth-images", "standardise"}
    assert has_kernels(step_class(name)) == (name not in scaling)


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


# ---- by name


def test_the_known_steps():
    assert {"row-standardise", "standardise", "min-max", "impute-mean"} <= set(NAMES)
    assert NAMES == list(known_steps())


def test_an_unknown_step_names_the_nearest():
    with pytest.raises(ConfigError, match="unknown step 'standardize'; did you mean 'standardise'"):
        check_step("standardize")


def test_a_parameter_that_a_step_does_not_have():
    with pytest.raises(ConfigError, match="step 'min-max' has no parameter 'low'; it has none"):
        build_step("min-max", {"low": 0})
