"""`MistakeDriven`: base class of the linear classifiers whose weights change after each mistake."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from confml.measures.metric import Metric, share
from confml.methods.linear.linear_group import Boxed, LinearGroup


class MistakeDriven(LinearGroup):
    """One-vs-rest group of classifiers that learn from mistakes, on features scaled to [0, 1] by `Boxed`."""

    metrics: ClassVar[Mapping[str, Metric]] = {
        "presentations": Metric(
            "number of training examples presented until the method converged",
            "lower",
            heading="presentations of examples",
            digits=0,
        ),
        "epochs": Metric("number of passes over the training set", "lower"),
        **LinearGroup.metrics,
        "converged": share(
            "1 if no training example is classified wrongly after the fit, else 0",
            "higher",
            heading="fits without training error",
        ),
    }

    @property
    def fit_metrics_(self) -> dict[str, float]:
        needed = {} if self.presentations_ is None else {"presentations": float(self.presentations_)}
        return needed | {
            "epochs": float(self.epochs_),
            "training_error": self.training_error_,
            "converged": float(self.training_error_ == 0),
        }

    def _fit_inputs(self, X: np.ndarray) -> None:
        self._boxed = Boxed(X)

    def _inputs(self, X: np.ndarray) -> np.ndarray:
        return self._boxed(X)
