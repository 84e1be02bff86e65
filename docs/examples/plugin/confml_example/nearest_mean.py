"""Classifier of the nearest class mean."""

from typing import ClassVar

import numpy as np

from confml.measures import Prediction
from confml.methods.base import Method
from confml.plugins.parameters import Integer


class NearestMean(Method):
    """Predict the class with the nearest mean; the margin is minus the distance."""

    name: ClassVar = "nearest-mean"
    views: ClassVar = ("margin",)
    parameters: ClassVar = {"power": Integer("power of the differences in the distance", low=1)}

    def __init__(self, power: int = 2):
        self.power = power

    def fit(self, X, y):
        X, codes = self.check_fit_data(X, y)  # sets classes_
        self.means_ = np.stack([X[codes == code].mean(axis=0) for code in range(len(self.classes_))])
        return self

    def confident_predict(self, X, rng=None):
        X = self.check_predict_data(X)
        distances = np.sum(np.abs(X[:, None] - self.means_) ** self.power, axis=2) ** (1 / self.power)
        return {"margin": Prediction(self.classes_, -distances, "margin")}
