"""`gen-svm`: the generalised multiclass support vector machine of van den Burg and Groenen."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from confml.measures.metric import Metric
from confml.measures.prediction import Prediction
from confml.methods.svm._kernels_gen_svm import loss_and_slopes
from confml.methods.svm.penalty_path import PenaltyPath
from confml.methods.svm.row_products import row_products
from confml.methods.validation import finite_scores
from confml.plugins.parameters import Choice, Number

# Each path starts with these decreasing values of the ridge, so the start of a fit depends on its ridge only.
RUNGS = tuple(2.0**power for power in range(18, -19, -6))


class Solution(NamedTuple):
    """Coefficients V (1 + inputs, c - 1), t first; objective; iterations from the first ridge on."""

    V: np.ndarray
    objective: float
    iterations: float


@dataclass(eq=False, repr=False)
class GenSVM(PenaltyPath):
    """Multiclass support vector machine that maps examples into a simplex with one corner per class (GenSVM).

    Notes
    -----
    An example x is mapped to ``z = W' x + t`` in c - 1 dimensions; the prediction is the class of
    the nearest corner u. The objective ``1/n sum_i rho_i (sum_j h^p(q_ij))^(1/p) + ridge tr W'W`` is
    minimised, with ``q_ij = z_i' (u_y - u_j)`` for the label y of example i. The index j runs over the other
    classes. The Huber hinge h is 0 above 1, ``(1 - q)^2 / (2 kappa + 2)`` down to -kappa, and linear below.
    rho is 1 (``unit``), or n / (n_k c) for the n_k rows of the class (``group``). The objective is convex and
    smooth. L-BFGS minimises it along a fixed decreasing sequence of ridges. Features are not scaled: use
    ``min-max`` before this method if their units differ.

    View ``margin``: the products z' u_k, which are largest for the nearest corner. Ties go to the first class
    in sorted order. metrics: ``objective``, ``iterations``.

    References
    ----------
    van den Burg & Groenen, GenSVM: a generalized multiclass support vector machine, JMLR 17 (2016).
    """

    name = "gen-svm"
    example = ""
    version = 3
    penalty = "ridge"
    metrics = {
        "objective": Metric("value of the objective function after the fit", None),
        "iterations": Metric("number of iterations of the optimiser", None),
    }
    parameters = {
        "ridge": Number("weight of the penalty on W (lambda in the paper)", low=0, low_open=True),
        "kappa": Number("the hinge is linear below -kappa", low=-1, low_open=True),
        "p": Number("power of the norm over the errors of an example", low=1, high=2),
        "weights": Choice("weights of the examples: 1 each, or equal sums by class", ("unit", "group")),
        "tolerance": Number("relative decrease of the objective at which L-BFGS stops", low=0),
    }

    ridge: float = 2.0**-8
    kappa: float = 0.0
    p: float = 1.0
    weights: str = "unit"
    tolerance: float = 1e-9

    # ---- fitting

    def _fit_path(self, X, y, ridges: Sequence[float], state=None) -> tuple[float, dict[float, float]]:
        """Set path_[ridge]: coefficients (1 + inputs, c - 1), t in the first row; objective; iterations."""
        started = time.thread_time()
        X, codes = self.check_fit_data(X, y)
        c = len(self.classes_)
        self.corners_ = simplex(c)
        problem = Problem(X, codes, self.corners_, self.kappa, self.p, self.weights)
        shared = time.thread_time() - started
        V = np.zeros((problem.inputs.shape[1] + 1, c - 1))
        self.path_, seconds, pending, iterations = {}, {}, 0.0, 0
        for ridge in sorted({*ridges, *(rung for rung in RUNGS if rung > min(ridges))}, reverse=True):
            started = time.thread_time()
            solved, objective, steps = problem.minimise(V, float(ridge), float(self.tolerance))
            pending += time.thread_time() - started
            if ridge in RUNGS:
                V, iterations = solved, iterations + steps
            if ridge in ridges:
                total = float(iterations + (0 if ridge in RUNGS else steps))
                self.path_[ridge] = Solution(solved, objective, total)
                seconds[ridge], pending = pending, 0.0
        return shared, seconds

    def _take(self, ridge: float) -> None:
        self.coefficients_, self.objective_, self.iterations_ = self.path_[ridge]
        del self.path_

    @property
    def fit_metrics_(self) -> dict[str, float]:
        return {"objective": self.objective_, "iterations": self.iterations_}

    # ---- predicting

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the view ``margin`` of test examples X (n, d)."""
        X = self.check_predict_data(X)
        with np.errstate(over="ignore", invalid="ignore"):
            Z = row_products(X, self.coefficients_[1:]) + self.coefficients_[0]
            scores = finite_scores(row_products(Z, self.corners_.T), self.name)
        return {"margin": Prediction(self.classes_, scores, "margin")}


