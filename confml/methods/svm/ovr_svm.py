"""`ovr-svm`: linear support vector machines, one for every class against the rest."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from confml.measures.prediction import Prediction
from confml.methods.multiclass import decision_scores, one_vs_rest
from confml.methods.svm.linear_machines import LinearMachines


class OvRSVM(LinearMachines):
    """A linear support vector machine for every class against the rest; the largest decision value wins.

    Each machine minimises ``1/2 |w|^2 + C sum max(0, 1 - t f(x))^2``, with a bias that is the weight of a
    constant attribute. Attributes are taken as they are: put ``min-max`` ahead where their units differ.

    View ``margin``: the decision values; for two classes, which need one machine only, -f/2 and f/2. Equal
    values: the first class in sorted order. metrics: ``machines``, ``machine_rows`` (training examples of all
    machines together).

    ``solver: primal`` is LIBLINEAR's ``-s 2``, deterministic and warm along a path of C; ``dual`` its
    ``-s 1``; ``newton`` comes closer to the minimum and is the fastest of them for few attributes.

    Source: Vapnik, Statistical Learning Theory (1998); Fan et al., LIBLINEAR, JMLR 9 (2008).
    """

    name: ClassVar[str] = "ovr-svm"
    version: ClassVar[int] = 1
    views: ClassVar[tuple[str, ...]] = ("margin",)

    def _problems(self, X, codes, state):
        return one_vs_rest(codes, len(self.classes_)) if len(self.classes_) > 1 else []

    def _views(self, values: np.ndarray) -> dict[str, Prediction]:
        c = len(self.classes_)
        scores = decision_scores(values, c, "ovr") if c > 1 else np.zeros((len(values), 1))
        return {"margin": Prediction(self.classes_, scores, "margin")}
