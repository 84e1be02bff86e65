"""Conformal prediction for any classifier, from a calibration part (split) or from folds (cross)."""

from confml.methods.conformal.conformal import Conformal

__all__ = ["Conformal"]
