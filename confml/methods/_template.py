"""`nearest-mean`: a method to begin a new one from. Copy this file, and change everything that is said here.

A file in this folder whose name does not start with "_" is found by the class in it; nothing else has to be
registered. (In a package of your own, name the class in ``pyproject.toml``::

    [project.entry-points."confml.methods"]
    nearest-mean = "my_package.nearest_mean:NearestMean"

and ``confml methods`` lists it.) Tests of every method in the registry run in tests/test_methods_contract.py;
add one of its own with numbers that were worked out by hand or published, and, where there are kernels, one
that compares them with a literal version.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from confml.measures.metrics import Metric
from confml.measures.prediction import Prediction
from confml.methods.base import Method
from confml.plugins.parameters import Integer, Parameter


class NearestMean(Method):
    """The class with the nearest mean; its confidence is how much farther the next mean is.

    The first line is the summary that ``confml methods`` shows; ``confml describe`` shows all of this. Say
    what the method does, what its views mean, how it settles ties, what it does with one class, a class with
    one example, constant attributes; and where it comes from, with the number of the equation.

    View ``margin``: the columns are minus the distances to the class means, so that the largest less the
    second largest is the difference between the two nearest. Equal distances: the first class in sorted
    order.
    """

    # What a config calls it: lower case, words joined by "-".
    name: ClassVar[str] = "nearest-mean"
    # Raise it whenever the results change: stored results of the older version are then computed again.
    version: ClassVar[int] = 1
    # The keys of what `confident_predict` returns, the one that decides the label first.
    views: ClassVar[tuple[str, ...]] = ("margin",)
    # One entry for every number in `fit_metrics_`: a sentence, and whether "higher" or "lower" is
    # better (None where neither is).
    metrics: ClassVar[Mapping[str, Metric]] = {
        "smallest_distance_of_means": Metric("smallest Euclidean distance of two class means", None),
    }
    # One entry for every argument of the constructor: checked before anything runs, and shown to users.
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "power": Integer("the power of the differences that are added up: 2 for Euclidean distances", low=1),
    }

    def __init__(self, power: int = 2):
        # scikit-learn's convention: store the arguments as they are, and check them in `fit`.
        self.power = power

    def fit(self, X, y) -> NearestMean:
        """Learn the class means of X (m, d) with labels y (m,)."""
        # Checks parameters and data, and sets `classes_`; codes number the classes from 0.
        X, codes = self.check_fit_data(X, y)
        # What a fit learns ends with "_". A method that needs chance takes a parameter `random_state`,
        # which the runner sets from the seed of the run where it is None.
        self.means_ = np.stack([X[codes == code].mean(axis=0) for code in range(len(self.classes_))])
        return self

    def decision_function(self, X) -> np.ndarray:
        """scikit-learn's form of the scores: (n, c), or (n,) of two classes, above 0 for the second one."""
        scores = self.confident_predict(X)["margin"].scores
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores.copy()

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """The view ``margin`` of X (n, d). ``predict`` takes its labels from the first view."""
        X = self.check_predict_data(X)
        differences = np.abs(X[:, None, :] - self.means_[None, :, :])
        distances = np.sum(differences**self.power, axis=2) ** (1 / self.power)
        return {"margin": Prediction(self.classes_, -distances, "margin")}

    @property
    def fit_metrics_(self) -> dict[str, float]:
        """Quantities of the method's own, for ``metrics.csv``. Leave this out where there are none."""
        if len(self.means_) < 2:
            return {}
        gaps = [np.linalg.norm(one - other) for i, one in enumerate(self.means_) for other in self.means_[:i]]
        return {"smallest_distance_of_means": float(min(gaps))}

    # More that a method can do, each with a default that is right (see `Method`):
    #   evaluate_path   a whole grid of parameters on one training set in one pass, for `sweep:` and `tune:`
    #   prepare         work on a training set that its tasks share
    #   subset_state    what of that work holds for an inner fold's rows
    #   test_block      how to cut a large test part into tasks
    #   warm            compile the kernels (private functions in a _kernels module beside this file)
