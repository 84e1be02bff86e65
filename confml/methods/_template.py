"""`nearest-mean`: a template for a new method. Copy this file and change every line of text.

List its class in `confml.methods.METHODS`; CONTRIBUTING.md has the other places. In a package of your own,
name the class in ``pyproject.toml``::

    [project.entry-points."confml.methods"]
    nearest-mean = "my_package.nearest_mean:NearestMean"

and ``confml describe`` lists it. A method uses public modules only: `confml.methods.base` (and
`confml.methods.details`, `confml.methods.nominal`), `confml.plugins.parameters` and `confml.measures`.

``tests/methods/test_methods_contract.py`` tests every method of the registry. Add tests with values that are
computed by hand or published; where there are kernels, compare them with a literal version.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from confml.measures import Metric, Prediction
from confml.methods.base import Method
from confml.methods.multiclass import decision_values
from confml.plugins.parameters import Integer


@dataclass(eq=False, repr=False)
class NearestMean(Method):
    """Predict the class with the nearest mean; confidence is the difference to the second smallest distance.

    ``confml describe`` shows the first line, ``confml describe NAME`` all of this text. Document the method,
    its views, how ties are decided, the cases of one class, of a class with one example and of constant
    features, and the source with the numbers of its equations. The sections Parameters and Attributes are
    added from the declarations.

    View ``margin``: minus the distances to the class means. Equal distances are decided for the first class
    in sorted order.
    """

    # Its name in configs: lower case, words joined by "-".
    name = "nearest-mean"
    # Raise it whenever results change: stored results of older versions are then computed again.
    version = 1
    # The keys of the result of `confident_predict`; the first one decides the label.
    views = ("margin",)
    # One entry for every number in `fit_metrics_`: a sentence, and whether "higher" or "lower" is
    # better (None where neither is).
    metrics = {
        "smallest_distance_of_means": Metric("smallest Euclidean distance of two class means", None),
    }
    # One declaration for each argument of the constructor: checked before a run, and shown to users.
    parameters = {
        "power": Integer("power of the differences in the distance; 2 for the Euclidean distance", low=1),
    }

    # The arguments of the constructor, which are stored as they are and checked in `fit`. An ``__init__``
    # as in scikit-learn works too.
    power: int = 2

    def fit(self, X, y) -> Self:
        """Learn the class means of X (m, d) with labels y (m,)."""
        # Checks parameters and data, and sets `classes_`; codes number the classes from 0.
        X, codes = self.check_fit_data(X, y)
        # Names of fitted attributes end with "_". A method that draws random numbers has a parameter
        # `random_state`; where it is None, a run sets it from its seed.
        self.means_ = np.stack([X[codes == code].mean(axis=0) for code in range(len(self.classes_))])
        return self

    def decision_function(self, X) -> np.ndarray:
        """Return scores as scikit-learn does: (n, c), or (n,) for two classes, positive for the second."""
        return decision_values(self.confident_predict(X)["margin"].scores)

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the view ``margin`` of X (n, d). ``predict`` returns the labels of the first view."""
        X = self.check_predict_data(X)
        differences = np.abs(X[:, None, :] - self.means_[None, :, :])
        distances = np.sum(differences**self.power, axis=2) ** (1 / self.power)
        return {"margin": Prediction(self.classes_, -distances, "margin")}

    @property
    def fit_metrics_(self) -> dict[str, float]:
        """Quantities of the method for ``metrics.csv``. Leave this out where there are none."""
        if len(self.means_) < 2:
            return {}
        gaps = [np.linalg.norm(mu - nu) for i, mu in enumerate(self.means_) for nu in self.means_[:i]]
        return {"smallest_distance_of_means": float(min(gaps))}

    # Optional, each with a default (see `Method`):
    #   evaluate_path      a whole grid of parameters on one training set in one pass (`sweep:`, `tune:`)
    #   prepare            work on a training set that its inner folds use
    #   check_combination  parameters that cannot be combined, raised as `IncompatibleParameters`
    #   fit_details_       findings that are not single numbers, as `FitDetails`
    #   evaluate_online    predict and learn examples one at a time (`protocol: online`)
