"""Which training examples a conformal method keeps back: a calibration part, or folds."""

from __future__ import annotations

import numpy as np


def calibration_rows(codes: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Rows to calibrate on, sorted: of a class of n examples the nearest number to ``share`` n, and not all.

    What rounding leaves over is decided class by class, largest remainder first, so that the whole has its
    share too; of equal remainders earlier classes first.
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


def calibration_groups(
    codes: np.ndarray, groups: np.ndarray, share: float, rng: np.random.Generator
) -> np.ndarray:
    """Rows of whole groups to calibrate on, sorted, as near to ``share`` of all as these come.

    Groups (m,) numbers from 0 come in random order; one is passed over where less than half of it has room,
    or where it would take the last examples of a class away.
    """
    members = _members(groups)
    left, room = np.bincount(codes), round(share * len(codes))
    taken = [np.empty(0, dtype=np.intp)]
    for group in rng.permutation(len(members)):
        rows = members[group]
        sizes = np.bincount(codes[rows], minlength=len(left))
        if len(rows) <= 2 * room and np.all((sizes == 0) | (left > sizes)):
            taken.append(rows)
            left, room = left - sizes, room - len(rows)
    return np.sort(np.concatenate(taken))


def _members(groups: np.ndarray) -> list[np.ndarray]:
    """The rows of each group."""
    return np.split(np.argsort(groups, kind="stable"), np.cumsum(np.bincount(groups))[:-1])


def fold_numbers(
    codes: np.ndarray,
    folds: int,
    rng: np.random.Generator,
    stratify: bool = True,
    groups: np.ndarray | None = None,
) -> np.ndarray:
    """(m,) the fold of each row: classes spread evenly, one behind the other; -1 for a class of one row.

    Such a row stands in no fold, so that every training part has all classes. Without ``stratify`` all rows
    are one class. Groups (m,), numbers from 0, stay together: one after another in random order goes where
    the fewest rows are among the folds that would not have all examples of a class then, or in none.
    """
    if groups is not None:
        numbers, total = np.full(len(codes), -1), np.bincount(codes)
        held = np.zeros((folds, len(total)), dtype=np.int64)
        members = [rows for rows in _members(groups) if len(rows)]
        for group in rng.permutation(len(members)):
            rows = members[group]
            sizes = np.bincount(codes[rows], minlength=len(total))
            possible = np.flatnonzero(np.all((sizes == 0) | (held + sizes < total), axis=1))
            if len(possible):
                fold = possible[np.argmin(held[possible].sum(axis=1))]
                numbers[rows] = fold
                held[fold] += sizes
        return numbers
    spread = codes if stratify else np.zeros_like(codes)
    numbers, start = np.full(len(codes), -1), 0
    for code in range(int(spread.max()) + 1):
        rows = rng.permutation(np.flatnonzero(spread == code))
        if len(rows) > 1:
            numbers[rows] = (start + np.arange(len(rows))) % folds
            start += len(rows)
    return numbers
