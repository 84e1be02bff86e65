"""Conformal prediction for any classifier, from a calibration part, folds or out-of-bag rows."""

from confml.methods.conformal.conformal import Conformal

__all__ = ["Conformal"]
