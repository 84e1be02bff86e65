"""`crammer-singer`: the multiclass support vector machine of Crammer and Singer."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from confml._seeds import derived_generator
from confml.measures.metric import Metric
from confml.measures.prediction import Prediction
from confml.methods.base import Method, finite_scores
from confml.methods.svm.crammer_singer_path import Solution, crammer_singer_path
from confml.methods.svm.liblinear_nodes import Nodes, require_liblinear
from confml.methods.svm.linear_machines import (
    CLASS_WEIGHT,
    RANDOM_STATE,
    C,
    class_penalties,
    known_weight,
)
from confml.methods.svm.linear_rows import labels_with_ties, row_products
from confml.methods.svm.penalty_path import PenaltyPath
from confml.plugins.parameters import Choice, Number


@dataclass(eq=False, repr=False)
class CrammerSinger(PenaltyPath):
    """Linear multiclass support vector machine of Crammer and Singer.

    Minimises ``1/2 sum_k |w_k|^2 + C sum_i max_k (0, 1 - (f_y(x_i) - f_k(x_i)))`` over the classes k other
    than the label y of example i. The bias of each class is the weight of a constant feature. Features are
    not scaled: use ``min-max`` before this method if their units differ.

    Notes
    -----
    ``solver: dual`` is LIBLINEAR's ``-s 4``. ``solver: path`` is confml's own, for several values of C in one
    pass and up to 8000 unknowns; it has the metrics ``objective``, ``gap`` and ``iterations``. The page "How
    methods compute" of the documentation has both, and the errors of each ``tolerance``.

    View ``margin``: the decision values f_k. Ties go to the first class in sorted order. With
    ``solver: path``, decision values within 1e-9 of the largest absolute one are tied, and ties go to the
    class with more training examples first.

    References
    ----------
    Crammer & Singer, JMLR 2 (2001); solver by Keerthi et al., KDD 2008.
    """

    name = "crammer-singer"
    example = ""
    version = 3
    penalty = "C"
    metrics = {
        "objective": Metric("value of the objective function after the fit", None),
        "gap": Metric("duality gap: largest excess of the objective over its minimum", None),
        "iterations": Metric("number of iterations of the optimiser", None),
    }
    parameters = {
        "C": C,
        "tolerance": Number(
            "stopping tolerance: LIBLINEAR's -e, which bounds the gradient and not the objective; with path, "
            "the relative duality gap is at most a hundredth of it",
            low=0,
            low_open=True,
        ),
        "class_weight": CLASS_WEIGHT,
        "random_state": RANDOM_STATE,
        "solver": Choice("dual: LIBLINEAR's -s 4; path: confml's own, exact", options=("dual", "path")),
    }
    stored = {
        "class_counts_": "i8(c) in 0..",
        "weights_": "f8(*, d+1)",
        "objective_": "float",
        "gap_": "float",
        "iterations_": "int",
    }

    C: float = 1.0
    tolerance: float = 1e-4
    class_weight: str | Mapping[Any, float] | None = None
    random_state: int | None = None
    solver: str = "dual"

    @classmethod
    def check_combination(cls, params: Mapping[str, Any]) -> None:
        """Raise ConfigError if the solver is LIBLINEAR's, which is not installed."""
        if params.get("solver", "dual") == "dual":
            require_liblinear(cls.name, "dual", otherwise="use solver: path")

    # ---- fitting

    def _fit_path(self, X, y, values: Sequence[float], state=None) -> tuple[float, dict[float, float]]:
        """Set path_[C] to the `Solution` at C; the dual solver has no objective and no gap."""
        started = time.thread_time()
        X, codes = self.check_fit_data(X, y)
        c, Cs = len(self.classes_), list(dict.fromkeys(map(float, values)))
        self.class_counts_ = np.bincount(codes, minlength=c)
        if c == 1:
            self.path_ = dict.fromkeys(Cs, Solution(np.zeros((1, X.shape[1] + 1)), 0.0, 0.0, 0))
            return time.thread_time() - started, dict.fromkeys(Cs, 0.0)
        penalties = class_penalties(
            known_weight(self.class_weight, X, codes, self.classes_), self.classes_, codes
        )
        tolerance = float(self.tolerance)
        if self.solver == "path":
            shared = time.thread_time() - started
            self.path_, seconds = crammer_singer_path(X, codes, penalties, Cs, 0.01 * tolerance)
            return shared, seconds
        seed = int(np.random.default_rng(self.random_state).integers(2**31))
        nodes = Nodes(X)
        shared = time.thread_time() - started
        self.path_, seconds = {}, {}
        for value in Cs:
            started = time.thread_time()
            weights = nodes.crammer_singer(codes, c, value, tolerance, seed, penalties.tolist())
            self.path_[value], seconds[value] = (
                Solution(weights, np.nan, np.nan, 0),
                time.thread_time() - started,
            )
        return shared, seconds

    def _take(self, value: float) -> None:
        solution = self.path_[float(value)]
        self.weights_, self.objective_, self.gap_, self.iterations_ = solution
        del self.path_

    def _seed_counts(self) -> bool:
        return self.solver == "dual"

    @property
    def fit_metrics_(self) -> dict[str, float]:
        if self.solver == "dual":
            return {}
        return {"objective": self.objective_, "gap": self.gap_, "iterations": float(self.iterations_)}

    def evaluate_path(self, X, y, X_test, grid, rng=None, state=None):
        """Evaluate a grid as `Method.evaluate_path`; a grid with ``solver: path`` only shares paths of C."""
        if all(point.get("solver", self.solver) == "path" for point in grid):
            return super().evaluate_path(X, y, X_test, grid, rng, state)
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
        if self.solver == "path":
            labels = labels_with_ties(values, self.classes_, self.class_counts_)
            return {"margin": Prediction(self.classes_, values, "margin", labels)}
        return {"margin": Prediction(self.classes_, values, "margin")}

    @classmethod
    def compile_kernels(cls) -> None:
        from scipy.sparse import csr_matrix

        X = np.arange(8.0).reshape(4, 2) / 8.0
        for examples in (X, csr_matrix(np.eye(4))):
            cls(C=1.0, solver="path").fit(examples, [0, 1, 2, 1])
