"""Division of rows at random into folds, or into two parts, by class or by group.

There are two conventions. `train_test_pairs` has the splitters of scikit-learn: the splits and inner folds of
a run can be drawn without confml, and every row is tested. The other functions are for conformal predictors.
Without labels they draw so that the calibration examples and a new example stay exchangeable; with labels
they draw within each class, which keeps them exchangeable within each class only. A row whose class has no
other row is in no fold, so that every training part has all classes."""

import warnings
from typing import Any

import numpy as np

from confml.data.text_table import counted
from confml.errors import ConfigError


def train_test_pairs(
    y: np.ndarray,
    groups: np.ndarray | None,
    size: int | float,
    stratify: bool,
    random_state: int,
    name: str,
    key: str,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return sorted (training rows, test rows) of scikit-learn's folds, or of one holdout.

    y: (m,) labels. groups: (m,) or None; the rows of a group stay in one part. size: number of folds (int) or
    fraction of the rows in the test part (float). Without a class that has a row for every fold, folds are
    not stratified; a class with a single row is in the training part of a stratified holdout. Raises
    ConfigError for data that cannot be divided, with ``name`` of the rows and the ``key`` of ``size``.
    """
    n = len(y)
    units, kind = (n, "row") if groups is None else (len(np.unique(groups)), "group")
    if units < (size if isinstance(size, int) else 1 if groups is None else 2):
        hint = f"set {key} to at most {units}" if isinstance(size, int) and units > 1 else None
        message = f"{name} has {counted(units, kind)}, too few for {_described(size)} ({key})"
        raise ConfigError(message, hint=hint)
    try:
        splitter = _splitter(y, groups, size, stratify, random_state)
        # a class with a single row cannot be stratified: it is in the training part of a holdout
        divided, alone = np.arange(n), np.empty(0, dtype=np.intp)
        if stratify and groups is None and not isinstance(size, int):
            _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
            divided, alone = np.flatnonzero(counts[codes] > 1), np.flatnonzero(counts[codes] == 1)
            if not len(divided):
                raise ValueError("no class has two rows")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # classes with fewer rows than folds are allowed
            pairs = list(splitter.split(np.zeros((len(divided), 1)), y[divided], groups))
    except ValueError as error:
        message = f"{name} cannot be split into {_described(size)}: {error}"
        raise ConfigError(message, hint="merge rare classes" if stratify else None) from None
    return [(np.sort(np.append(divided[train], alone)), np.sort(divided[test])) for train, test in pairs]


def _splitter(
    y: np.ndarray, groups: np.ndarray | None, size: int | float, stratify: bool, random_state: int
) -> Any:
    """Return the splitter of scikit-learn."""
    from sklearn import model_selection as ms

    kind: Any
    if not isinstance(size, int):
        kind = ms.StratifiedShuffleSplit if stratify else ms.ShuffleSplit
        kind = kind if groups is None else ms.GroupShuffleSplit
        return kind(n_splits=1, test_size=size, random_state=random_state)
    if groups is None:
        stratify = stratify and np.unique(y, return_counts=True)[1].max() >= size
        kind = ms.StratifiedKFold if stratify else ms.KFold
    else:
        kind = ms.StratifiedGroupKFold if stratify else ms.GroupKFold
    return kind(n_splits=size, shuffle=True, random_state=random_state)


def _described(size: int | float) -> str:
    return f"{size} folds" if isinstance(size, int) else f"a holdout with test-size {size}"


# ---- of conformal predictors


def calibration_rows(rows: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """Return the nearest number to ``share`` of ``rows`` rows, drawn at random, sorted; never all of them."""
    return np.sort(rng.permutation(rows)[: min(round(share * rows), rows - 1)])


def calibration_rows_by_class(codes: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Return the nearest number to ``share`` of the rows of each class, drawn at random, sorted.

    The number of rows per class depends on the class sizes only, so calibration examples and a new example of
    the same class are exchangeable. Rounding is settled class by class, largest remainder first, earlier
    classes first among equal remainders, so that the total has its share too. One row of each class is never
    drawn: a class of one row has no calibration examples, and its p-values are 1.
    """
    sizes = np.bincount(codes)
    exact = share * sizes
    counts = np.floor(exact).astype(np.int64)
    missing = round(float(exact.sum())) - int(counts.sum())
    for code in np.argsort(-(exact - counts), kind="stable")[: max(missing, 0)]:
        counts[code] += 1
    counts = np.minimum(counts, np.maximum(sizes - 1, 0))
    rows = [rng.permutation(np.flatnonzero(codes == code))[: counts[code]] for code in range(len(sizes))]
    return np.sort(np.concatenate(rows))


def calibration_groups(groups: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Return the rows of whole groups, sorted: the nearest number to ``share`` of the groups, never all.

    groups: (m,) numbers from 0. Groups are counted, not rows: a draw that stopped by rows would favour groups
    by their sizes.
    """
    return np.flatnonzero(np.isin(groups, calibration_rows(int(groups.max()) + 1, share, rng)))


def random_folds(
    rows: int, folds: int, rng: np.random.Generator, groups: np.ndarray | None = None
) -> np.ndarray:
    """Return (rows,) the fold of each row, drawn at random; sizes differ by at most one row, or group.

    groups: (rows,) numbers from 0; the rows of a group share a fold. One row, or group, is in no fold (-1),
    because nothing would be left to fit to.
    """
    units = rows if groups is None else int(groups.max()) + 1
    numbers = np.full(units, -1)
    if units > 1:
        numbers[rng.permutation(units)] = np.arange(units) % folds
    return numbers if groups is None else numbers[groups]


def fold_numbers(
    codes: np.ndarray,
    folds: int,
    rng: np.random.Generator,
    stratify: bool = True,
    groups: np.ndarray | None = None,
    single_rows: bool = False,
) -> np.ndarray:
    """Return (m,) the fold of each row, with every class spread evenly; -1 for a class of one row.

    Such a row is in no fold unless ``single_rows``, so that every training part has all classes. Without
    ``stratify`` all rows are one class. groups: (m,) numbers from 0; the rows of a group share a fold. Groups
    are assigned in random order to the smallest fold that would not then hold all examples of a class, or to
    none.
    """
    if groups is not None:
        return _group_fold_numbers(codes, folds, rng, groups)
    spread = codes if stratify else np.zeros_like(codes)
    numbers, start = np.full(len(codes), -1), 0
    for code in range(int(spread.max()) + 1):
        rows = rng.permutation(np.flatnonzero(spread == code))
        if len(rows) > 1 or single_rows:
            numbers[rows] = (start + np.arange(len(rows))) % folds
            start += len(rows)
    return numbers


def _group_fold_numbers(
    codes: np.ndarray, folds: int, rng: np.random.Generator, groups: np.ndarray
) -> np.ndarray:
    numbers, total = np.full(len(codes), -1), np.bincount(codes)
    fold_sizes = np.zeros((folds, len(total)), dtype=np.int64)
    members = np.split(np.argsort(groups, kind="stable"), np.cumsum(np.bincount(groups))[:-1])
    members = [rows for rows in members if len(rows)]
    for group in rng.permutation(len(members)):
        rows = members[group]
        sizes = np.bincount(codes[rows], minlength=len(total))
        possible = np.flatnonzero(np.all((sizes == 0) | (fold_sizes + sizes < total), axis=1))
        if len(possible):
            fold = possible[np.argmin(fold_sizes[possible].sum(axis=1))]
            numbers[rows] = fold
            fold_sizes[fold] += sizes
    return numbers


def rows_outside(rows: np.ndarray, n: int) -> np.ndarray:
    """Return the numbers below ``n`` that are not in ``rows``, in ascending order."""
    outside = np.ones(n, dtype=bool)
    outside[rows] = False
    return np.flatnonzero(outside)
