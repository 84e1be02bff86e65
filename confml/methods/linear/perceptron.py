"""`perceptron`: linear classifiers that learn from their mistakes by the additive rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from confml.measures.metrics import Metric
from confml.methods.linear import _kernels as kernels
from confml.methods.linear.linear_group import Boxed, Learnt, LinearGroup
from confml.plugins.parameters import AnyOf, Choice, Integer, Nothing, Number, Parameter

RULES = {  # by name: whether the weighted sum stands in the place of h, whether x_i is a factor
    "perceptron": (False, True),
    "no-input": (False, False),
    "delta": (True, True),
    "delta-no-input": (True, False),
}

MISTAKE_METRICS = {
    "presentations": Metric("number of training examples presented until the method converged", "lower"),
    "epochs": Metric("number of passes over the training set", "lower"),
    "training_error": Metric("share of training examples whose predicted label is wrong", "lower"),
    "converged": Metric("1 where no training example is classified wrongly after the fit, else 0", "higher"),
}
"""Declarations of what `mistake_metrics` returns."""


class Perceptron(LinearGroup):
    """Perceptron learning: after each mistake, weights move by the learning rate times the input.

    ``w_i += rate (c(x) - h(x)) x_i`` (eq. 4.10) with a bias weight (x_0 = 1), where h is 1 if the weighted
    sum exceeds 0. Examples are presented in their order, epoch after epoch, until all are classified right
    after an epoch, or ``epochs`` are over: then the weights of the epoch with the fewest mistakes are kept
    (the book keeps the last; on linearly separable classes the two are the same). Several classes: one
    classifier for each, and the largest weighted sum decides; equal sums: the first class in sorted order.

    View ``margin``: the weighted sums.

    Attributes with training values outside [0, 1] are brought into it by min-max on training data, as the
    book advises; others, boolean ones with them, are taken as they are.

    ``rule`` has the variants of the book's computer assignment 7: ``no-input`` leaves out the factor x_i,
    ``delta`` has the weighted sum in the place of h(x), ``delta-no-input`` both. Only ``perceptron`` is
    certain to converge where a line separates the classes; weights that overflow end the learning.

    metrics: ``presentations`` of examples to the last change of weights, of all binary classifiers together,
    only where none of them makes mistakes in the end; ``epochs``, the most that one took; ``training_error``
    of the group; ``converged``, 1 where that is 0.

    Source: Rosenblatt 1958; Kubat, An Introduction to Machine Learning (2015), Table 4.1, sections 4.2, 4.7.
    """

    name: ClassVar[str] = "perceptron"
    version: ClassVar[int] = 2
    metrics: ClassVar[Mapping[str, Metric]] = MISTAKE_METRICS
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "rate": Number("the learning rate", low=0, high=1, low_open=True),
        "epochs": Integer("after how many epochs at most learning ends", low=1),
        "start": Number("weights start at random between minus and plus this; 0 for all zero", low=0),
        "rule": Choice("how weights change", options=tuple(RULES)),
        "random_state": AnyOf(
            "the seed of the starting weights; the run's where it is null",
            of=(Integer("", low=0), Nothing("")),
        ),
    }

    def __init__(
        self,
        rate: float = 0.5,
        epochs: int = 500,
        start: float = 0.1,
        rule: str = "perceptron",
        random_state: int | None = None,
    ):
        self.rate = rate
        self.epochs = epochs
        self.start = start
        self.rule = rule
        self.random_state = random_state

    @property
    def fit_metrics_(self) -> dict[str, float]:
        return mistake_metrics(self)

    @classmethod
    def compile_kernels(cls) -> None:
        """Compile the kernel."""
        cls(random_state=0).fit(np.eye(2), [0, 1])

    def _fit_inputs(self, X: np.ndarray) -> None:
        self._boxed = Boxed(X)

    def _inputs(self, X: np.ndarray) -> np.ndarray:
        return self._boxed(X)

    def _learn(self, X: np.ndarray, targets: np.ndarray, rng: np.random.Generator) -> Learnt:
        weights = rng.uniform(-self.start, self.start, X.shape[1] + 1)
        return learn(X, targets, weights, self.rate, self.epochs, self.rule)


def learn(
    X: np.ndarray,
    targets: np.ndarray,
    weights: np.ndarray,
    rate: float,
    epochs: int,
    rule: str = "perceptron",
) -> Learnt:
    """Perceptron learning from given weights (d + 1,), the bias first; targets (m,) are 0 or 1."""
    weights = np.array(weights, dtype=np.float64)
    presentations, epochs, mistakes = kernels.additive(X, targets, weights, float(rate), epochs, *RULES[rule])
    return Learnt(weights, None if mistakes else presentations, epochs)


def mistake_metrics(group: LinearGroup) -> dict[str, float]:
    """The quantities of classifiers that learn from mistakes."""
    needed = {} if group.presentations_ is None else {"presentations": float(group.presentations_)}
    return needed | {
        "epochs": float(group.epochs_),
        "training_error": group.training_error_,
        "converged": float(group.training_error_ == 0),
    }
