"""`linear-svm`: linear support vector machines by LIBLINEAR, one class against the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from confml.measures.metrics import Metric
from confml.methods.base import check_largest
from confml.methods.linear.linear_group import Learnt, LinearGroup
from confml.methods.svm.liblinear_nodes import SOLVERS, Nodes
from confml.plugins.parameters import AnyOf, Choice, Integer, Nothing, Number, Parameter


class LinearSVM(LinearGroup):
    """The linear classifier with the widest margin, by LIBLINEAR; several classes: one against the rest each.

    Minimises ``1/2 |w|^2 + C sum max(0, 1 - y f(x))^2``, with a bias that is the weight of a constant
    attribute. The largest decision value decides; equal ones: the first class in sorted order. Attributes are
    taken as they are: put ``min-max`` or ``standardise`` ahead of it where their units differ.

    View ``margin``: the decision values. metrics: ``training_error``, ``weight_norm`` (of all classifiers,
    the bias left out).

    ``solver: primal`` is LIBLINEAR's ``-s 2``, deterministic; ``dual`` its ``-s 1``, seeded. ``tolerance``
    bounds the gradient, not the objective: at the default, ``primal`` changes up to 1.8 % of test labels
    against a tolerance of 1e-7 (six data sets, C up to 256; usps is the worst), ``dual`` up to 1.1 %.

    Source: Fan et al., LIBLINEAR, JMLR 9 (2008); Kubat, An Introduction to Machine Learning (2015), section
    4.7.
    """

    name: ClassVar[str] = "linear-svm"
    version: ClassVar[int] = 1
    metrics: ClassVar[Mapping[str, Metric]] = {
        "training_error": Metric("share of training examples whose predicted label is wrong", "lower"),
        "weight_norm": Metric("Euclidean norm of the weights of all classifiers, biases left out", None),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "C": Number("the price of an error against the width of the margin", low=0, low_open=True),
        "solver": Choice("LIBLINEAR's solver", options=tuple(SOLVERS)),
        "tolerance": Number(
            "when the solver stops: LIBLINEAR's -e, which bounds the gradient", low=0, low_open=True
        ),
        "random_state": AnyOf(
            "the seed of the dual solver; the run's where it is null", of=(Integer("", low=0), Nothing(""))
        ),
    }

    def __init__(
        self,
        C: float = 1.0,
        solver: str = "primal",
        tolerance: float = 0.001,
        random_state: int | None = None,
    ):
        self.C = C
        self.solver = solver
        self.tolerance = tolerance
        self.random_state = random_state

    @property
    def fit_metrics_(self) -> dict[str, float]:
        return {
            "training_error": self.training_error_,
            "weight_norm": float(np.linalg.norm(self.weights_[:, 1:])),
        }

    def _fit_inputs(self, X: np.ndarray) -> None:
        check_largest(X, self.name)

    def _learn(self, X: np.ndarray, targets: np.ndarray, rng: np.random.Generator) -> Learnt:
        rows, signs = np.arange(len(X)), np.where(targets > 0, 1.0, -1.0)
        solver, tolerance, seed = SOLVERS[self.solver], float(self.tolerance), int(rng.integers(2**31))
        weights, _ = Nodes(X).binary_path(rows, signs, [self.C], solver, tolerance, seed, warm=False)
        return Learnt(weights[0])
