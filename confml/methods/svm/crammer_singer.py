"""`crammer-singer`: the multiclass support vector machine of Crammer and Singer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from confml.measures.prediction import Prediction
from confml.methods.svm.liblinear_nodes import Nodes, require_liblinear
from confml.methods.svm.linear_machines import (
    CLASS_WEIGHT,
    TOLERANCE,
    C,
    class_penalties,
    known_weight,
)
from confml.methods.svm.penalty_path import SparseMethod
from confml.methods.svm.row_products import row_products
from confml.methods.validation import finite_scores
from confml.plugins.parameters import SEED


@dataclass(eq=False, repr=False)
class CrammerSinger(SparseMethod):
    """Linear multiclass support vector machine of Crammer and Singer.

    Minimises ``1/2 sum_k |w_k|^2 + C sum_i max_k (0, 1 - (f_y(x_i) - f_k(x_i)))`` over the classes k other
    than the label y of example i. The bias of each class is the weight of a constant feature. Features are
    not scaled: use ``min-max`` before this method if their units differ.

    Notes
    -----
    The solver is LIBLINEAR's ``-s 4``, the one of van den Burg and Hero (2017). It stops at its limit of
    iterations if C is large, and then the objective can be several times its minimum. Its time and its
    distance from the minimum grow with C: features of one range (``min-max``) and C up to about 2^4 keep both
    small. Each value of C is fitted anew.

    View ``margin``: the decision values f_k. Ties go to the first class in sorted order.

    References
    ----------
    Crammer & Singer, JMLR 2 (2001); solver by Keerthi et al., KDD 2008.
    """

    name = "crammer-singer"
    example = ""
    version = 4
    parameters = {"C": C, "tolerance": TOLERANCE, "class_weight": CLASS_WEIGHT, "random_state": SEED}

    C: float = 1.0
    tolerance: float = 1e-4
    class_weight: str | Mapping[Any, float] | None = None
    random_state: int | None = None

    @classmethod
    def check_combination(cls, params: Mapping[str, Any]) -> None:
        """Raise ConfigError if LIBLINEAR is not installed."""
        require_liblinear(cls.name)

    # ---- fitting

    def fit(self, X, y) -> Self:
        """Fit to training examples X (m, d), an array or a sparse matrix, with labels y (m,)."""
        X, codes = self.check_fit_data(X, y)
        c = len(self.classes_)
        self.weights_ = np.zeros((1, X.shape[1] + 1))  # (c, d + 1), the bias first
        if c > 1:
            weight = known_weight(self.class_weight, X, codes, self.classes_)
            penalties = class_penalties(weight, self.classes_, codes)
            seed = int(np.random.default_rng(self.random_state).integers(2**31))
            self.weights_ = Nodes(X).crammer_singer(
                codes, c, float(self.C), float(self.tolerance), seed, penalties.tolist()
            )
        return self

    # ---- predicting

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the view ``margin`` of test examples X (n, d)."""
        X = self.check_predict_data(X)
        with np.errstate(over="ignore", invalid="ignore"):
            values = row_products(X, self.weights_[:, 1:].T) + self.weights_[:, 0]
        values = finite_scores(values, self.name)
        return {"margin": Prediction(self.classes_, values, "margin")}
