"""`bayes-transduction`: class probabilities as volumes of version space.

Graepel, Herbrich and Obermayer, "Bayesian transduction", NIPS 12 (2000). The prior of the kernel perceptrons
f(x) = sign <w, phi(x)> with |w| = 1 is uniform. Their posterior is uniform on version space, the part of the
sphere that classifies all training rows correctly (equation 2).
"""

from dataclasses import dataclass

import numpy as np

from confml.errors import ConfmlError
from confml.measures.prediction import Prediction
from confml.methods.base import ProbabilityMethod
from confml.methods.multiclass import class_errors, class_probabilities, decision_scores
from confml.methods.version_space.joint_labelling import JointLabelling, joint_labelling
from confml.methods.version_space.version_space_method import VersionSpaceMethod
from confml.plugins.parameters import Choice


@dataclass(eq=False, repr=False)
class BayesTransduction(VersionSpaceMethod, ProbabilityMethod):
    """Probability of each class as the fraction of version space that predicts it.

    The fraction is estimated by kernel billiard sampling: a point moves through version space and is
    reflected at its walls, the training rows. The fraction of its trajectory on which a perceptron predicts a
    class is the probability p of this class (section 3.1 of the paper). One trajectory is used for all test
    examples, and the prediction of an example does not depend on the others.

    Notes
    -----
    View ``probability``: p of each class; ties go to the first class. Its ``extra`` has
    ``confidence``, the paper's 2 max(p) - 1 (equation 7), and three numbers of the predicted class: the
    ``standard_error``, the largest split R-hat (``rhat``) and the smallest effective sample size (``ess``)
    over the binary problems. With ``predictive: span`` the standard error is at least 1 / effective sample
    size of the trajectory. View ``bayes-point``: the decision value <w, phi(x)> of the
    centre of mass w of version space (the Bayes point machine), from the same trajectory.

    Version space must not be empty: with ``ridge`` = 0 the training rows must be separable; with ``ridge`` >
    0 they always are. With more than two classes there is one problem per class, against all others, and p is
    the fraction of each problem divided by their sum. A test example whose kernel values with all training
    rows are 0 has equal p for all classes. Features should be on one scale (``steps: [standardise]``). The
    page "Posterior and version space" of the documentation describes the samplers, the stopping rule and
    their errors.
    """

    name = "bayes-transduction"
    example = "n_bounces=1000, random_state=1"
    version = 5
    views = ("probability", "bayes-point")
    parameters = {
        **VersionSpaceMethod.parameters,
        "predictive": Choice(
            "component of an example: in the span of the training rows; full; noisy: with the ridge",
            ("span", "full", "noisy"),
        ),
    }

    predictive: str = "span"

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the views ``probability`` and ``bayes-point`` of test examples X (m, d)."""
        X = self.check_predict_data(X)
        parts = [self._predict_block(*block) for block in self._blocks(X)]
        return {view: Prediction.concatenate([part[view] for part in parts]) for view in self.views}

    def _predict_block(self, kernel_block: np.ndarray, lengths: np.ndarray) -> dict[str, Prediction]:
        c = len(self.classes_)
        noisy = lengths + self.ridge if self.predictive == "noisy" else lengths
        residual = None if self.predictive == "span" else noisy
        volumes = [trajectory.volumes(kernel_block, residual) for trajectory in self.trajectories_]
        positive = np.column_stack([volume.positive for volume in volumes])
        scores = class_probabilities(positive, c)
        extra = {"confidence": 2.0 * scores.max(axis=1, initial=0.0) - 1.0}
        errors = class_errors(positive, np.column_stack([volume.standard_error for volume in volumes]), c)
        chosen = np.argmax(scores, axis=1)
        extra["standard_error"] = errors[np.arange(len(chosen)), chosen]
        extra["rhat"] = np.column_stack([volume.rhat for volume in volumes]).max(axis=1)
        extra["ess"] = np.column_stack([volume.ess for volume in volumes]).min(axis=1)
        margins = decision_scores(self._centre_values(kernel_block), c, "ovr")
        return {
            "probability": Prediction(self.classes_, scores, "probability", extra=extra),
            "bayes-point": Prediction(self.classes_, margins, "margin"),
        }

    def joint_labelling(self, X) -> JointLabelling:
        """Return the probabilities of the labellings of a whole working set (equations 1, 4 and 5).

        The number of labellings grows with the number of points, so a few tens of points can be labelled
        jointly.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Working set.

        Returns
        -------
        JointLabelling
            The labellings with their probabilities.

        Raises
        ------
        ConfmlError
            Unless there are two classes.
        """
        X = self.check_predict_data(X)
        if len(self.classes_) != 2:
            message = f"a joint labelling needs two classes, got {len(self.classes_)}"
            raise ConfmlError(message, hint="use data with two classes")
        return joint_labelling(self.trajectories_[0], self.kernel_(self.X_, X), self.classes_)
