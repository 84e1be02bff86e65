"""k nearest neighbours with the exact posterior of k, by change points in the labels."""

from confml.methods.change_point_knn.change_point_knn import ChangePointKNN

__all__ = ["ChangePointKNN"]
