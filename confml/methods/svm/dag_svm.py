"""`dag-svm`: linear support vector machines, one for every pair of classes, that eliminate class by class."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from confml.measures.prediction import Prediction
from confml.methods.multiclass import one_vs_one
from confml.methods.svm.linear_machines import LinearMachines


class DAGSVM(LinearMachines):
    """The machines of ``ovo-svm``, asked one after the other: each answer votes one class away.

    The first and the last class that are left are compared, in sorted order, and the loser is out, until one
    is left: c - 1 machines are asked, where ``ovo-svm`` asks c (c - 1) / 2. A decision value of 0 keeps the
    first. Training is that of ``ovo-svm``.

    View ``margin``: 0 for the class that is left, and for any other minus the absolute decision value that
    voted it away; the largest less the second is then the smallest decision value along the way. metrics:
    ``machines``, ``machine_rows`` (training examples of all machines together).

    Source: Platt, Cristianini & Shawe-Taylor, Large margin DAGs for multiclass classification, NIPS 12
    (2000).
    """

    name: ClassVar[str] = "dag-svm"
    version: ClassVar[int] = 1
    views: ClassVar[tuple[str, ...]] = ("margin",)

    def _problems(self, X, codes, state):
        return one_vs_one(codes, len(self.classes_))

    def _views(self, values: np.ndarray) -> dict[str, Prediction]:
        c, n = len(self.classes_), len(values)
        place = np.zeros((c, c), dtype=np.int64)
        place[np.triu_indices(c, 1)] = np.arange(c * (c - 1) // 2)
        scores = np.zeros((n, c))
        low, high = np.zeros(n, dtype=np.int64), np.full(n, c - 1)
        examples = np.arange(n)
        for _ in range(c - 1):
            decided = values[examples, place[low, high]]
            second = decided > 0  # the second class of the pair wins, the first is out
            scores[examples, np.where(second, low, high)] = -np.abs(decided)
            low, high = low + second, high - ~second
        return {"margin": Prediction(self.classes_, scores, "margin", self.classes_[low])}
