"""Venn-Abers prediction for any classifier: probabilities with lower and upper bounds."""
