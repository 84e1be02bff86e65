"""`crammer-singer`: one support vector machine for all classes at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from confml._seeds import derived_generator
from confml.measures.prediction import Prediction
from confml.methods.base import finite_scores
from confml.methods.svm.liblinear_nodes import Nodes
from confml.methods.svm.linear_machines import (
    CLASS_WEIGHT,
    RANDOM_STATE,
    TOLERANCE,
    C,
    class_prices,
    known_weight,
)
from confml.methods.svm.penalty_path import SparseMethod, margin_of
from confml.plugins.parameters import Parameter


class CrammerSinger(SparseMethod):
    """One linear support vector machine for all classes together, by LIBLINEAR's ``-s 4``.

    Minimises ``1/2 sum_k |w_k|^2 + C sum_i max_k (0, 1 - (f_y(x_i) - f_k(x_i)))`` over k other than the
    label y of example i, with a bias for each class that is the weight of a constant attribute. Features
    are not scaled: put ``min-max`` before this method where their units differ. A fit with a large C takes
    seconds, with a small one a hundredth of that, and a running fit cannot be interrupted.

    ``tolerance`` decides how close a fit comes to the minimum. Excess of the objective over that of tolerance
    1e-5, and test labels that change, worst of C = 2^-8, 2^-2, 1, 16, 256 on iris, wine, vehicle, segment and
    satimage and of C up to 1 on usps (2000 training rows at most, ``min-max``)::

        tolerance         excess        labels changed     time
        0.1 (LIBLINEAR)   175 %         6.7 %              1
        0.01               20 %         5.0 %              2
        0.001               1.5 %       1.1 %              4
        0.0001              0.2 %       0.13 %             7

    The default is 0.0001. LIBLINEAR's own 0.1 stands in the configs of the SmartSVM study, as in the paper.

    View ``margin``: the decision values f_k. Equal ones: the first class in sorted order.

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
        """Train on examples X (m, d), an array or a sparse matrix, with labels y (m,)."""
        X, codes = self.check_fit_data(X, y)
        c = len(self.classes_)
        if c == 1:
            self.weights_ = np.zeros((1, X.shape[1] + 1))
            return self
        seed = int(np.random.default_rng(self.random_state).integers(2**31))
        prices = class_prices(known_weight(self.class_weight, X, codes, self.classes_), self.classes_, codes)
        self.weights_ = Nodes(X).crammer_singer(
            codes, c, float(self.C), float(self.tolerance), seed, prices.tolist()
        )
        return self

    def _share_seeds(self, rng: np.random.Generator, point: Mapping[str, Any]) -> None:
        """Seed without regard to the tolerance: all tolerances take the examples in the same order."""
        self._seed(derived_generator(rng, {name: point[name] for name in point if name != "tolerance"}))

    def decision_function(self, X) -> np.ndarray:
        """The decision values: (n, c), or (n,) of two classes, positive for the second."""
        return margin_of(self.confident_predict(X)["margin"])

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """The view ``margin`` of X (n, d)."""
        X = self.check_predict_data(X)
        with np.errstate(over="ignore", invalid="ignore"):
            values = np.asarray(X @ self.weights_[:, 1:].T) + self.weights_[:, 0]
        values = finite_scores(values, self.name)
        return {"margin": Prediction(self.classes_, values, "margin")}
