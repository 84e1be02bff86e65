"""Folds and holdouts are those of scikit-learn for the same seed."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import model_selection as ms

from confml.data.folds import train_test_pairs
from confml.errors import ConfigError

LABELS = st.lists(st.sampled_from("abcde"), min_size=2, max_size=60)
SEEDS = st.integers(0, 2**32 - 1)


def scikit_pairs(splitter, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pairs = list(splitter.split(np.zeros((len(y), 1)), y))
    return [(sorted(train.tolist()), sorted(test.tolist())) for train, test in pairs]


def own_pairs(y, size, stratify, seed):
    pairs = train_test_pairs(y, None, size, stratify, seed, "d", "folds")
    return [(train.tolist(), test.tolist()) for train, test in pairs]


@settings(max_examples=200, deadline=None)
@given(LABELS, st.integers(2, 7), st.booleans(), SEEDS)
def test_folds_are_those_of_scikit_learn(labels, folds, stratify, seed):
    y = np.array(labels)
    if len(y) < folds:
        with pytest.raises(ConfigError, match=f"too few for {folds} folds"):
            own_pairs(y, folds, stratify, seed)
        return
    by_class = stratify and np.unique(y, return_counts=True)[1].max() >= folds
    kind = ms.StratifiedKFold if by_class else ms.KFold
    expected = scikit_pairs(kind(n_splits=folds, shuffle=True, random_state=seed), y)
    assert own_pairs(y, folds, stratify, seed) == expected


@settings(max_examples=300, deadline=None)
@given(LABELS, st.sampled_from([0.01, 0.1, 0.2, 0.25, 1 / 3, 0.5, 0.7, 0.99]), st.booleans(), SEEDS)
def test_holdouts_are_those_of_scikit_learn(labels, share, stratify, seed):
    y = np.array(labels)
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    several = np.flatnonzero(counts[codes] > 1) if stratify else np.arange(len(y))
    kind = ms.StratifiedShuffleSplit if stratify else ms.ShuffleSplit
    try:
        ((train, test),) = scikit_pairs(kind(1, test_size=share, random_state=seed), y[several])
    except ValueError:
        with pytest.raises(ConfigError, match="cannot be split into a holdout"):
            own_pairs(y, share, stratify, seed)
        return
    alone = np.setdiff1d(np.arange(len(y)), several)
    expected = sorted([*several[train], *alone]), several[test].tolist()
    assert own_pairs(y, share, stratify, seed) == [expected]


@pytest.mark.parametrize(
    ("labels", "stratify", "words"),
    [
        ("aabbcc", True, "The test_size = 1 should be greater or equal to the number of classes = 3"),
        ("aabbcc" * 2, True, "With n_samples=12, .* train set will be empty"),
        ("ab", True, "no class has two rows"),
        ("a", False, "With n_samples=1, .* train set will be empty"),
    ],
)
def test_a_holdout_that_cannot_be_drawn_is_explained(labels, stratify, words):
    share = 0.99 if len(labels) > 6 else 0.1
    with pytest.raises(ConfigError, match=f"d cannot be split into a holdout .*: {words}"):
        train_test_pairs(np.array(list(labels)), None, share, stratify, 3, "d", "test-size")
