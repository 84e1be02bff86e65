"""Kernel classifiers based on the volume of version space, and a kernel support vector machine."""

from confml.methods.version_space.bayes_point_machine import BayesPointMachine
from confml.methods.version_space.bayes_transduction import BayesTransduction
from confml.methods.version_space.kernel_svm import KernelSVM

__all__ = ["BayesPointMachine", "BayesTransduction", "KernelSVM"]
