"""Posterior draws of the class probabilities of any classifier: reject, envelope, posterior, exceedance."""
