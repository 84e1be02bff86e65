"""`JointLabelling`: how probable each labelling of a whole working set is (Graepel et al., section 2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from confml.errors import ConfmlError
from confml.methods.version_space import _kernels_follow as kernels
from confml.methods.version_space.billiard import Flight

_BUFFER_WORDS = 2_000_000


@dataclass(frozen=True, eq=False)
class JointLabelling:
    """The labellings of m working points that the billiard has met.

    classes (2,). positive (K, m): which points are of the second class, by decreasing probability.
    probabilities (K,): the share of version space that labels the points so (equation 1); they add up to 1.
    """

    classes: np.ndarray
    positive: np.ndarray
    probabilities: np.ndarray

    def labels(self, place: int) -> np.ndarray:
        """(m,) labels of the labelling that is number ``place`` by probability, from 0."""
        return self.classes[self.positive[place].astype(int)]

    @property
    def joint(self) -> np.ndarray:
        """(m,) the most probable labelling b_c: the least risk where any error spoils all (equation 4)."""
        return self.labels(0)

    @property
    def marginals(self) -> np.ndarray:
        """(m,) probability of the second class for each point by itself."""
        return self.probabilities @ self.positive

    @property
    def labelwise(self) -> np.ndarray:
        """(m,) each point's more probable label b_i: the least expected share of errors (equation 5).

        It need not be the joint one, and no perceptron need label the points so.
        """
        return self.classes[(self.marginals > 0.5).astype(int)]

    def probability(self, labels) -> float:
        """P(b) of a labelling (m,): 0 for one that was not met."""
        return float(self.probabilities[(self.positive == self._bits(labels)).all(axis=1)].sum())

    def joint_risk(self, labels) -> float:
        """R_c: the probability that one of the labels (m,) at least is wrong (equation 4)."""
        return 1.0 - self.probability(labels)

    def labelwise_risk(self, labels) -> float:
        """R_s: the expected share of wrong labels among these (m,) (equation 5)."""
        return float(self.probabilities @ (self.positive != self._bits(labels)).mean(axis=1))

    def risk(self, labels, loss: Callable[[np.ndarray, np.ndarray], float]) -> float:
        """The expected ``loss(labels, true labels)``, whatever it is (equation 3)."""
        losses = (loss(np.asarray(labels), self.labels(place)) for place in range(len(self.positive)))
        return float(sum(p * one for p, one in zip(self.probabilities, losses, strict=True)))

    def _bits(self, labels) -> np.ndarray:
        labels = np.asarray(labels)
        if labels.shape != (self.positive.shape[1],) or not np.isin(labels, self.classes).all():
            raise ConfmlError(
                f"expected {self.positive.shape[1]} labels out of {', '.join(map(str, self.classes))}"
            )
        return labels == self.classes[1]


def joint_labelling(flight: Flight, kernel_block: np.ndarray, classes: np.ndarray) -> JointLabelling:
    """Follow a flight through the cells of version space that m points (n, m) k(x_i, x) cut it into."""
    m = kernel_block.shape[1]
    width = max(-(-m // 64), 1)
    if not flight.chains:
        labels = flight.shares(kernel_block).positive > 0.5
        return JointLabelling(classes, labels[None, :], np.ones(1))
    coordinates = flight.version_space.space.coordinates(kernel_block)
    signed = np.ascontiguousarray(flight.version_space.targets[:, None] * kernel_block)
    room = max(_BUFFER_WORDS // width, 2 * m + 2)
    words, lengths = np.empty((room, width), np.uint64), np.empty(room)
    times: dict[bytes, float] = {}
    for chain in flight.chains:
        steps, hit, edges, anchor_step, at_w, at_v = chain.seen_at(coordinates)
        f, g = np.zeros(m), np.zeros(m)
        step, counted = 0, int(edges[1])
        for stop, count in ((counted, False), (int(edges[-1]), True)):
            while step < stop:
                step, pieces = kernels.follow_labels(
                    steps,
                    hit,
                    step,
                    stop,
                    anchor_step,
                    at_w,
                    at_v,
                    flight.chord,
                    signed,
                    f,
                    g,
                    words,
                    lengths,
                )
                if count:
                    _add(times, words[:pieces], lengths[:pieces])
    keys = sorted(times, key=lambda key: (-times[key], key))
    packed = np.frombuffer(b"".join(keys), np.uint8).reshape(len(keys), 8 * width)
    bits = np.unpackbits(packed, axis=1, bitorder="little")[:, :m].astype(bool)
    probabilities = np.array([times[key] for key in keys])
    return JointLabelling(classes, bits, probabilities / probabilities.sum())


def _add(times: dict[bytes, float], words: np.ndarray, lengths: np.ndarray) -> None:
    """Add the lengths of pieces to the time that each labelling has had so far."""
    kept = lengths > 0
    words, lengths = np.ascontiguousarray(words[kept]), lengths[kept]
    found, place = np.unique(words, axis=0, return_inverse=True)
    sums = np.bincount(place.ravel(), weights=lengths, minlength=len(found))
    for key, length in zip(found, sums, strict=True):
        name = key.astype("<u8").tobytes()
        times[name] = times.get(name, 0.0) + float(length)
