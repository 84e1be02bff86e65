"""Linear and polynomial classifiers with one model per class."""

from confml.methods.linear.linear_svm import LinearSVM
from confml.methods.linear.perceptron import Perceptron
from confml.methods.linear.polynomial import Polynomial
from confml.methods.linear.winnow import Winnow

__all__ = ["LinearSVM", "Perceptron", "Polynomial", "Winnow"]
