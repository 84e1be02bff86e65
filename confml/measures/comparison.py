"""Comparison of two methods on the same splits of one data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from confml.measures.distributions import student_quantile, student_sf
from confml.measures.rejection import RejectionCurve


@dataclass(frozen=True)
class PairedComparison:
    """Mean difference of J paired values and its corrected t test.

    difference: mean; sd: of the differences (J - 1); t, degrees of freedom and two-sided p_value of the
    corrected test; low, high: interval at ``confidence`` (0.95). NaN if they are undefined for J = 1.
    """

    difference: float
    sd: float
    t: float
    degrees: int
    p_value: float
    low: float
    high: float
    confidence: float = 0.95


def corrected_t(
    differences, train_rows: float, test_rows: float, confidence: float = 0.95
) -> PairedComparison:
    """Return Nadeau and Bengio's corrected resampled t test of differences (J,) over J random splits.

    train_rows, test_rows: rows of the parts of a split, including those that steps remove from training.
    ``t = mean / sqrt((1/J + test_rows/train_rows) s^2)`` with J - 1 degrees of freedom. Training parts of
    different splits overlap, so the plain t test has a type I error of 59 % at 20 holdouts; the corrected
    test has 6 %. If all differences are equal, p is 1 if they are 0 and 0 otherwise.
    """
    differences = np.asarray(differences, dtype=np.float64)
    if differences.ndim != 1 or not len(differences):
        raise ValueError(f"differences must be a nonempty list of numbers, got shape {differences.shape}")
    if train_rows <= 0 or test_rows <= 0:
        raise ValueError("train_rows and test_rows must be above 0")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must be above 0 and below 1, got {confidence}")
    count, mean = len(differences), float(differences.mean())
    if count == 1:
        nan = float("nan")
        return PairedComparison(mean, nan, nan, 0, nan, nan, nan, confidence)
    sd = float(differences.std(ddof=1))
    if sd <= 1e-12 * np.abs(differences).max():
        sd = 0.0  # equal but for rounding
    error = sd * float(np.sqrt(1.0 / count + test_rows / train_rows))
    if error == 0.0:
        t = 0.0 if mean == 0.0 else float(np.copysign(np.inf, mean))
    else:
        t = mean / error
    p_value = float(2.0 * student_sf(abs(t), count - 1))
    half = float(student_quantile(0.5 + 0.5 * confidence, count - 1)) * error
    return PairedComparison(mean, sd, t, count - 1, p_value, mean - half, mean + half, confidence)


class CurveDifference(NamedTuple):
    """Difference of the curves of two methods on the same splits, first minus second (below 0: first better).

    grid: (g,) rejection rates; difference, low, high: (g,) mean difference of sure-incorrect proportions and
    its corrected interval at each rate (not simultaneous); augrc: comparison of the areas, the test to quote.
    """

    grid: np.ndarray
    difference: np.ndarray
    low: np.ndarray
    high: np.ndarray
    augrc: PairedComparison


def curve_difference(
    first: Sequence[RejectionCurve],
    second: Sequence[RejectionCurve],
    rejection_rates,
    train_rows: float,
    test_rows: float,
    confidence: float = 0.95,
) -> CurveDifference:
    """Return the paired difference of curves; first[i] and second[i] must be of the same split.

    NaN at rejection rates that one of the curves cannot attain (envelopes of 1 are always accepted).
    """
    if len(first) != len(second) or not len(first):
        raise ValueError(f"curves must come in pairs, got {len(first)} and {len(second)}")
    grid = np.asarray(rejection_rates, dtype=np.float64)
    gaps = np.stack(
        [a.sure_incorrect_at(grid) - b.sure_incorrect_at(grid) for a, b in zip(first, second, strict=True)]
    )
    reached = [min(a.most_rejected, b.most_rejected) for a, b in zip(first, second, strict=True)]
    gaps[grid > np.array(reached)[:, None] + 1e-12] = np.nan
    points = [corrected_t(column, train_rows, test_rows, confidence) for column in gaps.T]
    areas = [a.augrc() - b.augrc() for a, b in zip(first, second, strict=True)]
    return CurveDifference(
        grid,
        gaps.mean(axis=0),
        np.array([point.low for point in points]),
        np.array([point.high for point in points]),
        corrected_t(areas, train_rows, test_rows, confidence),
    )
