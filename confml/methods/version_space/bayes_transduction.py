"""Bayesian transduction: labels by the volume of version space that is for them.

Graepel, Herbrich and Obermayer, "Bayesian transduction", NIPS 12 (2000). Kernel perceptrons
f(x) = sign <w, phi(x)> with |w| = 1 are uniformly distributed beforehand, so that afterwards they are uniform
on version space, the part of the sphere that has all training rows right (equation 2).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from confml.errors import ConfmlError
from confml.measures.prediction import Prediction
from confml.methods.multiclass import class_errors, class_probabilities, decision_scores
from confml.methods.version_space.joint_labelling import JointLabelling, joint_labelling
from confml.methods.version_space.perceptrons import FOUR_PI, WARM_ROWS, Perceptrons
from confml.plugins.parameters import Choice, Parameter


class BayesTransduction(Perceptrons):
    """Share of version space that votes for a class, measured by billiard in the kernel's feature space.

    View ``probability``: p of each class, the share of version space that gives the example this label
    (section 3.1 of the paper). Its ``extra`` holds ``confidence``, the paper's 2 max(p) - 1 (equation 7); and
    of the label's p the ``standard_error`` (0 where all of the flight agrees), with the worst split R-hat
    (``rhat``) and the least effective sample size (``ess``) of the machines. Expectation propagation is not
    sampled and has none of these three.
    View ``bayes-point``: the margin <w, phi(x)> of the centre of mass w of version space, which the same
    flight gives for nothing (the Bayes point machine).

    A ball flies through version space and is reflected by its walls, the training rows; the time that it
    spends where a test example is positive is that example's p. One flight serves all test examples, and
    what one of them gets does not depend on the others. ``geodesic`` flies great circles and draws a fresh
    direction after ``refresh`` radians on average, without which the billiard need not be ergodic;
    ``chord`` is the paper's own rules; ``ep`` approximates version space by a Gaussian.

    Errors of ``ep`` against 400,000 bounces, on 12 problems (10 rows in 3 dimensions with a linear kernel,
    40 in 4 with ``rbf``, hard and with lam = 0.5) and 200 test examples each: 0.008 on average and 0.09 at
    worst for test examples, 0.034 and 0.15 for the training rows themselves. With lam = 0, version space has
    every training row right, so p of its own class is 1; ``ep`` gives 0.85 to 1. The label of 0.4 % of the
    test examples changes.

    ``predictive: span`` is the paper's, which looks at the projection of phi(x) onto the span of the training
    rows. ``full`` takes into account what of phi(x) lies outside of it, which makes every p less extreme,
    and ``noisy`` also lam: with ``sampler: ep``, Gaussian process classification with probit noise.

    There must be a version space: with lam = 0 the training rows must be separable, with lam > 0 they always
    are. More than two classes are cut into two-class problems; with ``ovr`` p is each machine's share
    divided by their sum, with ``ovo`` the mean over a class's pairs, times 2 / c. Equal p: the first class.
    A test example whose kernel values with all training rows are 0 (a row of zeros with a linear kernel, an
    example too far away for ``rbf``) has equal p for all classes.
    Attributes should be on one scale (``steps: [standardise]``).
    """

    name: ClassVar[str] = "bayes-transduction"
    version: ClassVar[int] = 3
    views: ClassVar[tuple[str, ...]] = ("probability", "bayes-point")
    parameters: ClassVar[Mapping[str, Parameter]] = {
        **Perceptrons.parameters,
        "predictive": Choice(
            "span: within the span of the training rows; full: outside it too; noisy: with lam's noise too",
            ("span", "full", "noisy"),
        ),
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
        predictive: str = "span",
    ):
        common = (kernel, sigma, degree, coef0, lam, sampler, n_bounces, burn_in, refresh, chains)
        super().__init__(*common, multiclass, random_state)
        self.predictive = predictive

    def predict_proba(self, X) -> np.ndarray:
        """(m, c) the scores of ``probability``."""
        return self.confident_predict(X)["probability"].scores.copy()

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """The views ``probability`` and ``bayes-point`` of X (m, d)."""
        X = self.check_predict_data(X)
        parts = [self._predict_block(*block) for block in self._blocks(X)]
        return {view: Prediction.concatenate([part[view] for part in parts]) for view in self.views}

    def _predict_block(self, kernel_block: np.ndarray, own: np.ndarray) -> dict[str, Prediction]:
        c, way = len(self.classes_), self.multiclass
        residual = (
            None if self.predictive == "span" else own + (self.lam if self.predictive == "noisy" else 0)
        )
        shares = [
            machine.found.shares(kernel_block[machine.problem.rows], residual) for machine in self.machines_
        ]
        positive = np.column_stack([one.positive for one in shares])
        scores = class_probabilities(positive, c, way)
        extra = {"confidence": 2.0 * scores.max(axis=1, initial=0.0) - 1.0}
        if self.sampler != "ep":
            errors = class_errors(positive, np.column_stack([one.standard_error for one in shares]), c, way)
            chosen = np.argmax(scores, axis=1)
            extra["standard_error"] = errors[np.arange(len(chosen)), chosen]
            extra["rhat"] = np.column_stack([one.rhat for one in shares]).max(axis=1)
            extra["ess"] = np.column_stack([one.ess for one in shares]).min(axis=1)
        margins = decision_scores(self._centre_values(kernel_block), c, way)
        return {
            "probability": Prediction(self.classes_, scores, "probability", extra=extra),
            "bayes-point": Prediction(self.classes_, margins, "margin"),
        }

    def joint_labelling(self, X) -> JointLabelling:
        """How probable each labelling of the whole working set X (m, d) is (equations 1, 3 to 5).

        For two classes, sampled by billiard. The more points, the more labellings there are, and the fewer of
        them the flight meets twice: some tens of points can be labelled jointly.
        """
        X = self.check_predict_data(X)
        if len(self.classes_) != 2 or self.sampler == "ep":
            raise ConfmlError(
                "a joint labelling needs two classes and a billiard",
                hint=f"there are {len(self.classes_)} classes, and the sampler is {self.sampler}",
            )
        return joint_labelling(self.machines_[0].found, self.kernel_(self.X_, X), self.classes_)

    def test_block(self, train_rows: int, test_rows: int) -> int | None:
        """Blocks of some seconds where a test part is large."""
        return 50_000 if test_rows > 50_000 else None

    @classmethod
    def warm(cls) -> None:
        """Compile the kernels, by running them once on a few rows."""
        super().warm()
        X, y = WARM_ROWS
        method = cls(n_bounces=200, random_state=0, predictive="full").fit(X, y)
        method.confident_predict(X)
        method.joint_labelling(X)
