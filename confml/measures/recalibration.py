"""Calibration of the probability of one event: errors expected by chance, slope and intercept."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from confml.measures.bins import Bins, bin_starts
from confml.measures.case import Case

DRAWS = 200
_MOST = 2_000_000  # random numbers per block
_STEPS = 100
SMALLEST_STEP = 1e-9
"""The last step of a fit is smaller than this for every coefficient."""
_RANK = 2 * np.finfo(np.float64).eps  # singular values relative to the largest one


class Event(NamedTuple):
    """Probabilities (n,) of one event of each test example, and whether it happened (n,) bool."""

    p: np.ndarray
    happened: np.ndarray


def event_of(case: Case) -> Event:
    """Return the event "second class" with two classes, and "the prediction is correct" with more.

    The probability of the latter is the largest one of each example. Labels of absent classes are not the
    second class.
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
    def of(cls, p: np.ndarray, draws: int = DRAWS, seed: int = 0) -> "list[ChanceErrors]":
        """Return the errors of s parts with probabilities p (s, n) of the outcome 1, n at least 1.

        All parts get the same random numbers.
        """
        rng = np.random.default_rng(seed)
        ascending, n = np.sort(p, axis=1), p.shape[1]
        starts = [bin_starts(row) for row in ascending]
        first = np.concatenate([start + n * number for number, start in enumerate(starts)])
        ends = np.cumsum(list(map(len, starts)))[:-1]
        expected = np.add.reduceat(ascending.ravel(), first)
        size, blocks = max(1, _MOST // ascending.size), []
        for start in range(0, draws, size):
            outcomes = rng.random((min(size, draws - start), 1, n)) < ascending
            sums = np.add.reduceat(outcomes.reshape(-1, ascending.size), first, axis=1, dtype=np.int64)
            gaps = np.abs(sums - expected)
            blocks.append([part.sum(axis=1) / n for part in np.split(gaps, ends, axis=1)])
        errors = np.concatenate(blocks, axis=1)
        quantiles = np.quantile(errors, 0.95, axis=1)
        return [
            cls(*summary) for summary in zip(errors.mean(axis=1).tolist(), quantiles.tolist(), strict=True)
        ]


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
    def of(cls, p: np.ndarray, happened: np.ndarray) -> "list[Slope]":
        """Return the maximum likelihood fits for s parts with probabilities and outcomes (s, n)."""
        n = p.shape[1]
        edge = 1 / (2 * n) if n else 0.5
        inside = np.clip(p, edge, 1 - edge)
        clipped = np.count_nonzero(inside != p, axis=1)
        coefficients = np.full((3, len(p)), np.nan)
        mixed = np.flatnonzero(happened.any(axis=1) & ~happened.all(axis=1))
        x = np.log(inside) - np.log1p(-inside)
        constant = np.ones((len(p), n, 1))
        coefficients[2:, mixed] = _fit(constant[mixed], x[mixed], happened[mixed]).T
        ends = [
            end(np.where(happened == outcome, x, fill), axis=1, initial=fill)
            for outcome in (True, False)
            for end, fill in ((np.min, np.inf), (np.max, -np.inf))
        ]
        overlap = mixed[((ends[0] < ends[3]) & (ends[2] < ends[1]))[mixed]]
        X = np.concatenate([x[overlap, :, None], constant[overlap]], axis=2)
        coefficients[:2, overlap] = _fit(X, np.zeros((len(overlap), n)), happened[overlap]).T
        return [cls(*values) for values in zip(*coefficients.tolist(), clipped.tolist(), strict=True)]


def _fit(X: np.ndarray, offset: np.ndarray, happened: np.ndarray) -> np.ndarray:
    """Return the coefficients (s, w) of s logistic regressions on X (s, n, w), by Newton's method."""
    coefficients = np.zeros((len(X), X.shape[2]))
    unconverged = np.arange(len(X))  # whose steps are not small yet
    signs = np.where(happened, -1.0, 1.0)

    def loss(weights: np.ndarray) -> np.ndarray:
        z = offset + (X @ weights[:, :, None])[:, :, 0]
        return np.logaddexp(0.0, signs * z).sum(axis=1)

    weights, current = coefficients.copy(), loss(coefficients)
    for _ in range(_STEPS if len(X) else 0):
        chance = 0.5 * (1 + np.tanh((offset + (X @ weights[:, :, None])[:, :, 0]) / 2))
        gradient = X.swapaxes(1, 2) @ (chance - happened)[:, :, None]
        hessian = (X * (chance * (1 - chance))[:, :, None]).swapaxes(1, 2) @ X
        step = (np.linalg.pinv(hessian, rcond=_RANK, hermitian=True) @ gradient)[:, :, 0]
        length = np.ones((len(X), 1))
        while (longer := (loss(weights - length * step) > current) & (length[:, 0] > 1e-9)).any():
            length[longer] /= 2
        weights = weights - length * step
        last, current = current, loss(weights)
        small = last - current <= 1e-13 * np.maximum(np.abs(current), 1.0)
        remaining = ~(small & (np.abs(length * step).max(axis=1) < SMALLEST_STEP))
        coefficients[unconverged] = weights
        if not remaining.any():
            break
        unconverged, weights, current = unconverged[remaining], weights[remaining], current[remaining]
        X, offset, happened, signs = X[remaining], offset[remaining], happened[remaining], signs[remaining]
    return coefficients


class Sample(NamedTuple):
    """Test examples of one split: the largest probability (n,), whether the prediction is correct (n,), and
    the event whose calibration is measured."""

    confidence: np.ndarray
    correct: np.ndarray
    event: Event

    @classmethod
    def of(cls, case: Case) -> "Sample":
        return cls(case.prediction.scores.max(axis=1, initial=0.0), case.correct, event_of(case))


def split_values(samples: Sequence[Sample]) -> list[dict[str, float]]:
    """Return ece, ece_null, ece_null_95, slope, intercept, intercept_large and clipped of each split.

    NaN without test examples, or with a NaN.
    """
    names = ("ece", "ece_null", "ece_null_95", "slope", "intercept", "intercept_large", "clipped")
    values = [dict.fromkeys(names, float("nan")) for _ in samples]
    by_size: dict[int, list[int]] = {}
    for number, sample in enumerate(samples):
        if len(sample.confidence) and not np.isnan(sample.confidence).any():
            by_size.setdefault(len(sample.confidence), []).append(number)
    for numbers in by_size.values():
        group = [samples[number] for number in numbers]
        chances = ChanceErrors.of(np.stack([sample.confidence for sample in group]))
        slopes = Slope.of(
            np.stack([sample.event.p for sample in group]),
            np.stack([sample.event.happened for sample in group]),
        )
        for number, sample, chance, slope in zip(numbers, group, chances, slopes, strict=True):
            error = Bins.of(sample.confidence, sample.correct).error
            values[number] = dict(zip(names, (error, *chance, *slope), strict=True))
    return values
