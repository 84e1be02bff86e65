"""`kernel-svm`: a support vector machine with the kernels of the version space methods."""

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from confml.data.memory import require_memory
from confml.measures.metric import Metric
from confml.measures.prediction import Prediction
from confml.methods.base import MarginMethod
from confml.methods.multiclass import decision_scores, one_vs_rest, two_class_scores
from confml.methods.validation import finite_scores
from confml.methods.version_space._kernels_gram import products
from confml.methods.version_space.kernel_functions import (
    KERNEL_PARAMETERS,
    WIDTH,
    KernelFunction,
    median_distance,
)
from confml.methods.version_space.version_space import RangeSpace, least_norm_weights
from confml.plugins.parameters import Flag, Number

_TOLERANCE = 1e-4


@dataclass(eq=False, repr=False)
class KernelSVM(MarginMethod):
    """Kernel support vector machine (scikit-learn's SVC) with the margin |f(x)| as confidence.

    View ``margin``: with two classes the columns are -f/2 and f/2 of the decision value f. The confidence
    (the largest score minus the second largest) is then |f|, as in the paper on Bayesian transduction. With
    more classes the columns are scikit-learn's one-vs-one votes, with summed decision values as tie-break
    (``decision_function_shape='ovr'``). With one class the margin is 0. A large C gives the hard margin.

    Notes
    -----
    ``bias: false`` uses f(x) = <w, phi(x)> without a bias, as the perceptrons of ``bayes-transduction``, and
    one-vs-rest for more than two classes. The hard-margin solution is then the centre of the largest ball in
    version space.

    The kernel ``rbf`` is exp(-|x - z|^2 / (2 sigma^2)), so gamma = 1 / (2 sigma^2) in scikit-learn's SVC.
    """

    name = "kernel-svm"
    example = ""
    version = 2
    metrics = {
        "support_vectors": Metric("number of support vectors", None),
        "sigma": Metric("width of the rbf kernel", None),
    }
    parameters = {
        "kernel": KERNEL_PARAMETERS["kernel"],
        "sigma": WIDTH,
        "degree": KERNEL_PARAMETERS["degree"],
        "coef0": KERNEL_PARAMETERS["coef0"],
        "bias": Flag("whether f(x) = <w, phi(x)> + b has the bias b"),
        "C": Number("penalty of training errors; 1e6 for a hard margin", 0.0, low_open=True),
    }

    kernel: str = "rbf"
    sigma: float | str = "median"
    degree: int = 2
    coef0: float = 1.0
    bias: bool = True
    C: float = 1.0

    def fit(self, X, y) -> Self:
        """Fit to training examples X (n, d) with labels y (n,)."""
        X, codes = self.check_fit_data(X, y)
        self.sigma_ = median_distance(X) if self.sigma == "median" else float(self.sigma)
        self.svc_: Any = None
        self.weights_: np.ndarray | None = None
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
        sides = [problem.targets for problem in one_vs_rest(codes, len(self.classes_))]
        weights = [targets * machine_without_bias(gram, targets, float(self.C)) for targets in sides]
        self.weights_ = np.column_stack(weights)

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the view ``margin`` of test examples X (m, d)."""
        X = self.check_predict_data(X)
        if self.weights_ is not None:
            values = products(np.ascontiguousarray(self.kernel_(X, self.X_)), self.weights_)
            scores = decision_scores(values, len(self.classes_), "ovr")
            return {"margin": Prediction(self.classes_, scores, "margin")}
        if self.svc_ is None:
            return {"margin": Prediction(self.classes_, np.zeros((len(X), 1)), "margin")}
        scores = self.svc_.decision_function(X)
        if scores.ndim == 1:
            scores = two_class_scores(scores)
        return {"margin": Prediction(self.classes_, finite_scores(scores, self.name), "margin")}

    @property
    def fit_metrics_(self) -> dict[str, float]:
        """``support_vectors`` and, with the rbf kernel, ``sigma``."""
        if not hasattr(self, "sigma_"):
            return {}
        sigma = {"sigma": self.sigma_} if self.kernel == "rbf" else {}
        if self.weights_ is not None:
            return sigma | {"support_vectors": float((self.weights_ != 0).any(axis=1).sum())}
        return sigma | {"support_vectors": 0.0 if self.svc_ is None else float(len(self.svc_.support_))}


def machine_without_bias(gram: np.ndarray, targets: np.ndarray, C: float) -> np.ndarray:
    """Return the weights alpha (n,) >= 0 of f(x) = sum_i alpha_i y_i k(x_i, x); gram (n, n): k(x_i, x_j).

    The hard-margin solution is computed by non-negative least squares and used if it exists and no weight
    exceeds C. Otherwise it is scikit-learn's SVC of the rows and their mirror images -phi(x), which have the
    opposite labels, so that the bias is 0. Warns if it does not converge. Raises ConfmlError if there is too
    little memory.
    """
    alpha = hard_margin(gram, targets)
    if alpha is not None and alpha.max() <= C:
        return alpha
    n = len(targets)
    require_memory(64 * n * n, f"kernel-svm without bias with {n} training rows", hint="train on fewer rows")
    svc = SVC(C=C / 2, kernel="precomputed", tol=_TOLERANCE, max_iter=100_000 + 1000 * n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # its remedy does not fit a precomputed kernel
        svc.fit(np.block([[gram, -gram], [-gram, gram]]), np.append(targets, -targets))
    if svc.fit_status_:
        message = f"kernel-svm without bias has not converged with C = {C:g}; choose a smaller C"
        warnings.warn(message, ConvergenceWarning, stacklevel=4)
    alpha = np.zeros(2 * n)
    alpha[svc.support_] = np.abs(svc.dual_coef_[0])
    return alpha[:n] + alpha[n:]


def hard_margin(gram: np.ndarray, targets: np.ndarray) -> np.ndarray | None:
    """Return the weights (n,) of the hard margin without bias; None if the rows are not separable."""
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
