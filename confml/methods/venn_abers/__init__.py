"""Venn-Abers prediction for any classifier: probabilities with lower and upper bounds."""

from confml.methods.venn_abers.venn_abers import VennAbers

__all__ = ["VennAbers"]
