"""Division of rows into folds and parts: sizes, classes, groups and the numbers drawn."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn import model_selection as ms

from confml.data.folds import (
    calibration_groups,
    calibration_rows,
    calibration_rows_by_class,
    fold_numbers,
    random_folds,
    train_test_pairs,
)


def test_the_label_conditional_calibration_part_is_stratified():
    codes = np.repeat([0, 1, 2, 3, 4], [100, 33, 10, 2, 1])
    rows = calibration_rows_by_class(codes, 0.3, np.random.default_rng(0))
    assert np.bincount(codes[rows], minlength=5).tolist() == [30, 10, 3, 1, 0]
    assert rows.tolist() == sorted(set(rows.tolist()))
    assert rows.tolist() != calibration_rows_by_class(codes, 0.3, np.random.default_rng(1)).tolist()
    assert len(calibration_rows_by_class(np.zeros(1, int), 0.9, np.random.default_rng(0))) == 0
    most = calibration_rows_by_class(np.repeat([0, 1], [5, 2]), 0.99, np.random.default_rng(0))
    assert len(most) == 5, "one example of every class is left to learn from"


def test_folds_leave_every_class_to_learn_from():
    codes = np.repeat([0, 1, 2, 3], [23, 7, 2, 1])
    numbers = fold_numbers(codes, 5, np.random.default_rng(0))
    assert numbers[-1] == -1
    sizes = np.bincount(numbers[:-1])
    assert len(sizes) == 5 and sizes.max() - sizes.min() <= 1
    for fold in range(5):
        assert set(codes[numbers != fold]) == {0, 1, 2, 3}


def test_groups_are_drawn_at_random():
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5] + [6] * 8)
    drawn = np.zeros(7, dtype=int)
    for seed in range(300):
        rows = calibration_groups(groups, 0.3, np.random.default_rng(seed))
        assert not set(groups[rows]) & set(np.delete(groups, rows)) and len(set(groups[rows])) == 2
        drawn[np.unique(groups[rows])] += 1
        numbers = random_folds(20, 3, np.random.default_rng(seed), groups)
        assert all(len(set(numbers[groups == group])) == 1 for group in range(7))
        assert sorted(np.bincount([numbers[groups == group][0] for group in range(7)])) == [2, 2, 3]
    low, high = binom.ppf([1e-4, 1 - 1e-4], 300, 2 / 7)
    assert (drawn >= low).all() and (drawn <= high).all(), "large groups and small ones alike"
    alone = np.zeros(20, dtype=np.int64)
    assert len(calibration_groups(alone, 0.3, np.random.default_rng(0))) == 0
    assert set(random_folds(20, 3, np.random.default_rng(0), alone)) == {-1}


def test_inner_folds_of_groups_leave_every_class_to_learn_from():
    codes = np.array([0] * 6 + [1] * 4 + [2] * 2 + [0, 1] * 4)
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5] + [6] * 8)
    for seed in range(20):
        numbers = fold_numbers(codes, 3, np.random.default_rng(seed), groups=groups)
        for fold in range(3):
            assert set(codes[numbers != fold]) == {0, 1, 2}
        assert all(len(set(numbers[groups == group])) == 1 for group in range(7))
        assert set(numbers[groups == 5]) == {-1}, "all that there is of class 2"


def drawn(draw, *arguments, **options):
    return draw(*arguments, np.random.default_rng(7), **options).tolist()


def test_the_numbers_drawn_stay_the_same():
    """Stored results depend on them."""
    codes = np.array([0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 3])
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5])
    assert drawn(random_folds, 11, 3) == [0, 1, 2, 2, 0, 0, 1, 1, 0, 1, 2]
    assert drawn(random_folds, 11, 3, groups=groups) == [2, 2, 1, 1, 1, 1, 2, 2, 0, 0, 0]
    assert drawn(fold_numbers, codes, 3) == [1, 0, 0, 1, 2, 2, 0, 1, 0, 2, -1]
    assert drawn(fold_numbers, codes, 3, groups=groups) == [1, 1, 2, 2, 0, 0, 1, 1, -1, -1, -1]
    assert drawn(calibration_rows, 11, 0.3) == [4, 6, 10]
    assert drawn(calibration_rows_by_class, codes, 0.3) == [2, 5, 9]
    assert drawn(calibration_groups, groups, 0.3) == [4, 5, 10]


def test_single_rows_are_dealt_like_the_others():
    codes, folds = np.array([2, 0, 1, 0, 0, 3, 0]), 3
    rng, expected, dealt = np.random.default_rng(5), np.full(7, -1), 0
    for code in range(4):
        for row in rng.permutation(np.flatnonzero(codes == code)):
            expected[row] = dealt % folds
            dealt += 1
    numbers = fold_numbers(codes, folds, np.random.default_rng(5), single_rows=True)
    assert numbers.tolist() == expected.tolist()


@pytest.mark.parametrize("stratify", [True, False])
@pytest.mark.parametrize("seed", [0, 7, 2**32 - 1])
def test_pairs_are_those_of_scikit_learn(stratify, seed):
    y = np.random.default_rng(seed).permutation(np.repeat(["a", "b", "c"], [20, 9, 5]))
    folds = (ms.StratifiedKFold if stratify else ms.KFold)(3, shuffle=True, random_state=seed)
    holdout = (ms.StratifiedShuffleSplit if stratify else ms.ShuffleSplit)(
        1, test_size=0.3, random_state=seed
    )
    for size, splitter in ((3, folds), (0.3, holdout)):
        pairs = train_test_pairs(y, None, size, stratify, seed, "d", "folds")
        for pair, expected in zip(pairs, splitter.split(y[:, None], y), strict=True):
            assert [part.tolist() for part in pair] == [sorted(part.tolist()) for part in expected]
