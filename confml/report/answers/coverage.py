"""Verdicts on coverage: whether regions are shown to contain the true label too rarely.

Where p-values promise a coverage, the errors of a split are beta-binomial. Given the data set, random splits
are independent and each keeps the promise, so that overlapping splits need no correction.
"""

import functools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from confml.measures.coverage_band import covered_probabilities
from confml.measures.distributions import binomial_cdf, student_sf
from confml.measures.ranks import holm
from confml.report.answers.differences import POWER_QUANTILE, SplitLosses, differences

SHOWN = 0.01
"""A coverage is shown to be too low at this p-value, corrected by Holm over the data sets of a method."""


class SplitErrors(NamedTuple):
    """Errors of the regions of one split at a level.

    errors: number of true labels outside their region, without absent classes. parts: (rows, counted) of the
    rows whose p-values are counted among the same examples, as `coverage_band` takes them; None where no
    coverage is promised. missed: losses of 0 and 1 of all rows, for these.
    """

    errors: int
    parts: tuple[tuple[int, int | None], ...] | None
    smoothed: bool
    missed: SplitLosses | None


def p_value(splits: Sequence[SplitErrors], level: float) -> float:
    """Return the probability of so many errors or more if the coverage is 1 - level; NaN without a verdict.

    Promised: under the convolution of the distributions of all splits and classes. Not promised: binomial on
    one split; on several the one-sided t test of the rows, each row once.
    """
    if any(split.parts is None for split in splits):
        missed = [split.missed for split in splits if split.missed is not None and len(split.missed.rows)]
        return _p_value_of_rows(missed, level) if len(missed) == len(splits) else math.nan
    probabilities = _error_probabilities(splits, level)
    if probabilities is None:
        return math.nan
    errors = sum(split.errors for split in splits)
    return float(min(max(probabilities[errors:].sum(), 0.0), 1.0))


def shortfall(splits: Sequence[SplitErrors], level: float) -> float:
    """Return by how much the coverage must be below 1 - level to be shown too low (power 80 %), about.

    NaN where no coverage is promised.
    """
    probabilities = _error_probabilities(splits, level)
    if probabilities is None:
        return math.nan
    numbers = np.arange(len(probabilities))
    mean = float(probabilities @ numbers)
    sd = math.sqrt(max(float(probabilities @ (numbers - mean) ** 2), 0.0))
    tails = np.cumsum(probabilities[::-1])[::-1]
    critical = int(np.argmax(tails <= SHOWN)) if (tails <= SHOWN).any() else len(probabilities)
    return (critical - mean + POWER_QUANTILE * sd) / (len(probabilities) - 1)


def _error_probabilities(splits: Sequence[SplitErrors], level: float) -> np.ndarray | None:
    """Return the probabilities of 0, 1, ... errors on all splits if the coverage is 1 - level.

    None where no coverage is promised, without rows, and without calibration rows.
    """
    parts = Counter(part for split in splits for part in split.parts or () if part[0])
    if not parts or any(split.parts is None for split in splits) or any(n == 0 for _, n in parts):
        return None
    return _convolved(tuple(sorted(parts.items(), key=repr)), level, any(split.smoothed for split in splits))


@functools.lru_cache(maxsize=512)
def _convolved(
    parts: tuple[tuple[tuple[int, int | None], int], ...], level: float, smoothed: bool
) -> np.ndarray:
    """Return the probabilities of 0, 1, ... errors in all parts; each part with its number of occurrences."""
    from scipy.fft import irfft, next_fast_len, rfft

    rows = sum(part[0] * times for part, times in parts)
    size = next_fast_len(rows + 1, real=True)
    product = np.ones(size // 2 + 1, dtype=complex)
    for (part_rows, counted), times in parts:
        product *= rfft(covered_probabilities(part_rows, counted, level, smoothed)[::-1], size) ** times
    return np.maximum(irfft(product, size)[: rows + 1], 0.0)


def _p_value_of_rows(splits: Sequence[SplitLosses], level: float) -> float:
    """Return the p-value of so many errors of the test rows, without a promise."""
    if len(splits) == 1:
        errors, n = int(splits[0].values.sum()), len(splits[0].values)
        return 1.0 if errors == 0 else float(1 - binomial_cdf(errors - 1, n, level))
    numbers = np.unique(np.concatenate([split.rows for split in splits]))
    x, gaps = np.zeros(len(numbers)), []
    for split in splits:
        gap = split.values - level
        x[np.searchsorted(numbers, split.rows)] += gap / (len(gap) * len(splits))
        gaps.append(gap.mean())
    ratio = sum(len(split.rows) for split in splits) / max(sum(split.train_rows for split in splits), 1)
    _, (centre,), (error,), degrees, _ = differences(x[None], np.array([gaps]), ratio)
    if math.isnan(error):
        return math.nan
    return float(student_sf(centre / error, degrees)) if error else float(centre <= 0)


def shown_too_low(p_values: Mapping[str, float]) -> dict[str, bool]:
    """Return whether the coverage of a method is shown to be too low, by data set."""
    tested = [name for name, p in p_values.items() if not math.isnan(p)]
    corrected = dict(zip(tested, holm([p_values[name] for name in tested]).tolist(), strict=True))
    return {name: corrected.get(name, 1.0) <= SHOWN for name in p_values}
