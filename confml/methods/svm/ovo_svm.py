"""`ovo-svm`: one-vs-one linear support vector machines."""

import numpy as np

from confml.measures.prediction import Prediction
from confml.methods.multiclass import decision_scores, one_vs_one, vote_scores
from confml.methods.svm.linear_machines import LinearMachines


class OvOSVM(LinearMachines):
    """One-vs-one linear support vector machines: one machine for each pair of classes, combined by voting.

    Each machine minimises ``1/2 |w|^2 + C sum max(0, 1 - t f(x))^2``, with a bias that is the weight of a
    constant feature. Features are not scaled: use ``min-max`` before this method if their units differ.

    Notes
    -----
    View ``vote``: the fraction of the c (c - 1) / 2 votes for each class. Ties go to the larger
    sum of decision values, then to the first class in sorted order. View ``margin``: for each class, the mean
    of its decision values against the other classes, each clipped to [-1, 1]. Without the limits, a machine
    of two other classes could add a large decision value that means nothing. Its labels are the classes with
    the largest mean and can differ from those of ``vote``. With two classes the decision value is not
    clipped. metrics: ``machines``, ``machine_rows`` (training examples of all machines together).

    ``solver: primal`` is LIBLINEAR's ``-s 2``, deterministic, with warm starts along a path of C. ``dual`` is
    its ``-s 1``.

    References
    ----------
    Kressel, Pairwise classification and support vector machines (1999); Fan et al., LIBLINEAR, JMLR
    9 (2008).
    """

    name = "ovo-svm"
    example = ""
    version = 3
    views = ("vote", "margin")

    def _problems(self, X, codes, state):
        return one_vs_one(codes, len(self.classes_))

    def _views(self, values: np.ndarray) -> dict[str, Prediction]:
        c = len(self.classes_)
        margins = np.zeros((len(values), 1))
        shares, winners = margins + 1.0, np.zeros(len(values), dtype=np.int64)
        if c > 1:
            shares, winners = vote_scores(values, c)
            margins = decision_scores(np.clip(values, -1.0, 1.0) if c > 2 else values, c, "ovo")
        vote = Prediction(self.classes_, shares, "vote", self.classes_[winners])
        return {"vote": vote, "margin": Prediction(self.classes_, margins, "margin")}

    def decision_function(self, X) -> np.ndarray:
        """Return votes plus sums of decision values scaled to less than half a vote (n, c).

        With two classes it is the decision value (n,). The largest column is the label of `predict`.
        """
        values = self._values(self.check_predict_data(X))
        c = len(self.classes_)
        if c <= 2:
            return values[:, 0] if c == 2 else np.zeros((len(values), 1))
        sums = decision_scores(values, c, "ovo") * (c - 1)
        return vote_scores(values, c)[0] * (c * (c - 1) / 2) + sums / (3.0 * (np.abs(sums) + 1.0))
