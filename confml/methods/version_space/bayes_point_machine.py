"""`bayes-point-machine`: the kernel perceptron at the centre of mass of version space."""

import numpy as np

from confml.measures.prediction import Prediction
from confml.methods.base import MarginMethod
from confml.methods.multiclass import decision_scores
from confml.methods.version_space.version_space_method import VersionSpaceMethod


class BayesPointMachine(VersionSpaceMethod, MarginMethod):
    """Kernel perceptron at the centre of mass of version space, estimated by kernel billiard sampling.

    View ``margin``: the decision value f(x) = <w, phi(x)> of the centre of mass w, scaled to length 1. With
    two classes the columns are -f/2 and f/2, so the confidence is |f|. With more classes a column is the
    decision value of the class against the rest. Ties go to the first class.

    Notes
    -----
    The sampler, its parameters, its stopping rule and its errors are those of ``bayes-transduction``; the
    view is the view ``bayes-point`` of that method.

    References
    ----------
    Herbrich, Graepel and Campbell, Bayes point machines, Journal of Machine Learning Research 1
    (2001); Rujan, Playing billiard in version space, Neural Computation 9 (1997).
    """

    name = "bayes-point-machine"
    example = "n_bounces=1000, random_state=1"
    version = 3

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the view ``margin`` of test examples X (m, d)."""
        X = self.check_predict_data(X)
        values = np.concatenate([self._centre_values(block) for block, _ in self._blocks(X)])
        scores = decision_scores(values, len(self.classes_), "ovr")
        return {"margin": Prediction(self.classes_, scores, "margin")}
