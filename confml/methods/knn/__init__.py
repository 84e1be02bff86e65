"""k nearest neighbours, with equal and with distance-weighted votes."""

from confml.methods.knn.knn import KNN
from confml.methods.knn.weighted_knn import WeightedKNN

__all__ = ["KNN", "WeightedKNN"]
