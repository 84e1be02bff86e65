"""Noise of labels, of attributes, and irrelevant attributes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confml.data.noise import apply_noise, irrelevant_names
from confml.errors import ConfmlError


def rng(seed=0):
    return np.random.default_rng(seed)


def some_data(n=200, d=3, classes=("a", "b", "c"), seed=5):
    random = rng(seed)
    return random.normal(size=(n, d)), np.array(classes)[random.integers(len(classes), size=n)]


@settings(max_examples=60)
@given(n=st.integers(1, 60), share=st.floats(0, 1), classes=st.integers(2, 5), seed=st.integers(0, 99))
def test_exactly_the_share_of_labels_changes(n, share, classes, seed):
    y = rng(seed).integers(classes, size=n)
    y[:2] = [0, 1][: min(n, 2)]
    if len(np.unique(y)) < 2:
        return
    X = np.zeros((n, 1))
    noised_X, noised = apply_noise(X, y, {"labels": share}, rng(seed))
    assert (noised != y).sum() == int(np.floor(round(n * share, 9) + 0.5))
    assert set(noised) <= set(y)
    assert (noised_X == X).all()


def test_every_other_class_is_as_likely():
    y = np.repeat([0, 1, 2, 3], 3000)
    _, noised = apply_noise(np.zeros((len(y), 1)), y, {"labels": 1.0}, rng(1))
    for label in range(4):
        counts = np.bincount(noised[y == label], minlength=4)
        assert counts[label] == 0
        assert abs(np.delete(counts, label) - 1000).max() < 5 * np.sqrt(3000 * (1 / 3) * (2 / 3))


def test_the_rows_of_a_smaller_share_are_among_those_of_a_greater():
    X, y = some_data()
    _, little = apply_noise(X, y, {"labels": 0.05}, rng(3))
    _, much = apply_noise(X, y, {"labels": 0.25}, rng(3))
    changed = little != y
    assert changed.sum() == 10
    assert (little[changed] == much[changed]).all()


def test_attribute_values_come_from_the_same_column():
    X, y = some_data(n=50)
    noised, labels = apply_noise(X, y, {"attributes": 0.3}, rng(2))
    assert (labels == y).all()
    # All values are different here, so that a value from another row is always a change.
    assert ((noised != X).sum(axis=0) == 15).all()
    for column in range(X.shape[1]):
        assert set(noised[:, column]) <= set(X[:, column])


def test_a_nominal_attribute_keeps_one_category_a_row():
    random = rng(4)
    codes = random.integers(4, size=300)
    X = np.hstack([random.normal(size=(300, 1)), np.eye(4)[codes], random.normal(size=(300, 1))])
    y = np.arange(300) % 2
    noised, _ = apply_noise(X, y, {"attributes": 0.8}, rng(1), nominal=[[1, 2, 3, 4]])
    assert (noised[:, 1:5].sum(axis=1) == 1).all()
    assert (noised[:, 1:5] != X[:, 1:5]).any()
    alone, _ = apply_noise(X, y, {"attributes": 0.8}, rng(1))
    assert (alone[:, 1:5].sum(axis=1) != 1).any()


def test_irrelevant_attributes_are_appended_and_leave_the_rest_alone():
    X, y = some_data()
    noised, labels = apply_noise(X, y, {"irrelevant": 4}, rng(1))
    assert noised.shape == (200, 7) and noised.flags.c_contiguous
    assert (noised[:, :3] == X).all() and (labels == y).all()
    assert noised[:, 3:].min() >= 0 and noised[:, 3:].max() <= 1
    assert abs(noised[:, 3:].mean() - 0.5) < 0.06


def test_the_kinds_of_noise_do_not_disturb_each_other():
    X, y = some_data()
    _, alone = apply_noise(X, y, {"labels": 0.2}, rng(7))
    both_X, both_y = apply_noise(X, y, {"labels": 0.2, "irrelevant": 3, "attributes": 0.1}, rng(7))
    only_X, _ = apply_noise(X, y, {"irrelevant": 3}, rng(7))
    assert (alone == both_y).all()
    assert (both_X[:, 3:] == only_X[:, 3:]).all()


def test_one_class_or_one_row_cannot_be_noised():
    with pytest.raises(ConfmlError, match="at least two classes"):
        apply_noise(np.zeros((3, 1)), np.zeros(3, int), {"labels": 0.5}, rng())
    with pytest.raises(ConfmlError, match="only one"):
        apply_noise(np.zeros((1, 1)), np.zeros(1, int), {"attributes": 0.5}, rng())


def test_irrelevant_names_avoid_those_there_are():
    assert irrelevant_names(["x", "irrelevant-2"], 3) == ("irrelevant-1", "irrelevant-3", "irrelevant-4")
