"""`Shifted`: the part of `Conformal` that weights calibration examples for another distribution."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from confml.methods.conformal.calibrated import CalibratedMethod
from confml.methods.details import FitDetails
from confml.methods.label_shift import bbse_intervals
from confml.methods.shift import COVARIATE, ShiftWeights, covariate_weights, label_weights

CLASS_SHIFT = "class_shift"  # in the details of a fit


class CalibrationPart(NamedTuple):
    """The calibration part with what weights need.

    X: (m, d) training examples before the steps, for ``covariate``, else empty. rows, codes, predicted: (k,)
    rows, class codes and predicted classes of the calibration part.
    """

    X: np.ndarray
    rows: np.ndarray
    codes: np.ndarray
    predicted: np.ndarray


class Shifted(CalibratedMethod):
    """A calibrated method with the parameter ``shift`` of `Conformal`."""

    shift: str | None
    calibration_: CalibrationPart
    shift_inputs_: tuple[Any, ...]  # of the intervals of the class frequencies
    shift_metrics_: dict[str, float]

    @property
    def fit_details_(self) -> FitDetails:
        """Those of the calibrated classifier, and with label shift the frequencies of the classes."""
        details, given = super().fit_details_, getattr(self, "shift_inputs_", None)
        if given is None:
            return details
        frequencies = bbse_intervals(*given).rows(self.classes_)
        return replace(details, other={**details.other, CLASS_SHIFT: frequencies})

    def _shift_weights(self, X: np.ndarray, scores: np.ndarray) -> ShiftWeights:
        """Return the weights for the test examples X (n, d) with nonconformity scores (n, c)."""
        part = self.calibration_
        if self.shift == COVARIATE:
            weights = covariate_weights(part.X, X, part.rows)
        else:
            predicted = part.predicted, part.codes, scores.argmin(axis=1), len(self.classes_)
            weights = label_weights(*predicted)
            self.shift_inputs_ = predicted
        self.shift_metrics_ = weights.metrics
        return weights
