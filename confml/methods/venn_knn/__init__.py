"""k-NN Venn predictor: probabilities with bounds from the categories of nearest neighbours."""

from confml.methods.venn_knn.venn_knn import VennKNN

__all__ = ["VennKNN"]
