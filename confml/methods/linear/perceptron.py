"""`perceptron`: linear classifiers with the perceptron learning rule."""

from dataclasses import dataclass

import numpy as np

from confml.methods.linear._kernels import learn_from_mistakes
from confml.methods.linear.linear_group import Learnt, MistakeDriven
from confml.plugins.parameters import SEED, Choice, Integer, Number

RULES = {  # by name: whether the weighted sum is used instead of h, whether x_i is a factor
    "perceptron": (False, True),
    "no-input": (False, False),
    "delta": (True, True),
    "delta-no-input": (True, False),
}


@dataclass(eq=False, repr=False)
class Perceptron(MistakeDriven):
    """Perceptron learning: after each mistake, the weights change by the learning rate times the input.

    Notes
    -----
    The rule is ``w_i += rate (c(x) - h(x)) x_i`` (eq. 4.10) with a bias weight (x_0 = 1), where h is 1 if the
    weighted sum exceeds 0. Examples are presented in their order until an epoch ends without mistakes, or for
    ``epochs`` epochs. The weights of the epoch with the fewest mistakes are kept (the book keeps the last
    ones; for linearly separable classes they are the same). With more than two classes there is one
    classifier per class, and the largest weighted sum is predicted. Ties go to the first class in sorted
    order.

    View ``margin``: the weighted sums.

    Features with training values outside [0, 1] are scaled to [0, 1] by min-max on the training data, as the
    book advises. Other features, such as boolean ones, are not changed.

    ``rule`` has the variants of computer assignment 7 of the book: ``no-input`` omits the factor x_i,
    ``delta`` uses the weighted sum instead of h(x), ``delta-no-input`` does both. Only ``perceptron`` always
    converges if the classes are linearly separable. Learning ends if weights overflow.

    metrics: ``presentations``, the number of examples presented up to the last change of weights, over all
    binary classifiers (only if all classify the training set correctly at the end); ``epochs``, the largest
    number of epochs of a binary classifier; ``training_error`` of the group; ``converged``, 1 if it is 0.

    References
    ----------
    Rosenblatt 1958; Kubat, An Introduction to Machine Learning (2015), Table 4.1, sections 4.2, 4.7.
    """

    name = "perceptron"
    example = "random_state=1"
    version = 2
    parameters = {
        "rate": Number("learning rate", low=0, high=1, low_open=True),
        "epochs": Integer("largest number of epochs", low=1),
        "start": Number("initial weights are drawn uniformly from [-start, start]", low=0),
        "rule": Choice("learning rule", options=tuple(RULES)),
        "random_state": SEED,
    }

    rate: float = 0.5
    epochs: int = 500
    start: float = 0.1
    rule: str = "perceptron"
    random_state: int | None = None

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
    """Fit a perceptron from initial weights (d + 1,), the bias first; targets (m,) are 0 or 1."""
    weights = np.array(weights, dtype=np.float64)
    rates = float(rate), *RULES[rule], 0.0
    presentations, epochs, mistakes = learn_from_mistakes(X, targets, weights, epochs, *rates)
    return Learnt(weights, None if mistakes else presentations, epochs)
