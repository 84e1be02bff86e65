"""Thresholds of nonconformity scores that are valid in each of several overlapping groups, at one level.

Source: Gibbs, Cherian, Candes, Conformal Prediction with Conditional Guarantees, 2023, with groups as
indicator features.
"""

import numpy as np

_BELOW = 1e-7  # distance of the dual variable of the new example from 1 - level
_WHOLE = 3_000  # examples up to which one programme has them all
_ERROR = 1e-9  # relative error of a threshold; scores within it are in the region


def group_threshold(scores: np.ndarray, members: np.ndarray, new: np.ndarray, level: float) -> float:
    """Return the largest score that a new example may have in the region at a level.

    scores: (m,) finite, of the calibration examples. members: (m, D) the group of each in each division.
    new: (D,) the groups of the new example. +inf where its groups have too few examples.

    The threshold is the smallest ``sum of b_g over the groups g of the new example`` over the minimisers b of
    ``sum_i rho(s_i - sum of b_g over the groups of i) - (1 - level) sum of b_g over its own groups`` with
    the pinball loss ``rho(u) = (1 - level) max(u, 0) + level max(-u, 0)``. A larger score has the
    dual variable 1 - level in every solution of the programme of all examples, in which at most a fraction
    ``level`` of the examples of a group has it. The threshold is the multiplier of the dual programme with a
    dual variable of the new example just below 1 - level.
    """
    columns, sizes = _columns(members)
    places = [np.flatnonzero(known == value) for known, value in zip(columns, new, strict=True)]
    if any(len(place) == 0 for place in places):
        return np.inf
    starts = np.append(0, np.cumsum(sizes))
    own = np.array([start + place[0] for start, place in zip(starts[:-1], places, strict=True)])
    cells = np.column_stack(
        [
            start + np.searchsorted(known, column)
            for start, known, column in zip(starts[:-1], columns, members.T, strict=True)
        ]
    )
    found = _solved(scores, cells, own, int(starts[-1]), level)
    return found if np.isinf(found) else found + _ERROR * max(1.0, abs(found))


def _columns(members: np.ndarray) -> tuple[list[np.ndarray], list[int]]:
    columns = [np.unique(column) for column in members.T]
    return columns, [len(known) for known in columns]


def _solved(scores: np.ndarray, cells: np.ndarray, pattern: np.ndarray, groups: int, level: float) -> float:
    """Return the threshold; with many examples, from a programme of those near the fitted quantiles.

    The dual variables of the others are at their bounds. It is the same threshold if no residual has another
    sign than assumed; else more examples are added.
    """
    fixed = np.zeros(len(scores))  # dual variables that are assumed
    free = np.ones(len(scores), dtype=bool)
    if len(scores) > _WHOLE:
        fit = _first_fit(scores, cells, level)
        order = np.argsort(np.abs(scores - fit), kind="stable")
        free[order[_WHOLE:]] = False
        fixed[~free] = np.where(scores[~free] > fit[~free], 1 - level, -level)
    while True:
        b = _programme(scores[free], cells[free], pattern, groups, level, (fixed[~free], cells[~free]))
        if free.all():
            return np.inf if b is None else float(b[pattern].sum())
        wrong = None
        if b is not None:
            residual = scores - b[cells].sum(axis=1)
            wrong = ~free & (np.sign(residual) != np.sign(fixed))
            if not wrong.any():
                return float(b[pattern].sum())
        free = np.ones(len(scores), dtype=bool) if wrong is None else free | wrong


def _first_fit(scores: np.ndarray, cells: np.ndarray, level: float) -> np.ndarray:
    """Return (m,) additive quantiles of the scores, by a few rounds of quantiles in each division."""
    fit = np.zeros(len(scores))
    for _ in range(8):
        for column in cells.T:
            for group in np.unique(column):
                mine = column == group
                fit[mine] += np.quantile(scores[mine] - fit[mine], 1 - level)
    return fit


def _programme(
    scores: np.ndarray,
    cells: np.ndarray,
    pattern: np.ndarray,
    groups: int,
    level: float,
    others: tuple[np.ndarray, np.ndarray],
) -> np.ndarray | None:
    """Return the coefficients (groups,); None if the programme has no solution, so they are unbounded.

    others: dual variables that are fixed, and their cells.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csc_array

    m, divisions = cells.shape
    places = np.arange(0, m * divisions + 1, divisions)
    matrix = csc_array((np.ones(m * divisions), cells.ravel(), places), shape=(groups, m))
    right = np.zeros(groups)
    np.add.at(right, pattern, -(1 - level) + _BELOW)
    values, others_cells = others
    np.add.at(right, others_cells.ravel(), -np.repeat(values, divisions))
    found = linprog(
        -scores,
        A_eq=matrix,
        b_eq=right,
        bounds=(-level, 1 - level),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9},
    )
    if found.status == 2:
        return None
    if found.status != 0:
        raise ArithmeticError(f"the programme of group quantiles failed: {found.message}")
    return np.asarray(-found.eqlin.marginals)
