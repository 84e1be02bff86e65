"""The Bayes point machine: one perceptron in place of all of version space, its centre of mass."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from confml.measures.prediction import Prediction
from confml.methods.multiclass import decision_scores
from confml.methods.version_space.perceptrons import Perceptrons


class BayesPointMachine(Perceptrons):
    """The centre of mass of version space as a classifier, found by the billiard of ``bayes-transduction``.

    View ``margin``: <w, phi(x)> of the centre w, scaled to length 1; of two classes the columns are -f/2 and
    f/2, so that the confidence is |f|. More than two: ``ovr`` has each machine's f, ``ovo`` the mean of a
    class's f against the others. Equal scores: the first class.

    The flight, its parameters and what is refused are those of ``bayes-transduction``, whose view
    ``bayes-point`` this is.

    Source: Herbrich, Graepel and Campbell, Bayes point machines, Journal of Machine Learning Research 1
    (2001); Rujan, Playing billiard in version space, Neural Computation 9 (1997).
    """

    name: ClassVar[str] = "bayes-point-machine"
    version: ClassVar[int] = 2
    views: ClassVar[tuple[str, ...]] = ("margin",)

    def decision_function(self, X) -> np.ndarray:
        """scikit-learn's form of the scores: (m, c), or (m,) of two classes, above 0 for the second one."""
        scores = self.confident_predict(X)["margin"].scores
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores.copy()

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """The view ``margin`` of X (m, d)."""
        X = self.check_predict_data(X)
        values = np.concatenate([self._centre_values(block) for block, _ in self._blocks(X)])
        scores = decision_scores(values, len(self.classes_), self.multiclass)
        return {"margin": Prediction(self.classes_, scores, "margin")}
