"""`bayes-point-machine`: the kernel perceptron at the centre of mass of version space."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from confml.measures.prediction import Prediction
from confml.methods.multiclass import decision_scores, decision_values
from confml.methods.version_space.version_space_method import VersionSpaceMethod


class BayesPointMachine(VersionSpaceMethod):
    """Kernel perceptron at the centre of mass of version space, estimated by kernel billiard sampling.

    View ``margin``: the decision value f(x) = <w, phi(x)> of the centre of mass w, scaled to length 1. With
    two classes the columns are -f/2 and f/2, so the confidence is |f|. With more classes a column is the
    decision value of the class against the rest (``ovr``), or the mean of its decision values against each
    other class (``ovo``). Ties go to the first class.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly"}, default="rbf"
        Rbf: exp(-|x - z|^2 / (2 sigma^2)); linear: <x, z>, without a bias; poly: (<x, z> + coef0)^degree.
    sigma : float or {"median"} or {"auto"}, default="auto"
        Width of the rbf kernel, 1 / sqrt(2 gamma) in scikit-learn's terms; median: the median distance
        between two training rows; auto: the median, halved until the training rows are separable.
    degree : int, default=2
        Degree of the poly kernel.
    coef0 : float, default=1.0
        Constant that the poly kernel adds to <x, z>.
    ridge : float, default=0.0
        Constant added to the diagonal of the kernel matrix; above 0 allows training errors.
    sampler : {"geodesic", "chord", "ep"}, default="geodesic"
        Geodesic: billiard on great circles; chord: the paper's billiard (biased in few dimensions, mixes
        slowly); ep: expectation propagation, fast and deterministic, with an error of p of 0.01 on average
        (largest measured: 0.12, and 0.15 for training rows).
    n_bounces : int, default=100000
        Number of bounces of all chains together; the largest with stopping: ess.
    burn_in : float, default=0.1
        Number of bounces of the burn-in as a fraction of those of the run.
    refresh : float or None, default=12.566370614359172
        Mean arc in radians between random directions of the geodesic sampler; null: never.
    chains : int, default=4
        Number of chains.
    multiclass : {"ovr", "ovo"}, default="ovr"
        Reduction of more than two classes: ovr, one-vs-rest; ovo, one-vs-one.
    random_state : int or None, default=None
        Random seed of the billiard; null: a new seed for each fit.
    stopping : {"fixed", "hoeffding", "ess"}, default="fixed"
        Fixed: after n_bounces bounces; hoeffding: after ln(1 / eta) / (2 epsilon^2) bounces, the paper's
        rule, which takes bounces for independent draws; ess: when the effective sample size is at least this
        number and the chains agree, or after n_bounces bounces.
    epsilon : float, default=0.05
        For stopping: hoeffding and ess: the error of a probability, in one direction, that may occur with
        probability eta.
    eta : float, default=0.01
        For stopping: hoeffding and ess: probability that a probability is too large by epsilon or more; that
        it is too small by as much has the same probability.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes of the training examples, sorted.

    Notes
    -----
    The sampler, its parameters, its stopping rule and its errors are those of ``bayes-transduction``; the
    view is the view ``bayes-point`` of that method.

    References
    ----------
    Herbrich, Graepel and Campbell, Bayes point machines, Journal of Machine Learning Research 1
    (2001); Rujan, Playing billiard in version space, Neural Computation 9 (1997).

    Examples
    --------
    >>> from confml import BayesPointMachine
    >>> X, y = [[0.0], [1.0], [8.0], [9.0]], ["a", "a", "b", "b"]
    >>> model = BayesPointMachine(n_bounces=1000, random_state=1).fit(X, y)
    >>> model.predict([[0.5]])
    array(['a'], dtype='<U1')
    """

    name: ClassVar[str] = "bayes-point-machine"
    version: ClassVar[int] = 3
    views: ClassVar[tuple[str, ...]] = ("margin",)
    stored = {}

    def decision_function(self, X) -> np.ndarray:
        """Return the decision values (m, c); with two classes (m,), positive for the second class."""
        return decision_values(self.confident_predict(X)["margin"].scores)

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the view ``margin`` of test examples X (m, d)."""
        X = self.check_predict_data(X)
        values = np.concatenate([self._centre_values(block) for block, _ in self._blocks(X)])
        scores = decision_scores(values, len(self.classes_), self.multiclass)
        return {"margin": Prediction(self.classes_, scores, "margin")}
