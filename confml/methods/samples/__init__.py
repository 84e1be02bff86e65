"""Posterior draws of the class probabilities of any classifier: reject, envelope, posterior, exceedance."""

from confml.methods.samples.samples import Samples

__all__ = ["Samples"]
