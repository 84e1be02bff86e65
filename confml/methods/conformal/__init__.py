"""Conformal prediction for any classifier, from a calibration part, folds or out-of-bag rows."""
