"""Accuracy-rejection curves: what is gained by holding back the least confident predictions.

Confidence descends; equal confidences form one group that is accepted or rejected together, and curves are
linear inside a group, as the mean over all orders of its rows is. With n predictions of which E are wrong,
``e_k`` is the expected number of errors among the first k, and the rejection rate is 1 - k/n.

Every area is defined here once, because public tools differ and most depend on the order of rows that tie:

- AURC = (1/n) sum_k e_k / k, the mean risk over all coverages;
- E-AURC = AURC - (1/n) sum_{j=1..E} j / (n - E + j), what is above the best possible order (never negative);
- AUGRC = trapezoid of e_k / n over k/n from (0, 0) (Traub et al. 2024) = (1 - AUROC) acc err + err^2 / 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from confml.measures.prediction import Prediction


@dataclass(frozen=True, eq=False)
class RejectionCurve:
    """One accuracy-rejection curve, by groups of equal confidence, the most confident first.

    confidences: (g,) of the groups; accepted, errors: (g + 1,) predictions and errors in the first 0, 1, ...
    g groups. always_accepted: how many predictions no threshold rejects (an envelope of exactly 1);
    points of the curve with fewer accepted ones cannot be had.
    """

    confidences: np.ndarray
    accepted: np.ndarray
    errors: np.ndarray
    always_accepted: int = 0

    @property
    def n(self) -> int:
        return int(self.accepted[-1])

    @property
    def error_rate(self) -> float:
        """Error rate with nothing rejected; NaN for no predictions."""
        return self.errors[-1] / self.n if self.n else float("nan")

    @cached_property
    def expected_errors(self) -> np.ndarray:
        """(n + 1,) e_k for k = 0, 1, ... n."""
        return np.interp(np.arange(self.n + 1), self.accepted, self.errors)

    @property
    def most_rejected(self) -> float:
        """The largest rejection rate of any threshold: below 1 where some are always accepted."""
        return 1.0 - self.always_accepted / self.n if self.n else float("nan")

    # ---- areas

    def aurc(self) -> float:
        """Area under the risk-coverage curve, 0 (best) to 1; NaN for no predictions."""
        return float(np.mean(self.expected_errors[1:] / np.arange(1, self.n + 1))) if self.n else float("nan")

    def e_aurc(self) -> float:
        """AURC less that of the best order of the same predictions (finite form: 0 for a perfect order)."""
        wrong = np.arange(1, int(self.errors[-1]) + 1)
        right = self.n - int(self.errors[-1])
        return self.aurc() - float(np.sum(wrong / (right + wrong))) / self.n if self.n else float("nan")

    def e_aurc_limit(self) -> float:
        """AURC - e - (1 - e) ln(1 - e), the form for large n that papers use; it can fall below 0."""
        e = self.error_rate
        return self.aurc() - e - (0.0 if e == 1.0 else (1.0 - e) * float(np.log1p(-e)))

    def augrc(self) -> float:
        """Area under the generalised risk-coverage curve (errors accepted / n over coverage), 0 to 1/2."""
        if not self.n:
            return float("nan")
        means = 0.5 * (self.errors[1:] + self.errors[:-1])
        return float(np.sum(means * np.diff(self.accepted))) / self.n**2

    def auroc(self) -> float:
        """Probability that a right prediction is more confident than a wrong one, ties counting half.

        NaN where all are right or all wrong.
        """
        wrong = self.errors[-1]
        right = self.n - wrong
        if wrong == 0 or right == 0:
            return float("nan")
        rights = np.diff(self.accepted - self.errors)
        wrongs_after = wrong - 0.5 * (self.errors[1:] + self.errors[:-1])
        return float(np.sum(rights * wrongs_after) / (right * wrong))

    # ---- points

    def errors_at_coverage(self, coverage) -> np.ndarray:
        """Expected errors among the most confident ``coverage`` * n predictions; any shape."""
        return np.interp(np.asarray(coverage, dtype=np.float64) * self.n, self.accepted, self.errors)

    def risk_at_coverage(self, coverage) -> np.ndarray:
        """Share of errors among the accepted at coverage in (0, 1]; NaN at 0."""
        accepted = np.asarray(coverage, dtype=np.float64) * self.n
        errors = self.errors_at_coverage(coverage)
        return np.divide(errors, accepted, out=np.full_like(errors, np.nan), where=accepted > 0)[()]

    def sure_incorrect_at(self, rejection_rate) -> np.ndarray:
        """SURE INCORRECT proportion of all when ``rejection_rate`` of all are UNSURE: the paper's figures."""
        return (self.errors_at_coverage(1.0 - np.asarray(rejection_rate)) / self.n)[()]

    def coverage_at_risk(self, risk: float) -> float:
        """The largest coverage k/n whose accepted have expected risk e_k / k <= ``risk``; NaN if none has.

        It describes these predictions; it promises nothing about others: see `certify`.
        """
        counts = np.arange(1, self.n + 1)
        # e_k is a sum of fractions: 1e-9 of an error is rounding, never a real one.
        reached = np.flatnonzero(self.expected_errors[1:] <= risk * counts + 1e-9)
        return (reached[-1] + 1) / self.n if len(reached) else float("nan")

    def points(self) -> dict[str, np.ndarray]:
        """The attainable points, strictest threshold first, as named columns (CSV, figures).

        threshold (accept confidences at least as large), coverage, unsure, sure_correct, sure_incorrect (of
        all), risk (errors of the accepted; NaN where none is).
        """
        kept = np.flatnonzero(self.accepted >= self.always_accepted)
        accepted, errors = self.accepted[kept], self.errors[kept]
        threshold = np.concatenate([[np.inf], self.confidences])[kept]
        return {
            "threshold": threshold,
            "coverage": accepted / self.n,
            "unsure": 1.0 - accepted / self.n,
            "sure_correct": (accepted - errors) / self.n,
            "sure_incorrect": errors / self.n,
            "risk": np.divide(errors, accepted, out=np.full(len(kept), np.nan), where=accepted > 0),
        }

    def summary(self) -> dict[str, float]:
        """The areas and AUROC by name; ``augrc`` is the one to compare methods by."""
        return {
            "augrc": self.augrc(),
            "aurc": self.aurc(),
            "e_aurc": self.e_aurc(),
            "e_aurc_limit": self.e_aurc_limit(),
            "auroc_correct": self.auroc(),
        }


