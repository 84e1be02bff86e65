"""`JointLabelling`: probabilities of the labellings of a whole working set (Graepel et al., section 2)."""

from dataclasses import dataclass

import numpy as np

from confml.errors import ConfmlError
from confml.methods.version_space._kernels_follow import follow_labels
from confml.methods.version_space.billiard import Trajectory


@dataclass(frozen=True, eq=False)
class JointLabelling:
    """The K labellings of m working points that the billiard has visited.

    classes (2,). positive (K, m) bool: whether a point has the second class, in order of decreasing
    probability. probabilities (K,): the fraction of version space with this labelling (equation 1); the sum
    is 1.
    """

    classes: np.ndarray
    positive: np.ndarray
    probabilities: np.ndarray

    @property
    def joint(self) -> np.ndarray:
        """Most probable labelling b_c (m,), which minimises the probability of any error (equation 4)."""
        return self.classes[self.positive[0].astype(int)]

    @property
    def marginals(self) -> np.ndarray:
        """Marginal probability (m,) of the second class for each point."""
        return self.probabilities @ self.positive

    @property
    def labelwise(self) -> np.ndarray:
        """More probable label b_i of each point (m,), which minimises the expected error rate (equation 5).

        It can differ from the joint labelling, and there may be no perceptron with this labelling.
        """
        return self.classes[(self.marginals > 0.5).astype(int)]

    def probability(self, labels) -> float:
        """Return P(b) of a labelling (m,); 0 if the billiard has not visited it."""
        return float(self.probabilities[(self.positive == self._bits(labels)).all(axis=1)].sum())

    def joint_risk(self, labels) -> float:
        """Return R_c, the probability that at least one of the labels (m,) is wrong (equation 4)."""
        return 1.0 - self.probability(labels)

    def labelwise_risk(self, labels) -> float:
        """Return R_s, the expected fraction of wrong labels among these (m,) (equation 5)."""
        return float(self.probabilities @ (self.positive != self._bits(labels)).mean(axis=1))

    def _bits(self, labels) -> np.ndarray:
        labels = np.asarray(labels)
        if labels.shape != (self.positive.shape[1],) or not np.isin(labels, self.classes).all():
            raise ConfmlError(
                f"expected {self.positive.shape[1]} labels out of {', '.join(map(str, self.classes))}, got "
                f"{labels.tolist()!r:.80}",
                hint="give one label for each point of the working set",
            )
        return labels == self.classes[1]


def joint_labelling(trajectory: Trajectory, kernel_block: np.ndarray, classes: np.ndarray) -> JointLabelling:
    """Return the labellings of m points visited by a trajectory; kernel_block (n, m): k(x_i, x)."""
    m = kernel_block.shape[1]
    if not trajectory.chains:
        labels = trajectory.volumes(kernel_block).positive > 0.5
        return JointLabelling(classes, labels[None, :], np.ones(1))
    pieces = [follow_labels(recorded, recorded.edges[1]) for recorded in trajectory.recorded(kernel_block)]
    packed = [np.packbits(labels[lengths > 0], axis=1, bitorder="little") for labels, lengths in pieces]
    distinct, number = np.unique(np.concatenate(packed), axis=0, return_inverse=True)
    times, begun = np.zeros(len(distinct)), 0
    for _, lengths in pieces:
        lengths = lengths[lengths > 0]
        of_chain = number.ravel()[begun : begun + len(lengths)]
        times += np.bincount(of_chain, weights=lengths, minlength=len(distinct))
        begun += len(lengths)
    order = np.argsort(-times, kind="stable")  # of equally probable ones, the first in bytes
    positive = np.unpackbits(distinct[order], axis=1, count=m, bitorder="little").astype(bool)
    probabilities = times[order]
    return JointLabelling(classes, positive, probabilities / probabilities.sum())
