"""Division of the training examples by a conformal predictor: a calibration part, or folds.

The functions without labels draw at random, so that the calibration examples and a new example stay
exchangeable. Those with labels draw within each class, which keeps them exchangeable within each class only.
"""

from __future__ import annotations

import numpy as np


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
    taken = np.floor(exact).astype(np.int64)
    missing = round(float(exact.sum())) - int(taken.sum())
    for code in np.argsort(-(exact - taken), kind="stable")[: max(missing, 0)]:
        taken[code] += 1
    taken = np.minimum(taken, np.maximum(sizes - 1, 0))
    rows = [rng.permutation(np.flatnonzero(codes == code))[: taken[code]] for code in range(len(sizes))]
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
) -> np.ndarray:
    """Return (m,) the fold of each row, with every class spread evenly; -1 for a class of one row.

    Such a row is in no fold, so that every training part has all classes. Without ``stratify`` all rows are
    one class. groups: (m,) numbers from 0; the rows of a group share a fold. Groups are assigned in random
    order to the smallest fold that would not then hold all examples of a class, or to none.
    """
    if groups is not None:
        return _group_fold_numbers(codes, folds, rng, groups)
    spread = codes if stratify else np.zeros_like(codes)
    numbers, start = np.full(len(codes), -1), 0
    for code in range(int(spread.max()) + 1):
        rows = rng.permutation(np.flatnonzero(spread == code))
        if len(rows) > 1:
            numbers[rows] = (start + np.arange(len(rows))) % folds
            start += len(rows)
    return numbers


def _group_fold_numbers(
    codes: np.ndarray, folds: int, rng: np.random.Generator, groups: np.ndarray
) -> np.ndarray:
    numbers, total = np.full(len(codes), -1), np.bincount(codes)
    held = np.zeros((folds, len(total)), dtype=np.int64)
    members = np.split(np.argsort(groups, kind="stable"), np.cumsum(np.bincount(groups))[:-1])
    members = [rows for rows in members if len(rows)]
    for group in rng.permutation(len(members)):
        rows = members[group]
        sizes = np.bincount(codes[rows], minlength=len(total))
        possible = np.flatnonzero(np.all((sizes == 0) | (held + sizes < total), axis=1))
        if len(possible):
            fold = possible[np.argmin(held[possible].sum(axis=1))]
            numbers[rows] = fold
            held[fold] += sizes
    return numbers