def rejection_curve(confidence, correct, *, always_accepted_from: float = np.inf) -> RejectionCurve:
    """The curve of n predictions from their confidence (n,) and whether each is correct (n,) bool.

    always_accepted_from: the confidence from which no threshold rejects a prediction. Raises ValueError for
    shapes that do not fit and NaN. Infinite confidences are fine.
    """
    confidence = np.asarray(confidence, dtype=np.float64)
    correct = np.asarray(correct)
    if confidence.ndim != 1 or correct.shape != confidence.shape:
        raise ValueError(
            f"confidence and correct must be (n,) both, got {confidence.shape} and {correct.shape}"
        )
    if np.isnan(confidence).any():
        raise ValueError(f"{np.isnan(confidence).sum()} confidences are NaN: they have no place in an order")
    values, group, sizes = np.unique(confidence, return_inverse=True, return_counts=True)
    wrong = np.bincount(group, weights=~correct.astype(bool), minlength=len(values))
    return RejectionCurve(
        confidences=values[::-1],
        accepted=np.concatenate([[0], np.cumsum(sizes[::-1])]).astype(np.int64),
        errors=np.concatenate([[0.0], np.cumsum(wrong[::-1])]),
        always_accepted=int(np.count_nonzero(confidence >= always_accepted_from)),
    )


