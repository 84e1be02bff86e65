"""`ovo-svm`: linear support vector machines, one for every pair of classes, that vote."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from confml.measures.prediction import Prediction
from confml.methods.multiclass import decision_scores, one_vs_one, vote_scores
from confml.methods.svm.linear_machines import LinearMachines


class OvOSVM(LinearMachines):
    """A linear support vector machine for every pair of classes; most votes win.

    Each machine minimises ``1/2 |w|^2 + C sum max(0, 1 - t f(x))^2``, with a bias that is the weight of a
    constant attribute. Attributes are taken as they are: put ``min-max`` ahead where their units differ.

    View ``vote``: the share of the c (c - 1) / 2 votes that each class gets. Equal votes: the larger sum of
    decision values, then the first class in sorted order. View ``margin``: for each class the mean of its
    decision values against the others, each cut off at -1 and 1, where a machine's margin ends: a machine
    that knows neither class of an example may be as far off as it likes, and would outweigh those that do.
    Its labels are those of the largest mean, which need not be those of the votes. Two classes: the one
    decision value as it is. metrics: ``machines``, ``machine_rows`` (training examples of all machines
    together).

    ``solver: primal`` is LIBLINEAR's ``-s 2``, deterministic and warm along a path of C; ``dual`` its
    ``-s 1``; ``newton`` comes closer to the minimum and is the fastest of them for few attributes.

    Source: Kressel, Pairwise classification and support vector machines (1999); Fan et al., LIBLINEAR, JMLR
    9 (2008).
    """

    name: ClassVar[str] = "ovo-svm"
    version: ClassVar[int] = 2
    views: ClassVar[tuple[str, ...]] = ("vote", "margin")

    def _problems(self, X, codes, state):
        return one_vs_one(codes, len(self.classes_))

    def _views(self, values: np.ndarray) -> dict[str, Prediction]:
        c = len(self.classes_)
        if c == 1:
            none = np.zeros((len(values), 1))
            return {
                "vote": Prediction(self.classes_, none + 1.0, "vote"),
                "margin": Prediction(self.classes_, none, "margin"),
            }
        shares, winners = vote_scores(values, c)
        margins = decision_scores(np.clip(values, -1.0, 1.0) if c > 2 else values, c, "ovo")
        return {
            "vote": Prediction(self.classes_, shares, "vote", self.classes_[winners]),
            "margin": Prediction(self.classes_, margins, "margin"),
        }

    def decision_function(self, X) -> np.ndarray:
        """(n, c), or (n,) of two classes: votes, and sums of decision values squeezed below half a vote.

        Its largest column is the label that `predict` gives.
        """
        values = self._values(self.check_predict_data(X))
        c = len(self.classes_)
        if c <= 2:
            return values[:, 0] if c == 2 else np.zeros((len(values), 1))
        sums = decision_scores(values, c, "ovo") * (c - 1)
        return vote_scores(values, c)[0] * (c * (c - 1) / 2) + sums / (3.0 * (np.abs(sums) + 1.0))
