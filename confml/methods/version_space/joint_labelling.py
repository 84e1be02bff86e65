"""`JointLabelling`: probabilities of the labellings of a whole working set (Graepel et al., section 2)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from confml.errors import ConfmlError
from confml.methods.version_space import _kernels_follow as kernels
from confml.methods.version_space.billiard import Trajectory

_BUFFER_WORDS = 2_000_000


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

    def labels(self, rank: int) -> np.ndarray:
        """Return the labels (m,) of the labelling with rank ``rank`` by probability, from 0."""
        return self.classes[self.positive[rank].astype(int)]

    @property
    def joint(self) -> np.ndarray:
        """Most probable labelling b_c (m,), which minimises the probability of any error (equation 4)."""
        return self.labels(0)

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

    def risk(self, labels, loss: Callable[[np.ndarray, np.ndarray], float]) -> float:
        """Return the expected value of ``loss(labels, true labels)`` (equation 3)."""
        losses = (loss(np.asarray(labels), self.labels(place)) for place in range(len(self.positive)))
        return float(sum(p * one for p, one in zip(self.probabilities, losses, strict=True)))

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
    width = max(-(-m // 64), 1)
    if not trajectory.chains:
        labels = trajectory.volumes(kernel_block).positive > 0.5
        return JointLabelling(classes, labels[None, :], np.ones(1))
    coordinates = trajectory.version_space.space.coordinates(kernel_block)
    signed = np.ascontiguousarray(trajectory.version_space.targets[:, None] * kernel_block)
    size = max(_BUFFER_WORDS // width, 2 * m + 2)
    words, lengths = np.empty((size, width), np.uint64), np.empty(size)
    times: dict[bytes, float] = {}
    for chain in trajectory.chains:
        recorded = kernels.Recorded(trajectory.chord, signed, *chain.products_with_anchors(coordinates))
        f, g = np.zeros(m), np.zeros(m)
        step, counted = 0, int(recorded.edges[1])
        for stop, count in ((counted, False), (int(recorded.edges[-1]), True)):
            while step < stop:
                step, pieces = kernels.follow_labels(recorded, step, stop, f, g, words, lengths)
                if count:
                    _add(times, words[:pieces], lengths[:pieces])
    keys = sorted(times, key=lambda key: (-times[key], key))
    packed = np.frombuffer(b"".join(keys), np.uint8).reshape(len(keys), 8 * width)
    bits = np.unpackbits(packed, axis=1, bitorder="little")[:, :m].astype(bool)
    probabilities = np.array([times[key] for key in keys])
    return JointLabelling(classes, bits, probabilities / probabilities.sum())


def _add(times: dict[bytes, float], words: np.ndarray, lengths: np.ndarray) -> None:
    """Add the lengths of pieces to the total length of each labelling."""
    kept = lengths > 0
    words, lengths = np.ascontiguousarray(words[kept]), lengths[kept]
    found, place = np.unique(words, axis=0, return_inverse=True)
    sums = np.bincount(place.ravel(), weights=lengths, minlength=len(found))
    for key, length in zip(found, sums, strict=True):
        name = key.astype("<u8").tobytes()
        times[name] = times.get(name, 0.0) + float(length)