def simplex(c: int) -> np.ndarray:
    """Return the corners (c, c - 1) of the regular simplex with edges of length 1 and centre 0."""
    U = np.zeros((c, c - 1))
    for column in range(1, c):
        U[:column, column - 1] = -1.0 / np.sqrt(2.0 * (column**2 + column))
        U[column, column - 1] = column / np.sqrt(2.0 * (column**2 + column))
    return U


class Problem:
    """Objective on one training set: inputs (n, q), an array or CSR; codes (n,); corners (c, c - 1)."""

    def __init__(self, inputs, codes: np.ndarray, corners: np.ndarray, kappa: float, p: float, weights: str):
        self.inputs, self.codes, self.corners = inputs, codes, corners
        self.kappa, self.p = float(kappa), float(p)
        n, c = len(codes), len(corners)
        rho = n / (c * np.bincount(codes, minlength=c)) if weights == "group" else np.ones(c)
        self._rho = rho[codes] / n
        self._power = {1.0: 1, 2.0: 2}.get(self.p, 0)
        self._slopes = np.empty((n, c - 1))

    def objective(self, V: np.ndarray, ridge: float) -> tuple[float, np.ndarray]:
        """Return the objective at V (1 + q, c - 1), with t in the first row, and its gradient."""
        Z = np.ascontiguousarray(self.inputs @ V[1:]) + V[0]
        loss = loss_and_slopes(
            Z, self.codes, self.corners, self._rho, self.kappa, self.p, self._power, self._slopes
        )
        gradient = np.empty_like(V)
        gradient[0] = self._slopes.sum(axis=0)
        gradient[1:] = self.inputs.T @ self._slopes + 2.0 * ridge * V[1:]
        return loss + ridge * float(np.sum(V[1:] ** 2)), gradient

    def minimise(self, start: np.ndarray, ridge: float, tolerance: float) -> tuple[np.ndarray, float, int]:
        """Minimise by L-BFGS from a start; return (V, objective, number of iterations).

        W is scaled so that the curvature of its penalty is at most that of the loss. Without it, t would
        converge slowly with a large ridge.
        """
        from scipy.optimize import minimize

        if not start.size:  # one class: no dimensions
            return start, 0.0, 0
        curve = self._curvature()
        units = np.ones((len(start), 1))
        units[1:] = np.sqrt(curve / (curve + 2.0 * ridge))
        v, value, steps = (start / units).ravel(), self.objective(start, ridge)[0], 0
        while True:
            level = max(value, np.finfo(float).tiny)

            def scaled(v, level=level):
                value, gradient = self.objective(v.reshape(start.shape) * units, ridge)
                return value / level, (gradient * units).ravel() / level

            options = {"maxcor": 20, "maxiter": 20000, "maxfun": 40000, "ftol": tolerance, "gtol": 1e-14}
            result = minimize(scaled, v, jac=True, method="L-BFGS-B", options=options)
            v, value, steps = result.x, float(result.fun) * level, steps + int(result.nit)
            # scipy's tolerance is relative to the objective at the start: repeat until the two agree.
            if result.fun > 1.0 - 100 * tolerance or value == 0.0:
                return v.reshape(start.shape) * units, value, steps

    def _curvature(self) -> float:
        """Return a bound of the second derivative of the loss in W, up to a factor that all ridges share."""
        rows = self.inputs.multiply(self.inputs) if hasattr(self.inputs, "multiply") else self.inputs**2
        return float(np.mean(np.asarray(rows.sum(axis=1)))) / (2.0 * (self.kappa + 1.0)) + 1e-300
