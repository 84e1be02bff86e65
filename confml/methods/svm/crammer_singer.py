"""`crammer-singer`: the multiclass support vector machine of Crammer and Singer."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from confml._seeds import derived_generator
from confml.measures.prediction import Prediction
from confml.methods.base import Method, finite_scores
from confml.methods.svm.liblinear_nodes import Nodes, require_liblinear
from confml.methods.svm.linear_machines import (
    CLASS_WEIGHT,
    RANDOM_STATE,
    C,
    class_penalties,
    known_weight,
)
from confml.methods.svm.penalty_path import PenaltyPath
from confml.methods.svm.row_products import row_products
from confml.plugins.parameters import Number


@dataclass(eq=False, repr=False)
class CrammerSinger(PenaltyPath):
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
    penalty = "C"
    parameters = {
        "C": C,
        "tolerance": Number(
            "stopping tolerance: LIBLINEAR's -e, which bounds the gradient and not the objective",
            low=0,
            low_open=True,
        ),
        "class_weight": CLASS_WEIGHT,
        "random_state": RANDOM_STATE,
    }

    C: float = 1.0
    tolerance: float = 1e-4
    class_weight: str | Mapping[Any, float] | None = None
    random_state: int | None = None

    @classmethod
    def check_combination(cls, params: Mapping[str, Any]) -> None:
        """Raise ConfigError if LIBLINEAR is not installed."""
        require_liblinear(cls.name)

    # ---- fitting

    def _fit_path(self, X, y, values: Sequence[float], state=None) -> tuple[float, dict[float, float]]:
        """Set path_[C]: weights (c, d + 1), the bias first."""
        started = time.thread_time()
        X, codes = self.check_fit_data(X, y)
        c, Cs = len(self.classes_), list(dict.fromkeys(map(float, values)))
        if c == 1:
            self.path_ = dict.fromkeys(Cs, np.zeros((1, X.shape[1] + 1)))
            return time.thread_time() - started, dict.fromkeys(Cs, 0.0)
        penalties = class_penalties(
            known_weight(self.class_weight, X, codes, self.classes_), self.classes_, codes
        )
        tolerance = float(self.tolerance)
        seed = int(np.random.default_rng(self.random_state).integers(2**31))
        nodes = Nodes(X)
        shared = time.thread_time() - started
        self.path_, seconds = {}, {}
        for value in Cs:
            started = time.thread_time()
            self.path_[value] = nodes.crammer_singer(codes, c, value, tolerance, seed, penalties.tolist())
            seconds[value] = time.thread_time() - started
        return shared, seconds

    def _take(self, value: float) -> None:
        self.weights_ = self.path_[float(value)]
        del self.path_

    def _seed_counts(self) -> bool:
        return True

    def evaluate_path(self, X, y, X_test, grid, rng=None, state=None):
        """Evaluate a grid as `Method.evaluate_path`, each point with its own seed."""
        return Method.evaluate_path(self, X, y, X_test, grid, rng, state)

    def share_random_states(self, rng: np.random.Generator, point: Mapping[str, Any]) -> None:
        """Use the same seed for all tolerances, so that they take the examples in the same order."""
        self.seed_random_states(
            derived_generator(rng, {name: point[name] for name in point if name != "tolerance"})
        )

    # ---- predicting

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the view ``margin`` of test examples X (n, d)."""
        X = self.check_predict_data(X)
        with np.errstate(over="ignore", invalid="ignore"):
            values = row_products(X, self.weights_[:, 1:].T) + self.weights_[:, 0]
        values = finite_scores(values, self.name)
        return {"margin": Prediction(self.classes_, values, "margin")}
