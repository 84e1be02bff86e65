"""`crammer-singer`: the multiclass support vector machine of Crammer and Singer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from confml._seeds import derived_generator
from confml.measures.prediction import Prediction
from confml.methods.base import finite_scores
from confml.methods.multiclass import decision_values
from confml.methods.svm.liblinear_nodes import Nodes
from confml.methods.svm.linear_machines import (
    CLASS_WEIGHT,
    RANDOM_STATE,
    TOLERANCE,
    C,
    class_penalties,
    known_weight,
)
from confml.methods.svm.penalty_path import SparseMethod
from confml.plugins.parameters import Parameter


class CrammerSinger(SparseMethod):
    """Linear multiclass support vector machine of Crammer and Singer (LIBLINEAR's ``-s 4``).

    Minimises ``1/2 sum_k |w_k|^2 + C sum_i max_k (0, 1 - (f_y(x_i) - f_k(x_i)))`` over the classes k other
    than the label y of example i. The bias of each class is the weight of a constant feature. Features are
    not scaled: use ``min-max`` before this method if their units differ. A fit takes seconds with a large C
    and about a hundredth of that with a small C. A running fit cannot be interrupted.

    ``tolerance`` is the stopping tolerance of the solver. The table shows the excess of the objective over
    its value with tolerance 1e-5 and the fraction of test labels that differ, each the largest over
    C = 2^-8, 2^-2, 1, 16, 256, on iris, wine, vehicle and segment up to C = 256, satimage and usps up to
    C = 1 (at most 2000 training rows, ``min-max``)::

        tolerance         excess        labels changed     relative time
        0.1 (LIBLINEAR)   175 %         6.7 %              1
        0.01               20 %         5.0 %              2
        0.001               1.5 %       1.1 %              4
        0.0001              0.2 %       0.13 %             7

    The default is 0.0001. The configs of the SmartSVM study use LIBLINEAR's default 0.1, as in the paper.

    View ``margin``: the decision values f_k. Ties go to the first class in sorted order.

    Source: Crammer & Singer, JMLR 2 (2001); solver by Keerthi et al., KDD 2008.
    """

    name: ClassVar[str] = "crammer-singer"
    version: ClassVar[int] = 2
    views: ClassVar[tuple[str, ...]] = ("margin",)
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "C": C,
        "tolerance": TOLERANCE,
        "class_weight": CLASS_WEIGHT,
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        C: float = 1.0,
        tolerance: float = 1e-4,
        class_weight: str | Mapping[Any, float] | None = None,
        random_state: int | None = None,
    ):
        self.C = C
        self.tolerance = tolerance
        self.class_weight = class_weight
        self.random_state = random_state

    def fit(self, X, y):
        """Fit to training examples X (m, d), an array or a sparse matrix, with labels y (m,)."""
        X, codes = self.check_fit_data(X, y)
        c = len(self.classes_)
        if c == 1:
            self.weights_ = np.zeros((1, X.shape[1] + 1))
            return self
        seed = int(np.random.default_rng(self.random_state).integers(2**31))
        penalties = class_penalties(
            known_weight(self.class_weight, X, codes, self.classes_), self.classes_, codes
        )
        self.weights_ = Nodes(X).crammer_singer(
            codes, c, float(self.C), float(self.tolerance), seed, penalties.tolist()
        )
        return self

    def share_random_states(self, rng: np.random.Generator, point: Mapping[str, Any]) -> None:
        """Use the same seed for all tolerances, so that they take the examples in the same order."""
        self.seed_random_states(
            derived_generator(rng, {name: point[name] for name in point if name != "tolerance"})
        )

    def decision_function(self, X) -> np.ndarray:
        """Return the decision values (n, c); with two classes (n,), positive for the second class."""
        return decision_values(self.confident_predict(X)["margin"].scores)

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the view ``margin`` of test examples X (n, d)."""
        X = self.check_predict_data(X)
        with np.errstate(over="ignore", invalid="ignore"):
            values = np.asarray(X @ self.weights_[:, 1:].T) + self.weights_[:, 0]
        values = finite_scores(values, self.name)
        return {"margin": Prediction(self.classes_, values, "margin")}
