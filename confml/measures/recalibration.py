"""Calibration of the probability of one event: errors expected by chance, slope and intercept."""

from typing import NamedTuple

import numpy as np

from confml.measures.bins import BINS, Bins, bin_starts
from confml.measures.case import Case

DRAWS = 200
_MOST = 2_000_000  # random numbers per block
_STEPS = 100


class Event(NamedTuple):
    """Probabilities (n,) of one event of each test example, and whether it happened (n,) bool."""

    p: np.ndarray
    happened: np.ndarray


def event_of(case: Case) -> Event:
    """Return the second class of two, and with more classes that the prediction is correct.

    The probability of the latter is the largest one. Labels of absent classes are not the second class.
    """
    scores = case.prediction.scores
    if scores.shape[1] == 2:
        return Event(scores[:, 1], case.true_columns == 1)
    return Event(scores.max(axis=1, initial=0.0), case.correct)


class ChanceErrors(NamedTuple):
    """Expected calibration error of a calibrated predictor: mean and 95 % quantile over random outcomes."""

    mean: float
    quantile: float

    @classmethod
    def of(cls, p: np.ndarray, draws: int = DRAWS, seed: int = 0, bins: int = BINS) -> "ChanceErrors":
        """Return them for probabilities p (n,), n at least 1, and outcomes that are 1 with probability p."""
        rng = np.random.default_rng(seed)
        placed = np.sort(p)
        first = bin_starts(placed, bins)
        expected = np.add.reduceat(placed, first)
        size, errors = max(1, _MOST // len(p)), []
        for start in range(0, draws, size):
            outcomes = rng.random((min(size, draws - start), len(p))) < placed
            sums = np.add.reduceat(outcomes, first, axis=1, dtype=np.int64)
            errors.append(np.abs(sums - expected).sum(axis=1) / len(p))
        found = np.concatenate(errors)
        return cls(float(found.mean()), float(np.quantile(found, 0.95)))


class Slope(NamedTuple):
    """Logistic regression of outcomes on logit p: ``P(outcome) = a + b logit p`` on the logit scale.

    slope: b, below 1 for overconfident probabilities. intercept: a. in_the_large: a with b = 1. clipped:
    number of p moved to 1/(2n) or 1 - 1/(2n). NaN where all outcomes are equal, or p separates them.
    """

    slope: float
    intercept: float
    in_the_large: float
    clipped: int

    @classmethod
    def of(cls, p: np.ndarray, happened: np.ndarray) -> "Slope":
        """Return the maximum likelihood fit for probabilities p (n,) and outcomes (n,) bool."""
        nan, n = float("nan"), len(p)
        edge = 1 / (2 * n) if n else 0.5
        inside = np.clip(p, edge, 1 - edge)
        clipped = int(np.count_nonzero(inside != p))
        if n == 0 or happened.all() or not happened.any():
            return cls(nan, nan, nan, clipped)
        x = np.log(inside) - np.log1p(-inside)
        large = _fit(np.ones((n, 1)), x, happened)[0]
        yes, no = x[happened], x[~happened]
        if yes.min() >= no.max() or no.min() >= yes.max():
            return cls(nan, nan, float(large), clipped)
        intercept, slope = _fit(np.stack([np.ones(n), x], axis=1), np.zeros(n), happened)
        return cls(float(slope), float(intercept), float(large), clipped)


def _fit(X: np.ndarray, offset: np.ndarray, happened: np.ndarray) -> np.ndarray:
    """Return the coefficients (w,) of logistic regression on X (n, w), by Newton's method."""
    weights = np.zeros(X.shape[1])

    def loss(w: np.ndarray) -> float:
        z = offset + X @ w
        return float(np.logaddexp(0.0, np.where(happened, -z, z)).sum())

    current = loss(weights)
    for _ in range(_STEPS):
        z = offset + X @ weights
        chance = 0.5 * (1 + np.tanh(z / 2))
        gradient = X.T @ (chance - happened)
        hessian = (X * (chance * (1 - chance))[:, None]).T @ X
        step = np.linalg.lstsq(hessian, gradient, rcond=None)[0]
        length = 1.0
        while length > 1e-9 and loss(weights - length * step) > current:
            length /= 2
        weights = weights - length * step
        last, current = current, loss(weights)
        if last - current <= 1e-13 * max(abs(current), 1.0) and np.abs(length * step).max() < 1e-9:
            break
    return weights


def split_values(case: Case) -> dict[str, float]:
    """Return ece, ece_null, ece_null_95, slope, intercept, intercept_large and clipped of one split.

    NaN without test examples.
    """
    event = event_of(case)
    scores = case.prediction.scores
    if len(scores) == 0 or np.isnan(scores).any():
        names = ("ece", "ece_null", "ece_null_95", "slope", "intercept", "intercept_large", "clipped")
        return dict.fromkeys(names, float("nan"))
    confidence = scores.max(axis=1)
    chance = ChanceErrors.of(confidence)
    slope = Slope.of(event.p, event.happened)
    return {
        "ece": Bins.of(confidence, case.correct).error,
        "ece_null": chance.mean,
        "ece_null_95": chance.quantile,
        "slope": slope.slope,
        "intercept": slope.intercept,
        "intercept_large": slope.in_the_large,
        "clipped": float(slope.clipped),
    }
