"""`weighted-knn`: k nearest neighbours whose votes weigh less the farther they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from confml.measures.prediction import Prediction
from confml.methods.knn import KNN
from confml.methods.knn import _kernels_weighted_knn as kernels
from confml.methods.nominal import NOMINAL
from confml.neighbours.nearest_rows import Neighbours
from confml.plugins.parameters import Integer, Parameter


class WeightedKNN(KNN):
    """The k nearest training examples vote, the i-th with weight (d_k - d_i) / (d_k - d_1).

    View ``vote``: each class's share of the sum of the weights (eq. 3.4), which are in [0, 1], 1 for the
    nearest and 0 for the k-th. Where all k are at one distance, all weights are 1, and all training examples
    at that distance count alike. With fewer than k training examples, k is their number.

    Equal votes: the class whose voters' distances have the smaller sum; then the first class in sorted order.
    Distances, scales, nominal attributes: as of `knn`.

    Source: Dudani, The distance-weighted k-nearest-neighbor rule (1976); Kubat, An Introduction to Machine
    Learning (2015), section 3.5.
    """

    name: ClassVar[str] = "weighted-knn"
    version: ClassVar[int] = 1
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "k": Integer("how many nearest training examples vote, the last of them with weight 0", low=1),
        "nominal": NOMINAL,
    }

    def __init__(self, k: int = 5, nominal: str | Sequence[int] = "auto"):
        super().__init__(k, nominal)

    def _vote(self, neighbours: Neighbours, k: int) -> dict[str, Prediction]:
        shares = np.empty(neighbours.beyond.shape)
        winners = np.empty(len(shares), dtype=np.int64)
        kernels.weighted_vote(k, neighbours.distances, neighbours.codes, neighbours.beyond, shares, winners)
        return {"vote": Prediction(self.classes_, shares, "vote", self.classes_[winners])}
