"""The Bayes point machine: one perceptron in place of all of version space, its centre of mass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from confml._parameters import Parameter
from confml.measures.prediction import Prediction
from confml.methods._multiclass import decision_scores
from confml.methods._perceptrons import FOUR_PI, Perceptrons


class BayesPointMachine(Perceptrons):
    """The centre of mass of version space as a classifier, found by the billiard of ``bayes-transduction``.

    View ``margin``: <w, phi(x)> of the centre w, scaled to length 1; of two classes the columns are -f/2 and
    f/2, so that the confidence is |f|. More than two: ``ovr`` has each machine's f, ``ovo`` the mean of a
    class's f against the others. Equal scores: the first class.

    The flight, its parameters and what is refused are those of ``bayes-transduction``, whose view
    ``bayes-point`` this is.

    Source: Herbrich, Graepel and Campbell, Bayes point machines, Journal of Machine Learning Research 1
    (2001); Rujan, Playing billiard in version space, Neural Computation 9 (1997).
    """

    name: ClassVar[str] = "bayes-point-machine"
    version: ClassVar[int] = 1
    views: ClassVar[tuple[str, ...]] = ("margin",)
    parameters: ClassVar[Mapping[str, Parameter]] = {
        name: Perceptrons.parameters[name]
        for name in (
            *("kernel", "sigma", "degree", "coef0", "lam", "sampler", "n_bounces", "burn_in", "refresh"),
            *("chains", "multiclass", "random_state"),
        )
    }

    def __init__(
        self,
        kernel: str = "rbf",
        sigma: float | str = "auto",
        degree: int = 2,
        coef0: float = 1.0,
        lam: float = 0.0,
        sampler: str = "geodesic",
        n_bounces: int = 100_000,
        burn_in: float = 0.1,
        refresh: float | None = FOUR_PI,
        chains: int = 4,
        multiclass: str = "ovr",
        random_state: int | None = None,
    ):
        self.kernel = kernel
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.lam = lam
        self.sampler = sampler
        self.n_bounces = n_bounces
        self.burn_in = burn_in
        self.refresh = refresh
        self.chains = chains
        self.multiclass = multiclass
        self.random_state = random_state

    def fit(self, X, y) -> BayesPointMachine:
        """Find the centre of version space of X (n, d), y (n,). Raises ConfmlError where there is none."""
        X, codes = self._check_fit(X, y)
        self._fit_machines(X, codes)
        return self

    def decision_function(self, X) -> np.ndarray:
        """scikit-learn's form of the scores: (m, c), or (m,) of two classes, above 0 for the second one."""
        scores = self.confident_predict(X)["margin"].scores
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores.copy()

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """The view ``margin`` of X (m, d)."""
        X = self._check_predict(X)
        values = np.concatenate([self._centre_values(block) for block, _ in self._blocks(X)])
        scores = decision_scores(values, len(self.classes_), self.multiclass)
        return {"margin": Prediction(self.classes_, scores, "margin")}

    @classmethod
    def warm(cls) -> None:
        """Compile the kernels, by running them once on a few rows."""
        X, y = np.arange(12.0).reshape(6, 2) % 5, np.array([0, 1, 0, 1, 1, 0])
        for settings in ({}, {"sampler": "chord"}, {"sampler": "ep"}):
            cls(n_bounces=200, random_state=0, **settings).fit(X, y).confident_predict(X)
