"""Conformal prediction for any classifier, by a calibration part (split) or by folds (cross)."""
