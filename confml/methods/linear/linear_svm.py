"""`linear-svm`: one-vs-rest linear support vector machines by LIBLINEAR."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from confml.measures.metric import Metric
from confml.methods.linear.linear_group import Learnt, LinearGroup
from confml.methods.svm.liblinear_nodes import SOLVERS, Nodes, require_liblinear
from confml.methods.svm.linear_machines import TOLERANCE, C
from confml.methods.validation import check_largest
from confml.plugins.parameters import SEED, Choice


@dataclass(eq=False, repr=False)
class LinearSVM(LinearGroup):
    """Linear support vector machine by LIBLINEAR, one-vs-rest for more than two classes.

    Minimises ``1/2 |w|^2 + C sum max(0, 1 - y f(x))^2``, with a bias that is the weight of a constant
    feature. The class with the largest decision value is predicted; ties go to the first class in sorted
    order. Features are not scaled: use ``min-max`` or ``standardise`` before this method if their units
    differ.

    Notes
    -----
    View ``margin``: the decision values. metrics: ``training_error``, ``weight_norm`` (of all classifiers,
    without the biases).

    ``solver: primal`` is LIBLINEAR's ``-s 2`` and deterministic; ``dual`` is its ``-s 1`` and uses the seed.
    ``tolerance`` bounds the gradient, not the objective. With the default, ``primal`` changes up to 1.8 % of
    the test labels compared with a tolerance of 1e-7 (six data sets, C up to 256; largest on usps), ``dual``
    up to 1.1 %.

    References
    ----------
    Fan et al., LIBLINEAR, JMLR 9 (2008); Kubat, An Introduction to Machine Learning (2015), section
    4.7.
    """

    name = "linear-svm"
    example = ""
    version = 1
    metrics = {
        **LinearGroup.metrics,
        "weight_norm": Metric("Euclidean norm of the weights of all classifiers, without the biases", None),
    }
    parameters = {
        "C": C,
        "solver": Choice("LIBLINEAR's solver", options=tuple(SOLVERS)),
        "tolerance": TOLERANCE,
        "random_state": SEED,
    }

    C: float = 1.0
    solver: str = "primal"
    tolerance: float = 0.001
    random_state: int | None = None

    @classmethod
    def check_combination(cls, params: Mapping[str, Any]) -> None:
        """Raise ConfigError if LIBLINEAR is not installed."""
        require_liblinear(cls.name, params.get("solver", "primal"))

    @property
    def fit_metrics_(self) -> dict[str, float]:
        norm = float(np.linalg.norm(self.weights_[:, 1:]))
        return {"training_error": self.training_error_, "weight_norm": norm}

    def _fit_inputs(self, X: np.ndarray) -> None:
        check_largest(X, self.name)

    def _learn(self, X: np.ndarray, targets: np.ndarray, rng: np.random.Generator) -> Learnt:
        rows, signs = np.arange(len(X)), np.where(targets > 0, 1.0, -1.0)
        solver, tolerance, seed = SOLVERS[self.solver], float(self.tolerance), int(rng.integers(2**31))
        weights, _ = Nodes(X).binary_path(rows, signs, [self.C], solver, tolerance, seed, warm=False)
        return Learnt(weights[0])
