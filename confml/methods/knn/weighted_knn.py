"""`weighted-knn`: k nearest neighbours with distance-weighted votes."""

from collections.abc import Sequence

import numpy as np

from confml.measures.prediction import Prediction
from confml.methods.knn import _kernels as kernels
from confml.methods.knn.knn import DISTANCE_PARAMETERS, KNN
from confml.methods.nominal import NOMINAL
from confml.neighbours.nearest_rows import Neighbours
from confml.plugins.parameters import Integer


class WeightedKNN(KNN):
    """Weighted vote of the k nearest training examples, the i-th with weight (d_k - d_i) / (d_k - d_1).

    View ``vote``: the share of each class in the sum of the weights (eq. 3.4). The weight is 1 for the
    nearest example and 0 for the k-th. If all k are at one distance, all weights are 1, and all training
    examples at that distance count equally. With fewer than k training examples, k is their number.

    Notes
    -----
    Equal votes: the class whose voters have the smaller sum of distances; then the first class in sorted
    order. Distances, scales and nominal features are those of `knn`.

    References
    ----------
    Dudani, The distance-weighted k-nearest-neighbor rule (1976); Kubat, An Introduction to Machine
    Learning (2015), section 3.5.
    """

    name = "weighted-knn"
    example = "k=2"
    version = 2
    parameters = {
        "k": Integer("number of nearest training examples that vote, the last one with weight 0", low=1),
        "nominal": NOMINAL,
        **DISTANCE_PARAMETERS,
    }

    def __init__(
        self,
        k: int = 5,
        nominal: str | Sequence[int] = "auto",
        distance: str = "euclidean",
        power: float | str = 2.0,
    ):
        super().__init__(k, nominal, distance, power)

    def _vote(self, neighbours: Neighbours, settings: KNN) -> dict[str, Prediction]:
        shares = np.empty(neighbours.beyond.shape)
        winners = np.empty(len(shares), dtype=np.int64)
        kernels.weighted_vote(
            settings.k, neighbours.distances, neighbours.codes, neighbours.beyond, shares, winners
        )
        return {"vote": Prediction(self.classes_, shares, "vote", self.classes_[winners])}
