"""`Step`, the contract of preprocessing steps: fitted to training data, applied before every method."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from confml.errors import ConfmlError
from confml.measures.metric import Metric
from confml.plugins.docstrings import add_sections
from confml.plugins.parameters import Parameter


class Step:
    """A transformation that is fitted to a training set and applied to training and test examples.

    A scaling step overrides `fit` and `transform`. A cleaning step, which drops or relabels training
    examples, overrides `fit_training`. A step that drops columns has `kept_columns_`. Class attributes:

    name: its name in configs. version: an integer that is raised whenever results change. parameters: the
        declaration of each constructor argument (`confml.plugins.parameters`).
    learns: whether the transformation of an example depends on the training set. Where it does not, the step
        can be used in protocol online.
    breaks_exchangeability: whether training examples become more ordinary than test examples, because the
        step uses their labels or removes some of them. P-values that are computed from them are then too
        small.
    takes_sparse: whether it also transforms sparse rows, without codes, into sparse ones.

    nominal: (d,) bool, set before a fit: the columns that hold codes of categories and must keep them; None
    where there are none.
    groups: (m,) numbers from 0, set during a fit: the groups of the training examples; None without groups. A
        step that validates inside keeps the examples of a group in one part.
    kept_columns_: (d',) the columns of the input that are left after a fit; None for all, or for new ones.
    new_nominal_: (d',) bool after a fit that makes new columns: those with codes; None if columns are kept.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    parameters: ClassVar[Mapping[str, Parameter]] = {}
    metrics: ClassVar[Mapping[str, Metric]] = {}
    learns: ClassVar[bool] = True
    breaks_exchangeability: ClassVar[bool] = False
    takes_sparse: ClassVar[bool] = False
    nominal: np.ndarray | None = None
    groups: np.ndarray | None = None
    kept_columns_: np.ndarray | None = None
    new_nominal_: np.ndarray | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        """Complete the docstring with the section Parameters, from the declarations."""
        super().__init_subclass__(**options)
        add_sections(cls, cls.parameters, attributes="")

    def fit(self, X: np.ndarray, y: np.ndarray, rng: np.random.Generator | None = None) -> Self:
        """Fit the step to training examples X (m, d) with labels y (m,)."""
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return the transformed examples (n, d'); X is not changed."""
        return X

    def fit_training(
        self, X: np.ndarray, y: np.ndarray, rng: np.random.Generator | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Fit the step and transform the training set.

        Returns X (m', d'), y (m',) and the numbers (m',) of the rows that are kept.
        """
        self.fit(X, y, rng)
        return self.transform(X), y, np.arange(len(y))

    @property
    def fit_metrics_(self) -> dict[str, float]:
        """The step's own quantities after a fit, for ``metrics.csv``: the attributes ``<quantity>_``.

        Those that are NaN are left out.
        """
        values = {name: float(getattr(self, f"{name}_", np.nan)) for name in self.metrics}
        return {name: value for name, value in values.items() if not np.isnan(value)}

    @classmethod
    def check_combination(cls, params: Mapping[str, Any]) -> None:
        """Raise a `ParameterError` for given parameters that are each accepted and cannot be combined."""

    @classmethod
    def divides_groups(cls, params: Mapping[str, Any]) -> bool:
        """Return whether a fit with these parameters validates inside and divides groups of examples."""
        return False

    def _coded(self, X: np.ndarray) -> np.ndarray:
        """Return (d,) bool: the columns of X (n, d) that hold codes of categories."""
        return np.zeros(X.shape[1], dtype=bool) if self.nominal is None else self.nominal


class ColumnSelection(Step):
    """A step that keeps some columns: its fit calls `_keep`."""

    metrics = {
        "removed_attributes": Metric("number of features that the step removed", None),
        "kept_attributes": Metric("number of features that the step kept", None),
    }

    def _keep(self, columns: np.ndarray, width: int) -> None:
        """Keep these of ``width`` columns."""
        self.kept_columns_ = columns
        self.removed_attributes_, self.kept_attributes_ = width - len(columns), len(columns)

    def transform(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(X)[:, self.kept_columns_]


def complete(X: np.ndarray, step: str) -> np.ndarray:
    """Return X (n, d) as C-ordered float64; raise ConfmlError where values are missing (NaN)."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    missing = np.isnan(X)
    if missing.any():
        rows = missing.any(axis=1)
        raise ConfmlError(
            f"step '{step}' got missing values in {rows.sum()} of {len(X)} rows, "
            f"the first of them row {rows.argmax()}",
            hint="add the step impute-mean before it",
        )
    return X
