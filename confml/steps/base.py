"""The contract of a step: what stands ahead of every method, learnt on training data only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from confml.measures.metrics import Metric
from confml.plugins.parameters import Parameter


class Step:
    """Learns on a training set, then treats training and test examples alike.

    name: what a config calls it. version: raised whenever its results change. parameters: what each
    constructor argument may be. metrics: the declaration of each number that `fit_metrics_` may hold. A
    scaling step overrides `fit` and `transform`; a cleaning step, which may drop or relabel training
    examples, overrides `fit_training`; one that drops columns gives `kept_columns_`.

    learns: whether what it makes of an example depends on the training set; where it does not, the step can
    stand ahead of examples that come one at a time. favours_training: whether it makes training examples more
    ordinary than test ones, by their labels or by taking the others out, so that p-values counted among them
    come out too small.

    nominal: (d,) bool, set ahead of a fit: which columns hold codes of categories, which must stay codes, or
    None where there are none.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    parameters: ClassVar[Mapping[str, Parameter]] = {}
    metrics: ClassVar[Mapping[str, Metric]] = {}
    learns: ClassVar[bool] = True
    favours_training: ClassVar[bool] = False
    nominal: np.ndarray | None = None

    def fit(self, X: np.ndarray, y: np.ndarray, rng: np.random.Generator | None = None) -> Step:
        """Learn from training examples X (m, d) and labels y (m,)."""
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """The treated examples (n, d'); never changes X itself."""
        return X

    def fit_training(
        self, X: np.ndarray, y: np.ndarray, rng: np.random.Generator | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Learn, and treat the training set itself: (X (m', d'), y (m',), kept rows (m',) of the m given)."""
        self.fit(X, y, rng)
        return self.transform(X), y, np.arange(len(y))

    @property
    def kept_columns_(self) -> np.ndarray | None:
        """After a fit, the columns (d',) of the X given that are left; None for all, or for new ones."""
        return None

    @property
    def fit_metrics_(self) -> dict[str, float]:
        """The step's own quantities after a fit (removed rows), for ``metrics.csv``."""
        return {}

    @classmethod
    def check_combination(cls, params: Mapping[str, Any]) -> None:
        """Raise a `ParameterError` for given parameters that are each accepted and cannot be combined."""

    @classmethod
    def warm(cls) -> None:
        """Compile the kernels, by running them once on a few rows; nothing to do for a step without any."""

    def _coded(self, X: np.ndarray) -> np.ndarray:
        """(d,) bool: which columns of X (n, d) hold codes."""
        return np.zeros(X.shape[1], dtype=bool) if self.nominal is None else self.nominal
