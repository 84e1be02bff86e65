"""`ovr-svm`: one-vs-rest linear support vector machines."""

import numpy as np

from confml.measures.prediction import Prediction
from confml.methods.multiclass import decision_scores, one_vs_rest
from confml.methods.svm.linear_machines import LinearMachines


class OvRSVM(LinearMachines):
    """One-vs-rest linear support vector machines: one machine per class, the largest decision value wins.

    Each machine minimises ``1/2 |w|^2 + C sum max(0, 1 - t f(x))^2``, with a bias that is the weight of a
    constant feature. Features are not scaled: use ``min-max`` before this method if their units differ.

    Notes
    -----
    View ``margin``: the decision values; with two classes there is one machine, and the columns are -f/2 and
    f/2. Ties go to the first class in sorted order. metrics: ``machines``, ``machine_rows`` (training
    examples of all machines together).

    ``solver: primal`` is LIBLINEAR's ``-s 2``, deterministic, with warm starts along a path of C. ``dual`` is
    its ``-s 1``.

    References
    ----------
    Vapnik, Statistical Learning Theory (1998); Fan et al., LIBLINEAR, JMLR 9 (2008).
    """

    name = "ovr-svm"
    example = ""
    version = 2

    def _problems(self, X, codes, state):
        return one_vs_rest(codes, len(self.classes_)) if len(self.classes_) > 1 else []

    def _views(self, values: np.ndarray) -> dict[str, Prediction]:
        c = len(self.classes_)
        scores = decision_scores(values, c, "ovr") if c > 1 else np.zeros((len(values), 1))
        return {"margin": Prediction(self.classes_, scores, "margin")}
