"""`kernel-svm`: the support vector machine beside which version spaces are judged."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from confml.measures.metrics import Metric
from confml.measures.prediction import Prediction
from confml.methods.base import Method, finite_scores
from confml.methods.multiclass import decision_scores, one_vs_rest
from confml.methods.version_space._kernels_gram import products
from confml.methods.version_space._kernels_svm import descend
from confml.methods.version_space.kernel_functions import (
    KERNEL_PARAMETERS,
    WIDTH,
    KernelFunction,
    median_distance,
)
from confml.methods.version_space.version_space import RangeSpace, least_norm_weights
from confml.plugins.parameters import Flag, Number, Parameter

_TOLERANCE = 1e-4


class KernelSVM(Method):
    """scikit-learn's SVC with the kernels of ``bayes-transduction``, and the margin |f(x)| as confidence.

    View ``margin``: of two classes the columns are -f/2 and f/2 of the decision value f, so that the
    confidence, the largest less the second largest, is |f|, as in the paper on Bayesian transduction. More
    than two: scikit-learn's one-against-one votes with summed confidences as a tie-break (``ovr`` form),
    whose largest column is the label. A large C is the hard margin. One class: margin 0 for every example.

    ``bias: false`` is the machine f(x) = <w, phi(x)> of the same perceptrons as ``bayes-transduction`` has,
    whose hard margin is the centre of the largest ball in version space. Its classes are each set against
    the rest.
    """

    name: ClassVar[str] = "kernel-svm"
    version: ClassVar[int] = 1
    views: ClassVar[tuple[str, ...]] = ("margin",)
    metrics: ClassVar[Mapping[str, Metric]] = {
        "support_vectors": Metric("number of support vectors", None),
        "sigma": Metric("width of the kernel rbf", None),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "kernel": KERNEL_PARAMETERS["kernel"],
        "sigma": WIDTH,
        "degree": KERNEL_PARAMETERS["degree"],
        "coef0": KERNEL_PARAMETERS["coef0"],
        "bias": Flag("whether f(x) = <w, phi(x)> + b; false: without b"),
        "C": Number("penalty of training errors; large (1e6) for a hard margin", 0.0, low_open=True),
    }

    def __init__(
        self,
        kernel: str = "rbf",
        sigma: float | str = "median",
        degree: int = 2,
        coef0: float = 1.0,
        bias: bool = True,
        C: float = 1.0,
    ):
        self.kernel = kernel
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.bias = bias
        self.C = C

    def fit(self, X, y) -> KernelSVM:
        """Fit to X (n, d), y (n,)."""
        X, codes = self.check_fit_data(X, y)
        self.sigma_ = median_distance(X) if self.sigma == "median" else float(self.sigma)
        self.svc_ = self.weights_ = None
        if len(self.classes_) > 1 and not self.bias:
            self._fit_without_bias(X, codes)
        elif len(self.classes_) > 1:
            gamma = 0.5 / self.sigma_**2 if self.kernel == "rbf" else 1.0
            svc = SVC(
                C=float(self.C),
                kernel=self.kernel,
                degree=self.degree,
                gamma=gamma,
                coef0=float(self.coef0),
                break_ties=len(self.classes_) > 2,
            )
            self.svc_ = svc.fit(X, codes)
        return self

    def _fit_without_bias(self, X: np.ndarray, codes: np.ndarray) -> None:
        self.kernel_ = KernelFunction(self.kernel, self.sigma_, self.degree, self.coef0)
        self.X_, gram = X, self.kernel_(X, X)
        problems = one_vs_rest(codes, len(self.classes_))
        self.weights_ = np.column_stack(
            [
                problem.targets * machine_without_bias(gram, problem.targets, float(self.C))
                for problem in problems
            ]
        )

    def decision_function(self, X) -> np.ndarray:
        """scikit-learn's form of the scores: (m, c), or (m,) of two classes, above 0 for the second one."""
        scores = self.confident_predict(X)["margin"].scores
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores.copy()

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """The view ``margin`` of X (m, d)."""
        X = self.check_predict_data(X)
        if self.weights_ is not None:
            values = products(np.ascontiguousarray(self.kernel_(X, self.X_)), self.weights_)
            scores = decision_scores(values, len(self.classes_), "ovr")
            return {"margin": Prediction(self.classes_, scores, "margin")}
        if self.svc_ is None:
            return {"margin": Prediction(self.classes_, np.zeros((len(X), 1)), "margin")}
        scores = self.svc_.decision_function(X)
        if scores.ndim == 1:
            scores = np.column_stack([-scores / 2, scores / 2])
        return {"margin": Prediction(self.classes_, finite_scores(scores, self.name), "margin")}

    @property
    def fit_metrics_(self) -> dict[str, float]:
        """``support_vectors`` and, for the kernel rbf, ``sigma``."""
        if not hasattr(self, "sigma_"):
            return {}
        sigma = {"sigma": self.sigma_} if self.kernel == "rbf" else {}
        if self.weights_ is not None:
            return sigma | {"support_vectors": float((self.weights_ != 0).any(axis=1).sum())}
        return sigma | {"support_vectors": 0.0 if self.svc_ is None else float(len(self.svc_.support_))}

    @classmethod
    def warm(cls) -> None:
        """Compile the kernels, by running them once on a few rows."""
        X, y = np.arange(12.0).reshape(6, 2) % 5, np.array([0, 1, 0, 1, 1, 0])
        cls(bias=False).fit(X, y).confident_predict(X)


def machine_without_bias(gram: np.ndarray, targets: np.ndarray, C: float) -> np.ndarray:
    """(n,) weights alpha >= 0 of f(x) = sum_i alpha_i y_i k(x_i, x), out of k(x_i, x_j) (n, n).

    The hard margin's by non-negative least squares, where there is one and none of its weights exceeds C;
    otherwise by coordinate descent, to 1e-4 of the margin. Warns where that takes too long.
    """
    signed = targets[:, None] * gram * targets
    own = np.diag(signed).copy()
    if (own <= 0).any():
        signed[own <= 0, own <= 0] = 1.0  # phi(x) = 0: at C, whatever the others are
    alpha = hard_margin(gram, targets)
    if alpha is None or alpha.max() > C:
        alpha = np.zeros(len(targets))
        gradient = signed @ alpha - 1.0
        limit = 100_000 + 1000 * len(targets)
        if descend(signed, alpha, gradient, C, _TOLERANCE, limit) == limit:
            warnings.warn(
                f"the machine without bias has not converged at C = {C:g}; choose a smaller C",
                ConvergenceWarning,
                stacklevel=4,
            )
    return alpha


def hard_margin(gram: np.ndarray, targets: np.ndarray) -> np.ndarray | None:
    """(n,) the weights of the hard margin without bias, or None where the rows are not separable."""
    if (np.diag(gram) <= 0).any():
        return None
    points = RangeSpace.of(gram, 0.0).points * targets[:, None]
    weights = least_norm_weights(points)
    if weights is None:
        return None
    levels = points @ (weights @ points)
    if not levels.min() > 0:
        return None
    weights = weights / levels.min()
    return weights if (levels / levels.min() * (weights > 0)).max() < 1 + _TOLERANCE else None
