"""`winnow`: linear classifiers with the multiplicative learning rule WINNOW."""

from dataclasses import dataclass

import numpy as np

from confml.methods.linear._kernels import learn_from_mistakes
from confml.methods.linear.linear_group import Learnt, MistakeDriven
from confml.plugins.parameters import Flag, Integer, Number, or_null


@dataclass(eq=False, repr=False)
class Winnow(MistakeDriven):
    """WINNOW: after each mistake, the weights of the active features are multiplied or divided by alpha.

    The rule is ``w_i = w_i alpha^(c(x) - h(x))`` (eq. 4.11) for the features with x_i = 1, or x_i >= 0.5 for
    numeric features (eq. 4.16). Weights start at 1 and stay between 1e-100 and 1e100. h is 1 if the weighted
    sum exceeds the threshold, by default the number of features minus 0.1. With ``doubled`` each feature x_i
    has a complement 1 - x_i with its own weight, which replaces negative weights; the threshold does not
    change. With a large alpha the weights may step over every solution and never converge.

    Notes
    -----
    Examples are presented in their order until an epoch ends without mistakes, or for ``epochs`` epochs. The
    weights of the epoch with the fewest mistakes are kept. With more than two classes there is one classifier
    per class, and the largest weighted sum minus the threshold is predicted. Ties go to the first class in
    sorted order.

    View ``margin``: the weighted sums minus the threshold.

    Features with training values outside [0, 1] are scaled to [0, 1] by min-max on the training data. Other
    features, such as boolean ones, are not changed.

    metrics: ``presentations``, the number of examples presented up to the last change of weights, over all
    binary classifiers (only if all classify the training set correctly at the end); ``epochs``, the largest
    number of epochs of a binary classifier; ``training_error`` of the group; ``converged``, 1 if it is 0.

    References
    ----------
    Littlestone 1987; Kubat, An Introduction to Machine Learning (2015), Table 4.3, sections 4.3, 4.7.

    Examples
    --------
    >>> from confml import Winnow
    >>> X, y = [[0, 1], [0, 1], [1, 0], [1, 0]], ["a", "a", "b", "b"]
    >>> model = Winnow().fit(X, y)
    >>> model.predict([[0, 1]])
    array(['a'], dtype='<U1')
    """

    name = "winnow"
    version = 2
    parameters = {
        "alpha": Number("factor by which weights are multiplied or divided", low=1, low_open=True),
        "threshold": or_null("threshold; null: the number of features minus 0.1", Number("", low=0)),
        "doubled": Flag("whether the complement 1 - x of each feature x is added as a feature"),
        "epochs": Integer("largest number of epochs", low=1),
    }

    alpha: float = 2.0
    threshold: float | None = None
    doubled: bool = True
    epochs: int = 500

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # a factor of 2 is coarse for numeric features
        return tags

    def _inputs(self, X: np.ndarray) -> np.ndarray:
        boxed = super()._inputs(X)
        return np.hstack([boxed, 1.0 - boxed]) if self.doubled else boxed

    def _learn(self, X: np.ndarray, targets: np.ndarray, rng: np.random.Generator) -> Learnt:
        attributes = X.shape[1] // 2 if self.doubled else X.shape[1]
        threshold = attributes - 0.1 if self.threshold is None else float(self.threshold)
        weights = np.append(-threshold, np.ones(X.shape[1]))
        rates = 0.0, False, False, float(self.alpha)
        presentations, epochs, mistakes = learn_from_mistakes(X, targets, weights, self.epochs, *rates)
        return Learnt(weights, None if mistakes else presentations, epochs)
