"""Distribution of the coverage of valid p-values on one test part, and its band."""

import functools
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from confml.measures.case import Case
from confml.measures.distributions import beta_binomial_pmf, binomial_pmf
from confml.measures.p_values import has_several_divisions

PROBABILITY = 0.95


@functools.lru_cache(maxsize=512)
def covered_probabilities(rows: int, counted: int | None, level: float, smoothed: bool = False) -> np.ndarray:
    """Return the probabilities (rows + 1,) that regions at ``level`` hold 0, 1, ... of ``rows`` true labels.

    The p-values are ranks among ``counted`` - 1 calibration examples, all exchangeable and without ties.
    Given the calibration examples, the probability of an error has the distribution Beta(l, counted - l),
    where l is the number of p-values of ``counted`` that are at most the level. Errors are therefore
    beta-binomial (Vovk 2012, Conditional validity of inductive conformal predictors). smoothed: l =
    level * counted, exact if that is a whole number. counted: None for an online pass, whose errors are
    independent and therefore binomial.
    """
    k = np.arange(rows + 1)
    errors = 0.0 if counted is None else level * counted if smoothed else _ranks_at_most(level, counted)
    if counted is None:
        probabilities = binomial_pmf(k, rows, 1 - level)
    elif not 0 < errors < counted:
        probabilities = (k == (0 if errors >= counted else rows)).astype(np.float64)
    else:
        probabilities = beta_binomial_pmf(k, rows, counted - errors, errors)
    probabilities.flags.writeable = False  # it is kept
    return probabilities


def coverage_band(
    parts: Iterable[tuple[int, int | None]],
    level: float,
    smoothed: bool = False,
    probability: float = PROBABILITY,
) -> tuple[float, float]:
    """Return the quantiles between which the coverage of valid p-values lies with ``probability``.

    parts: (rows, counted) for each group of test examples whose p-values are computed from the same examples,
    as `covered_probabilities` takes them: one part, or one for each class where p-values are
    label-conditional. Exact for split conformal prediction without ties on one split. Approximate for
    transductive and cross-conformal p-values: examples that are each other's neighbours have similar scores,
    so that TCM-NN leaves the band in 6 to 11 % of the splits with k = 1 and 60 to 200 training examples, and
    in 3 to 7 % with k = 10 (``make validity``). p-values with ties and without smoothing cover more. The mean
    over several splits varies less. (NaN, NaN) where a part has no calibration examples at all, no rows, or
    weighted p-values.
    """
    masses = covered_by_parts(parts, level, smoothed)
    if masses is None:
        return math.nan, math.nan
    reached = np.cumsum(masses)
    tail = (1 - probability) / 2
    # Sums of probabilities carry rounding errors, far below any tail.
    ends = np.searchsorted(reached, [tail + 1e-12, 1 - tail - 1e-9])
    low, high = np.minimum(ends, len(masses) - 1) / (len(masses) - 1)
    return float(low), float(high)


def covered_by_parts(
    parts: Iterable[tuple[int, int | None]], level: float, smoothed: bool = False
) -> np.ndarray | None:
    """Return the probabilities that regions hold 0, 1, ... true labels of all parts of `coverage_band`.

    None where a part has no calibration examples at all, or no rows.
    """
    parts = list(parts)
    if not sum(rows for rows, _ in parts) or any(counted == 0 for _, counted in parts):
        return None
    probabilities = np.ones(1)
    for rows, counted in parts:
        probabilities = _convolved(probabilities, covered_probabilities(rows, counted, level, smoothed))
    return probabilities


def _convolved(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the distribution of a sum of two numbers, as `scipy.signal.fftconvolve` computes it."""
    from scipy.fft import irfft, next_fast_len, rfft

    if len(first) == 1 or len(second) == 1:
        return first * second
    size = len(first) + len(second) - 1
    padded = next_fast_len(size, real=True)
    return irfft(rfft(first, padded) * rfft(second, padded), padded)[:size]


def _ranks_at_most(level: float, counted: int) -> int:
    """Return how many of 1/counted, 2/counted, ... are at most ``level``, divided as p-values are."""
    ranks = math.floor(level * counted)
    while ranks < counted and (ranks + 1) / counted <= level:
        ranks += 1
    while ranks and ranks / counted > level:
        ranks -= 1
    return ranks


def _groups(case: Case, by_class: bool) -> np.ndarray:
    """Return (n,) codes, equal for the test examples of one group of ``by``, and with ``by_class`` of one
    class."""
    groups = case.prediction.extra.get("group", np.zeros((len(case.truth), 1), dtype=np.int64))[:, 0]
    if not by_class:
        return groups
    labels, codes = case.labels
    return (groups - groups.min(initial=0)) * len(labels) + codes


def calibration_parts(case: Case) -> tuple[tuple[int, int | None], ...]:
    """Return (rows, counted) of the rows of each group of ``by`` and class, without absent classes.

    Empty, for no verdict, where groups of several divisions overlap: their errors are not independent.
    """
    counted = case.counted
    if has_several_divisions(case.prediction):
        return ()
    if counted is None:
        return ((int(case.known.sum()), None),)
    groups, counted = _groups(case, case.is_label_conditional)[case.known], counted[case.known]
    return tuple(
        (int(np.count_nonzero(groups == code)), int(counted[groups == code].min()))
        for code in np.unique(groups).tolist()
    )


def class_parts(case: Case) -> dict[Any, tuple[tuple[int, int | None], ...]]:
    """Return `calibration_parts` of the rows of each class that is not absent from training.

    The rows of a class that is as hard as the others have the errors of exchangeable rows.
    """
    labels, counted, pairs = case.labels[0], case.counted, _groups(case, True)
    parts: dict[Any, list[tuple[int, int | None]]] = {}
    for pair in np.unique(pairs[case.known]).tolist():
        rows = case.known & (pairs == pair)
        fewest = None if counted is None else int(counted[rows].min())
        parts.setdefault(labels[pair % len(labels)].item(), []).append((int(rows.sum()), fewest))
    return {label: tuple(of_class) for label, of_class in parts.items()}
