"""`winnow`: linear classifiers that learn from their mistakes by the multiplicative rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from confml.measures.metrics import Metric
from confml.methods.linear import _kernels as kernels
from confml.methods.linear.linear_group import Boxed, Learnt, LinearGroup
from confml.methods.linear.perceptron import MISTAKE_METRICS, mistake_metrics
from confml.plugins.parameters import AnyOf, Flag, Integer, Nothing, Number, Parameter


class Winnow(LinearGroup):
    """WINNOW: after each mistake, the weights of present attributes are multiplied or divided by alpha.

    ``w_i = w_i alpha^(c(x) - h(x))`` (eq. 4.11) for the attributes with x_i = 1, or x_i >= 0.5 where they are
    numeric (eq. 4.16); weights start at 1, and h is 1 if the weighted sum exceeds the threshold, which is the
    number of attributes less 0.1 unless it is given. With ``doubled`` every attribute also has its opposite,
    1 - x_i, with a weight of its own, which does the work of negative weights; the threshold stays. Large
    steps of the weights (alpha) may jump over every solution: then it never converges.

    Examples are presented in their order, epoch after epoch, until all are classified right after an epoch,
    or ``epochs`` are over: then the weights of the epoch with the fewest mistakes are kept. Several classes:
    one classifier for each, and the largest weighted sum (less the threshold) decides; equal sums: the first
    class in sorted order. Weights stay between 1e-100 and 1e100.

    View ``margin``: the weighted sums less the threshold.

    Attributes with training values outside [0, 1] are brought into it by min-max on training data; others,
    boolean ones with them, are taken as they are.

    metrics: ``presentations`` of examples to the last change of weights, of all binary classifiers together,
    only where none of them makes mistakes in the end; ``epochs``, the most that one took; ``training_error``
    of the group; ``converged``, 1 where that is 0.

    Source: Littlestone 1987; Kubat, An Introduction to Machine Learning (2015), Table 4.3, sections 4.3, 4.7.
    """

    name: ClassVar[str] = "winnow"
    version: ClassVar[int] = 2
    metrics: ClassVar[Mapping[str, Metric]] = MISTAKE_METRICS
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "alpha": Number("the factor of a change", low=1, low_open=True),
        "threshold": AnyOf(
            "what the weighted sum must exceed; the number of attributes less 0.1 where it is null",
            of=(Number("", low=0), Nothing("")),
        ),
        "doubled": Flag("whether every attribute's opposite is an attribute, too"),
        "epochs": Integer("after how many epochs at most learning ends", low=1),
    }

    def __init__(
        self, alpha: float = 2.0, threshold: float | None = None, doubled: bool = True, epochs: int = 500
    ):
        self.alpha = alpha
        self.threshold = threshold
        self.doubled = doubled
        self.epochs = epochs

    @property
    def fit_metrics_(self) -> dict[str, float]:
        return mistake_metrics(self)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # steps by a factor of 2 are coarse for numeric attributes
        return tags

    @classmethod
    def compile_kernels(cls) -> None:
        """Compile the kernel."""
        cls().fit(np.eye(2), [0, 1])

    def _fit_inputs(self, X: np.ndarray) -> None:
        self._boxed = Boxed(X)

    def _inputs(self, X: np.ndarray) -> np.ndarray:
        boxed = self._boxed(X)
        return np.hstack([boxed, 1.0 - boxed]) if self.doubled else boxed

    def _learn(self, X: np.ndarray, targets: np.ndarray, rng: np.random.Generator) -> Learnt:
        attributes = X.shape[1] // 2 if self.doubled else X.shape[1]
        threshold = attributes - 0.1 if self.threshold is None else float(self.threshold)
        weights = np.ones(X.shape[1] + 1)
        presentations, epochs, mistakes = kernels.multiplicative(
            X, targets, weights, float(self.alpha), threshold, self.epochs
        )
        return Learnt(weights, None if mistakes else presentations, epochs)
