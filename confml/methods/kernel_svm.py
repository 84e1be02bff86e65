"""`kernel-svm`: the support vector machine beside which version spaces are judged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from sklearn.svm import SVC

from confml._parameters import Number, Parameter
from confml.measures.prediction import Prediction
from confml.methods._base import Method
from confml.methods._kernel_functions import KERNEL_PARAMETERS, WIDTH, median_distance


class KernelSVM(Method):
    """scikit-learn's SVC with the kernels of ``bayes-transduction``, and the margin |f(x)| as confidence.

    View ``margin``: of two classes the columns are -f/2 and f/2 of the decision value f, so that the
    confidence, the largest less the second largest, is |f|, as in the paper on Bayesian transduction. More
    than two: scikit-learn's one-against-one votes with summed confidences as a tie-break (``ovr`` form),
    whose largest column is the label. A large C is the hard margin. One class: margin 0 for every example.

    SVC has a bias, unlike the perceptrons of ``bayes-transduction``.
    """

    name: ClassVar[str] = "kernel-svm"
    version: ClassVar[int] = 1
    views: ClassVar[tuple[str, ...]] = ("margin",)
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "kernel": KERNEL_PARAMETERS["kernel"],
        "sigma": WIDTH,
        "degree": KERNEL_PARAMETERS["degree"],
        "coef0": KERNEL_PARAMETERS["coef0"],
        "C": Number("penalty of training errors; large (1e6) for a hard margin", 0.0, low_open=True),
    }

    def __init__(
        self,
        kernel: str = "rbf",
        sigma: float | str = "median",
        degree: int = 2,
        coef0: float = 1.0,
        C: float = 1.0,
    ):
        self.kernel = kernel
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.C = C

    def fit(self, X, y) -> KernelSVM:
        """Fit to X (n, d), y (n,)."""
        X, codes = self._check_fit(X, y)
        self.sigma_ = median_distance(X) if self.sigma == "median" else float(self.sigma)
        self.svc_ = None
        if len(self.classes_) > 1:
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

    def decision_function(self, X) -> np.ndarray:
        """scikit-learn's form of the scores: (m, c), or (m,) of two classes, above 0 for the second one."""
        scores = self.confident_predict(X)["margin"].scores
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores.copy()

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """The view ``margin`` of X (m, d)."""
        X = self._check_predict(X)
        if self.svc_ is None:
            return {"margin": Prediction(self.classes_, np.zeros((len(X), 1)), "margin")}
        scores = self.svc_.decision_function(X)
        if scores.ndim == 1:
            scores = np.column_stack([-scores / 2, scores / 2])
        return {"margin": Prediction(self.classes_, scores, "margin")}

    @property
    def fit_metrics_(self) -> dict[str, float]:
        """``support_vectors`` and, for the kernel rbf, ``sigma``."""
        if not hasattr(self, "sigma_"):
            return {}
        sigma = {"sigma": self.sigma_} if self.kernel == "rbf" else {}
        return sigma | {"support_vectors": 0.0 if self.svc_ is None else float(len(self.svc_.support_))}
