"""Error against rejection rate over common thresholds: Bayesian transduction and support vector machines.

Graepel, Herbrich and Obermayer, "Bayesian transduction", NIPS 12, section 4. A threshold theta on the
confidence, which is 2 max(p) - 1 of Bayesian transduction (equation 7) and |f| of a support vector machine,
rejects the examples below it.
"""

import math
from collections.abc import Mapping
from functools import cached_property

import numpy as np

from confml.measures.rejection import RejectionCurve, rejection_curve
from confml.report.numbers.variant_numbers import VariantNumbers

VOLUMES, MACHINES, POINTS = "bayes-transduction", "kernel-svm", "bayes-point-machine"
RATES = (0.0, 0.1, 0.2, 0.4)  # rejection rates of the errors in tables
ERROR = 0.023  # error at which rejection rates are compared, as in the paper
THRESHOLDS = np.unique(np.concatenate([np.linspace(0, 1, 17), 1 - np.logspace(-3.5, -1.5, 5)]))


class ThresholdCurve(VariantNumbers):
    """Confidence (n,) and correctness (n,) of one view on each split; thresholds up to ``top``."""

    def start(self, options):
        self.confidence: list[np.ndarray] = []
        self.correct: list[np.ndarray] = []
        self.top = math.inf

    @classmethod
    def takes(cls, result, case):
        return result.cell.method in (VOLUMES, MACHINES, POINTS)

    def add(self, result, view, case):
        prediction = case.prediction
        volume = result.cell.method == VOLUMES
        self.top = 1.0 if volume else math.inf
        self.confidence.append(2.0 * prediction.confidence - 1.0 if volume else prediction.confidence)
        self.correct.append(case.correct)

    def at(self, theta: float) -> tuple[np.ndarray, np.ndarray]:
        """Return (splits,) rejection rates and (splits,) errors of the accepted, NaN if none is accepted."""
        kept = [confidence >= theta for confidence in self.confidence]
        rejected = np.array([1.0 - np.mean(one) for one in kept])
        errors = [
            1.0 - np.mean(correct[one]) if one.any() else np.nan
            for correct, one in zip(self.correct, kept, strict=True)
        ]
        return rejected, np.array(errors)

    def rejected(self, theta: float) -> float:
        """Return the mean rejection rate at a threshold."""
        return float(np.mean(self.at(theta)[0]))

    @cached_property
    def points(self) -> np.ndarray:
        """(points, 4) mean rejection rate, mean error and their standard errors, over the thresholds."""
        rows = []
        for theta in THRESHOLDS * self.top:
            rejected, errors = self.at(theta)
            if not np.isnan(errors).all():
                rows.append([*_mean_and_error(rejected), *_mean_and_error(errors[~np.isnan(errors)])])
        return np.array(rows)[:, [0, 2, 1, 3]]

    @cached_property
    def curves(self) -> list[RejectionCurve]:
        return [rejection_curve(*pair) for pair in zip(self.confidence, self.correct, strict=True)]

    def rejection_at_error(self, error: float) -> float:
        """Return the smallest mean rejection rate of the curve at a mean error of ``error``, or NaN."""
        x, y = self.points[:, 0], self.points[:, 1]
        for place in np.flatnonzero(y <= error):
            if place == 0:
                return float(x[0])
            share = (y[place - 1] - error) / (y[place - 1] - y[place])
            return float(x[place - 1] + share * (x[place] - x[place - 1]))
        return float("nan")


def _mean_and_error(values: np.ndarray) -> tuple[float, float]:
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return float(values.mean()), float(error)


def limit_machines(volumes: Mapping[str, ThresholdCurve], machines: Mapping[str, ThresholdCurve]) -> None:
    """Set the largest threshold of each machine to its theta_max.

    There it rejects as many as the first transduction does at theta = 1.
    """
    rates = [volume.rejected(1.0) for volume in volumes.values()]
    for machine in machines.values():
        machine.top = theta_max(machine, rates[0]) if rates else math.inf


def theta_max(machine: ThresholdCurve, rate: float) -> float:
    """Return the threshold at which a machine rejects a share ``rate`` on average."""
    values = np.sort(np.concatenate(machine.confidence))
    low, high = 0, len(values) - 1
    while low < high:  # the rejection rate increases with the threshold
        middle = (low + high) // 2
        low, high = (low, middle) if machine.rejected(values[middle]) >= rate else (middle + 1, high)
    return float(values[low])
