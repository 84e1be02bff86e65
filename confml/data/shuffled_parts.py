"""Folds and holdouts of scikit-learn's splitters, with the same rows for the same seed.

The import of ``sklearn.model_selection`` takes longer than a small run. Its splitters with groups are used
themselves (`confml.data.folds`).
"""

import math

import numpy as np


def shuffled_folds(rows: int, folds: int, rng: np.random.RandomState) -> np.ndarray:
    """Return (rows,) the fold of each row, as ``KFold(folds, shuffle=True)`` draws them."""
    order = np.arange(rows)
    rng.shuffle(order)
    sizes = np.full(folds, rows // folds)
    sizes[: rows % folds] += 1
    numbers = np.empty(rows, dtype=np.intp)
    numbers[order] = np.repeat(np.arange(folds), sizes)
    return numbers


def stratified_folds(y: np.ndarray, folds: int, rng: np.random.RandomState) -> np.ndarray:
    """Return (m,) the fold of each row, as ``StratifiedKFold(folds, shuffle=True)`` draws them.

    y: (m,) labels. Classes are drawn in the order of their first rows.
    """
    _, first, codes = np.unique(y, return_index=True, return_inverse=True)
    codes = np.argsort(np.argsort(first))[codes]
    in_order = np.sort(codes)
    sizes = np.array([np.bincount(in_order[fold::folds], minlength=len(first)) for fold in range(folds)])
    numbers = np.empty(len(y), dtype=np.intp)
    for code in range(len(first)):
        drawn = np.repeat(np.arange(folds), sizes[:, code])
        rng.shuffle(drawn)
        numbers[codes == code] = drawn
    return numbers


def holdout(rows: int, share: float, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Return (training rows, test rows), as ``ShuffleSplit(1, test_size=share)`` draws them.

    Raises ValueError if no row is left for the training part.
    """
    n_test = _test_rows(rows, share)
    order = rng.permutation(rows)
    return order[n_test:], order[:n_test]


def stratified_holdout(
    y: np.ndarray, share: float, rng: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Return (training rows, test rows), as ``StratifiedShuffleSplit(1, test_size=share)`` draws them.

    y: (m,) labels; every class has at least two rows. Raises ValueError if there are no rows, or a
    part has fewer rows than classes.
    """
    if len(y) == 0:
        raise ValueError("no class has two rows")
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    n_test = _test_rows(len(y), share)
    n_train = len(y) - n_test
    for part, size in (("training", n_train), ("test", n_test)):
        if size < len(classes):
            raise ValueError(f"the {part} part would have {size} rows for {len(classes)} classes")
    of_train = _shares_of_classes(counts, n_train, rng)
    of_test = _shares_of_classes(counts - of_train, n_test, rng)
    train, test = [], []
    members = np.split(np.argsort(codes, kind="stable"), np.cumsum(counts)[:-1])
    for rows, first, second in zip(members, of_train, of_test, strict=True):
        rows = rows[rng.permutation(len(rows))]
        train.append(rows[:first])
        test.append(rows[first : first + second])
    return np.concatenate(train), np.concatenate(test)


def _test_rows(rows: int, share: float) -> int:
    """Return the number of rows of a test part; ValueError if it has all of them."""
    n_test = math.ceil(share * rows)
    if n_test >= rows:
        raise ValueError(f"no row of {rows} would be left for the training part")
    return n_test


def _shares_of_classes(counts: np.ndarray, draws: int, rng: np.random.RandomState) -> np.ndarray:
    """Return how many of ``draws`` rows each class gets: its share, with the largest remainders rounded up.

    Equal remainders are rounded up at random.
    """
    exact = counts / counts.sum() * draws
    taken = np.floor(exact)
    remainders = exact - taken
    missing = int(draws - taken.sum())
    for remainder in np.unique(remainders)[::-1]:
        if missing <= 0:
            break
        equal = np.flatnonzero(remainders == remainder)
        drawn = rng.choice(equal, size=min(len(equal), missing), replace=False)
        taken[drawn] += 1
        missing -= len(drawn)
    return taken.astype(np.intp)
