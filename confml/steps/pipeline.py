"""`StepPipeline`: a list of steps, applied in order."""

from collections.abc import Sequence

import numpy as np

from confml.data.memory import is_sparse
from confml.errors import ConfmlError
from confml.steps.base import Step


class StepPipeline:
    """Steps in order, each fitted to the training set as the steps before it have transformed it.

    `transform` applies the same steps to test examples; steps that drop or relabel rows do so in the training
    set only. A pipeline without steps changes nothing. After a fit, ``columns_`` (d',) are the columns of the
    input that are left (None where a step has made new ones), and ``nominal_`` (d',) bool marks those that
    hold codes of categories.
    """

    def __init__(self, steps: Sequence[Step] = ()):
        self.steps = tuple(steps)

    def fit_training(
        self,
        X: np.ndarray,
        y: np.ndarray,
        rng: np.random.Generator | None = None,
        nominal: np.ndarray | None = None,
        groups: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Fit the steps to examples X (m, d) with labels y (m,) and transform them.

        X may be sparse if all steps take sparse rows. nominal: (d,) bool, the columns that hold codes of
        categories. groups: (m,) the groups of the examples, or None. Returns X (m', d'), y (m',) and the
        numbers (m',) of the rows that are kept. Raises
        ConfmlError if a step leaves no row.
        """
        X, y = X if is_sparse(X) else np.asarray(X, dtype=np.float64), np.asarray(y)
        row_numbers = np.arange(len(y))
        self.columns_: np.ndarray | None = np.arange(X.shape[1])
        self.nominal_ = np.zeros(X.shape[1], dtype=bool) if nominal is None else np.asarray(nominal)
        for step in self.steps:
            before = len(y)
            step.nominal = self.nominal_
            if groups is not None:  # numbers from 0, as steps before may have dropped whole groups
                step.groups = np.unique(np.asarray(groups)[row_numbers], return_inverse=True)[1].reshape(-1)
            X, y, rows = step.fit_training(X, y, rng)
            if groups is not None:
                del step.groups
            if step.new_nominal_ is not None:
                self.nominal_, self.columns_ = step.new_nominal_, None
            elif step.kept_columns_ is not None:
                self.nominal_ = self.nominal_[step.kept_columns_]
                self.columns_ = None if self.columns_ is None else self.columns_[step.kept_columns_]
            elif X.shape[1] != len(self.nominal_):
                self.nominal_, self.columns_ = np.zeros(X.shape[1], dtype=bool), None
            if len(y) < before and len(y) == 0:
                raise ConfmlError(f"step '{step.name}' left none of {before} training rows")
            row_numbers = row_numbers[rows]
        return X if is_sparse(X) else np.ascontiguousarray(X), y, row_numbers

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return the transformed examples (n, d') as C-contiguous float64; X is not changed."""
        X = X if is_sparse(X) else np.asarray(X, dtype=np.float64)
        for step in self.steps:
            X = step.transform(X)
        return X if is_sparse(X) else np.ascontiguousarray(X)

    @property
    def fit_metrics_(self) -> dict[str, float]:
        """The quantities of all steps as ``<step>.<quantity>``; of a repeated step, those of the last one."""
        metrics = [(step.name, *entry) for step in self.steps for entry in step.fit_metrics_.items()]
        return {f"{step}.{quantity}": value for step, quantity, value in metrics}