def curve_of(prediction: Prediction, truth) -> RejectionCurve:
    """The curve of one view with true labels (n,), by `Prediction.certainty`.

    The thresholds of a posterior are multiples c of its sd: accepted where (mean - t0) / sd >= c.
    An envelope of 1 is accepted at every threshold, which is why envelope curves stop where every
    prediction that is left has all the posterior behind one class.
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
    """Mean and band over splits at common rejection rates in [0, 1].

    what: ``sure_incorrect`` (of all), or ``risk`` (errors of the accepted). NaN at rates that no threshold
    reaches on one of the splits (envelopes of 1 are always accepted), and for the risk of nothing.
    """
    grid = np.asarray(rejection_rates, dtype=np.float64)
    if what not in ("sure_incorrect", "risk"):
        raise ValueError(f"what is sure_incorrect or risk, got {what!r}")
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
    """Proportions of SURE CORRECT, SURE INCORRECT and UNSURE predictions; they add up to 1."""

    correct: float
    incorrect: float
    unsure: float

    def expected_loss(self, loss: Sequence[float] = (-1.0, 2.0, 0.0)) -> float:
        """Mean loss of (correct, incorrect, unsure); by default the paper's example: -1, +2 and 0."""
        return float(np.dot(self, loss))


def sureness(accepted, correct) -> Sureness:
    """Proportions from which predictions are accepted (n,) and which are correct (n,); NaN for n = 0."""
    accepted, correct = np.asarray(accepted, dtype=bool), np.asarray(correct, dtype=bool)
    if not len(accepted):
        return Sureness(float("nan"), float("nan"), float("nan"))
    return Sureness(
        float(np.mean(accepted & correct)), float(np.mean(accepted & ~correct)), float(np.mean(~accepted))
    )


class Match(NamedTuple):
    """The threshold of one method that equals another's SI or SC: see `match`.

    low, high: every threshold in (low, high] accepts the same predictions. exact: whether the two are equal
    or only as near as the groups of equal confidence allow.
    """

    threshold: float
    low: float
    high: float
    sureness: Sureness
    exact: bool


def match(
    curve: RejectionCurve, reference: Sureness, *, by: str = "incorrect", near: float | None = None
) -> Match:
    """The threshold at which a curve has the SURE INCORRECT (or ``correct``) proportion of ``reference``.

    This is how the paper's Table 2 puts methods side by side. Among several thresholds the largest is taken,
    as the paper does for the reject method, or the one nearest to ``near``, as for its posterior method.
    Where the curve jumps over the reference the nearest proportion below it is taken (``exact`` is False).
    """
    if by not in ("incorrect", "correct"):
        raise ValueError(f"by is incorrect or correct, got {by!r}")
    column = curve.errors if by == "incorrect" else curve.accepted - curve.errors
    wanted = getattr(reference, by) * curve.n
    possible = curve.accepted >= curve.always_accepted
    below = np.flatnonzero(possible & (column <= wanted + 1e-6))
    if not len(below):  # more are accepted at every threshold
        below = np.flatnonzero(possible)[:1]
    reached = below[column[below] == column[below].max()]
    edges = np.concatenate([[np.inf], curve.confidences, [-np.inf]])
    low, high = edges[reached + 1], edges[reached]
    thresholds = high
    place = 0  # the fewest accepted: the largest threshold
    if near is not None:
        thresholds = np.clip(near, np.nextafter(low, np.inf), high)
        place = int(np.argmin(np.abs(thresholds - near)))
    point = reached[place]
    found = Sureness(
        float(curve.accepted[point] - curve.errors[point]) / curve.n,
        float(curve.errors[point]) / curve.n,
        1.0 - float(curve.accepted[point]) / curve.n,
    )
    exact = abs(column[point] - wanted) <= 1e-6
    return Match(float(thresholds[place]), float(low[place]), float(high[place]), found, bool(exact))
