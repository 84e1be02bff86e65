"""`dag-svm`: one-vs-one linear support vector machines that eliminate one class at a time."""

import numpy as np

from confml.measures.prediction import Prediction
from confml.methods.multiclass import one_vs_one
from confml.methods.svm.linear_machines import LinearMachines


class DAGSVM(LinearMachines):
    """One-vs-one linear support vector machines in a directed acyclic graph (DAGSVM).

    The machine of the first and the last remaining class, in sorted order, eliminates one of the two, until
    one class remains. A prediction needs c - 1 decision values, ``ovo-svm`` needs c (c - 1) / 2. A decision
    value of 0 keeps the first class. The machines are those of ``ovo-svm``.

    Notes
    -----
    View ``margin``: 0 for the predicted class, and for each other class minus the absolute decision value
    that eliminated it. The confidence is then the smallest absolute decision value on the path. metrics:
    ``machines``, ``machine_rows`` (training examples of all machines together).

    References
    ----------
    Platt, Cristianini & Shawe-Taylor, Large margin DAGs for multiclass classification, NIPS 12
    (2000).
    """

    name = "dag-svm"
    example = ""
    version = 2

    def _problems(self, X, codes, state):
        return one_vs_one(codes, len(self.classes_))

    def _views(self, values: np.ndarray) -> dict[str, Prediction]:
        c, n = len(self.classes_), len(values)
        pair_column = np.zeros((c, c), dtype=np.int64)
        pair_column[np.triu_indices(c, 1)] = np.arange(c * (c - 1) // 2)
        scores = np.zeros((n, c))
        low, high = np.zeros(n, dtype=np.int64), np.full(n, c - 1)
        examples = np.arange(n)
        for _ in range(c - 1):
            decided = values[examples, pair_column[low, high]]
            second = decided > 0  # the first class of the pair is eliminated
            scores[examples, np.where(second, low, high)] = -np.abs(decided)
            low, high = low + second, high - ~second
        return {"margin": Prediction(self.classes_, scores, "margin", self.classes_[low])}
