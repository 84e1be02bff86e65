"""Accuracy-rejection and risk-coverage curves of the reject option.

Predictions are sorted by decreasing confidence. Equal confidences form one group that is accepted or rejected
together, and curves are linear inside a group, like the mean over all orders of its rows. With n predictions
of which E are wrong, ``e_k`` is the expected number of errors among the first k, and the rejection rate is
1 - k/n.

Every area is defined here once, because public tools differ and most depend on the order of tied rows:

- AURC (area under the risk-coverage curve) = (1/n) sum_k e_k / k, the mean risk over all coverages;
- AUGRC (area under the generalised risk-coverage curve) = trapezoid of e_k / n over k/n from (0, 0)
  (Traub et al. 2024) = (1 - AUROC) acc err + err^2 / 2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from confml.measures.prediction import Prediction


@dataclass(frozen=True, eq=False)
class RejectionCurve:
    """One accuracy-rejection curve, by groups of equal confidence, the most confident first.

    confidences: (g,) of the groups; accepted, errors: (g + 1,) predictions and errors in the first 0, 1, ...
    g groups. always_accepted: number of predictions that no threshold rejects (an envelope of exactly 1);
    points of the curve with fewer accepted predictions are not attainable.
    """

    confidences: np.ndarray
    accepted: np.ndarray
    errors: np.ndarray
    always_accepted: int = 0

    @property
    def n(self) -> int:
        return int(self.accepted[-1])

    @property
    def most_rejected(self) -> float:
        """Largest rejection rate of any threshold; below 1 if some predictions are always accepted."""
        return 1.0 - self.always_accepted / self.n if self.n else float("nan")

    # ---- areas

    def augrc(self) -> float:
        """Return the area under the generalised risk-coverage curve (errors accepted / n), 0 to 1/2."""
        if not self.n:
            return float("nan")
        return float((self._mean_errors * (self.accepted[1:] - self.accepted[:-1])).sum()) / self.n**2

    @property
    def _mean_errors(self) -> np.ndarray:
        """(g,) errors among the predictions up to the middle of each group."""
        return 0.5 * (self.errors[1:] + self.errors[:-1])

    def aurc(self) -> float:
        """Return the area under the risk-coverage curve, the mean risk over all coverages."""
        if not self.n:
            return float("nan")
        k = np.arange(1, self.n + 1)
        return float((np.interp(k, self.accepted, self.errors) / k).sum()) / self.n

    def auroc(self) -> float:
        """Return the probability that a correct prediction is more confident than a wrong one, ties half.

        NaN if all predictions are correct, or all wrong.
        """
        wrong = self.errors[1:] - self.errors[:-1]
        correct = self.accepted[1:] - self.accepted[:-1] - wrong
        pairs = (self.n - self.errors[-1]) * self.errors[-1]
        less_confident = self.errors[-1] - self._mean_errors
        return float((correct * less_confident).sum() / pairs) if pairs else float("nan")

    # ---- points

    def errors_at_coverage(self, coverage) -> np.ndarray:
        """Return the expected errors among the most confident ``coverage`` * n predictions; any shape."""
        return np.interp(np.asarray(coverage, dtype=np.float64) * self.n, self.accepted, self.errors)

    def risk_at_coverage(self, coverage) -> np.ndarray:
        """Return the selective risk (error rate of the accepted) at coverage in (0, 1]; NaN at 0."""
        accepted = np.asarray(coverage, dtype=np.float64) * self.n
        errors = self.errors_at_coverage(coverage)
        return np.divide(errors, accepted, out=np.full_like(errors, np.nan), where=accepted > 0)[()]

    def sure_incorrect_at(self, rejection_rate) -> np.ndarray:
        """Return the sure-incorrect proportion of all predictions if ``rejection_rate`` of all are unsure."""
        return (self.errors_at_coverage(1.0 - np.asarray(rejection_rate)) / self.n)[()]


def rejection_curve(confidence, correct, *, always_accepted_from: float = np.inf) -> RejectionCurve:
    """Return the curve of n predictions from their confidence (n,) and whether each is correct (n,) bool.

    always_accepted_from: confidence from which no threshold rejects a prediction. Raises ValueError for NaN
    and inconsistent shapes. Infinite confidences are allowed.
    """
    confidence = np.asarray(confidence, dtype=np.float64)
    correct = np.asarray(correct)
    if confidence.ndim != 1 or correct.shape != confidence.shape:
        raise ValueError(
            f"confidence and correct must both have shape (n,), got {confidence.shape} and {correct.shape}"
        )
    if np.isnan(confidence).any():
        raise ValueError(f"{np.isnan(confidence).sum()} confidences are NaN and cannot be sorted")
    order = np.argsort(confidence)[::-1]
    values, wrong = confidence[order], ~correct.astype(bool)[order]
    ends = np.flatnonzero(np.concatenate([values[1:] != values[:-1], [True]])[: len(values)])  # of groups
    return RejectionCurve(
        confidences=values[ends],
        accepted=np.concatenate([[0], ends + 1]),
        errors=np.concatenate([[0.0], np.cumsum(wrong)[ends]]),
        always_accepted=int(np.count_nonzero(confidence >= always_accepted_from)),
    )


def curve_of(prediction: Prediction, truth) -> RejectionCurve:
    """Return the curve of one view with true labels (n,), by `Prediction.certainty`.

    The thresholds of a posterior are multiples c of its sd: accepted if (mean - t0) / sd >= c. An envelope
    of 1 is accepted at every threshold, so envelope curves end where only envelopes of 1 are left.
    """
    top = 1.0 if prediction.kind == "envelope" else np.inf
    return rejection_curve(
        prediction.certainty, prediction.labels == np.asarray(truth), always_accepted_from=top
    )


class CurveBand(NamedTuple):
    """Several curves on one grid (g,): mean, sd (n - 1; NaN for one curve), smallest and largest."""

    grid: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    low: np.ndarray
    high: np.ndarray


def band(curves: Sequence[RejectionCurve], rejection_rates, *, what: str = "sure_incorrect") -> CurveBand:
    """Return mean and band over splits at common rejection rates in [0, 1].

    what: ``sure_incorrect`` (of all), or ``risk`` (of the accepted). NaN at rates that no threshold attains
    on one of the splits (envelopes of 1 are always accepted), and for the risk if nothing is accepted. Raises
    ValueError for another ``what``.
    """
    grid = np.asarray(rejection_rates, dtype=np.float64)
    if what not in ("sure_incorrect", "risk"):
        raise ValueError(f"what must be 'sure_incorrect' or 'risk', got {what!r}")
    if what == "risk":
        values = np.stack([curve.risk_at_coverage(1.0 - grid) for curve in curves])
    else:
        values = np.stack([curve.sure_incorrect_at(grid) for curve in curves])
    reached = np.array([curve.most_rejected for curve in curves])
    values[grid > reached[:, None] + 1e-12] = np.nan
    sd = values.std(axis=0, ddof=1) if len(values) > 1 else np.full(grid.shape, np.nan)
    return CurveBand(grid, values.mean(axis=0), sd, values.min(axis=0), values.max(axis=0))


# ---- sure and unsure


class Sureness(NamedTuple):
    """Proportions of sure correct, sure incorrect and unsure predictions; they add up to 1."""

    correct: float
    incorrect: float
    unsure: float


def sureness(accepted, correct) -> Sureness:
    """Return the proportions from accepted (n,) bool and correct (n,) bool; NaN for n = 0."""
    accepted, correct = np.asarray(accepted, dtype=bool), np.asarray(correct, dtype=bool)
    if not len(accepted):
        return Sureness(float("nan"), float("nan"), float("nan"))
    n, both = len(accepted), int(np.count_nonzero(accepted & correct))
    n_accepted = int(np.count_nonzero(accepted))
    return Sureness(both / n, (n_accepted - both) / n, (n - n_accepted) / n)


class Match(NamedTuple):
    """Threshold of one method with the sure-incorrect or sure-correct proportion of another; see `match`.

    low, high: every threshold in (low, high] accepts the same predictions. exact: whether the proportions are
    equal, or only as close as groups of equal confidence allow.
    """

    threshold: float
    low: float
    high: float
    sureness: Sureness
    exact: bool


def match(
    curve: RejectionCurve, reference: Sureness, *, by: str = "incorrect", near: float | None = None
) -> Match:
    """Return the threshold at which a curve has the sure-incorrect (or correct) proportion of ``reference``.

    The paper's Table 2 compares methods this way. Of several thresholds the largest is returned, as in the
    paper for the reject method, or the one nearest to ``near``, as for its posterior method. If no proportion
    is equal to the reference, the nearest one below it is used (``exact`` is False). Raises ValueError for
    another ``by``.
    """
    if by not in ("incorrect", "correct"):
        raise ValueError(f"by must be 'incorrect' or 'correct', got {by!r}")
    column = curve.errors if by == "incorrect" else curve.accepted - curve.errors
    target = getattr(reference, by) * curve.n
    possible = curve.accepted >= curve.always_accepted
    below = np.flatnonzero(possible & (column <= target + 1e-6))
    if not len(below):  # more are accepted at every threshold
        below = np.flatnonzero(possible)[:1]
    reached = below[column[below] == column[below].max()]
    edges = np.concatenate([[np.inf], curve.confidences, [-np.inf]])
    low, high = edges[reached + 1], edges[reached]
    thresholds = high
    choice = 0  # the fewest accepted: the largest threshold
    if near is not None:
        thresholds = np.clip(near, np.nextafter(low, np.inf), high)
        choice = int(np.argmin(np.abs(thresholds - near)))
    point = reached[choice]
    matched = Sureness(
        float(curve.accepted[point] - curve.errors[point]) / curve.n,
        float(curve.errors[point]) / curve.n,
        1.0 - float(curve.accepted[point]) / curve.n,
    )
    exact = abs(column[point] - target) <= 1e-6
    return Match(float(thresholds[choice]), float(low[choice]), float(high[choice]), matched, bool(exact))
