"""`choose`: selects a point of a parameter grid by inner cross-validation."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from confml._seeds import derived_generator
from confml._threads import cpu_seconds
from confml.data.folds import fold_numbers
from confml.errors import ConfmlError
from confml.measures.selection import best_point, inner_score
from confml.methods.base import Method


class FittedPart(NamedTuple):
    """A classifier of a training part after the steps.

    chain: the learnt steps, or None without steps.
    """

    method: Method
    chain: Any

    @property
    def name(self) -> str:
        return self.method.name if hasattr(self.method, "name") else repr(self.method)

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return further examples (n, d) after the steps."""
        return X if self.chain is None else self.chain.transform(X)


def learn_steps(
    method: Method,
    steps: Any,
    X: np.ndarray,
    y: np.ndarray,
    *part: Any,
    groups: np.ndarray | None = None,
) -> tuple[FittedPart, np.ndarray, np.ndarray]:
    """Fit the steps to one training part; return the unfitted classifier, and X (m', d'), y (m',) after them.

    The nominal columns of ``method`` are set. part: identifies the training part; each part has its own
    random numbers. groups: (m,) or None.
    """
    if steps is None:
        return FittedPart(method, None), X, y
    chain, X, y, _ = steps.learn(X, y, *part, groups=groups)
    if method.takes_nominal:
        method.set_params(nominal=np.flatnonzero(chain.nominal_).tolist())
    return FittedPart(method, chain), X, y


class InnerSelection(NamedTuple):
    """Grid of an inner cross-validation, its folds, and the measure that selects a point."""

    grid: Sequence[Mapping[str, Any]]
    folds: int = 10
    stratify: bool = True
    select_by: str = "accuracy"
    costs: Mapping[str, Any] | None = None


def choose(
    method: Method,
    X: np.ndarray,
    y: np.ndarray,
    inner: InnerSelection,
    *,
    rng: np.random.Generator,
    groups: np.ndarray | None = None,
    steps: Any = None,
) -> dict[str, Any]:
    """Return the choice of inner cross-validation: ``chosen``, ``select_by``, ``scores`` and ``seconds``.

    X (m, d), y (m,): examples before the steps. Each inner fold learns the steps on its own training rows;
    its validation rows are only transformed. Of the points with the best mean score the first is chosen; a
    point that fails on a fold is excluded. Raises ConfmlError if every point is excluded.
    """
    started = cpu_seconds()
    grid, folds, stratify, select_by, costs = inner
    _, codes = np.unique(y, return_inverse=True)
    numbers = fold_numbers(codes, folds, rng, stratify, groups)
    values: list[list[float | None]] = [[] for _ in grid]
    problems: set[str] = set()
    for fold in np.unique(numbers[numbers >= 0]).tolist():
        test = numbers == fold
        rest = None if groups is None else groups[~test]
        part, X_part, y_part = learn_steps(method, steps, X[~test], y[~test], "inner", fold, groups=rest)
        X_test = part.transform(X[test])
        for number, point in enumerate(grid):
            path = method.evaluate_path(X_part, y_part, X_test, [point], derived_generator(rng, fold))
            try:
                ((_, views),) = path
            except Exception as error:  # the point is excluded, whatever the reason
                problems.add(str(error))
                values[number].append(None)
                continue
            values[number].append(inner_score(next(iter(views.values())), y[test], select_by, costs))
    best, scores = best_point(grid, values, select_by)
    if best is None:
        reason = "; ".join(sorted(problems)[:3]) or "too few examples outside the calibration part"
        raise ConfmlError(f"no point of the tune grid could be evaluated: {reason}")
    seconds = cpu_seconds() - started
    return {"chosen": dict(grid[best]), "select_by": select_by, "scores": scores, "seconds": seconds}
