"""Verdicts on coverage: whether regions are shown to hold the true label too rarely.

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
    if any(one.parts is None for one in splits):
        missed = [one.missed for one in splits if one.missed is not None and len(one.missed.rows)]
        return _of_rows(missed, level) if len(missed) == len(splits) else math.nan
    parts = Counter(part for one in splits for part in one.parts or () if part[0])
    if not parts or any(counted == 0 for _, counted in parts):
        return math.nan
    found = _errors(tuple(sorted(parts.items(), key=repr)), level, any(one.smoothed for one in splits))
    errors = sum(one.errors for one in splits)
    return float(min(max(found[errors:].sum(), 0.0), 1.0))


def shortfall(splits: Sequence[SplitErrors], level: float) -> float:
    """Return by how much the coverage must be below 1 - level to be shown too low (power 80 %), about.

    NaN where no coverage is promised.
    """
    parts = Counter(part for one in splits for part in one.parts or () if part[0])
    if not parts or any(one.parts is None for one in splits) or any(counted == 0 for _, counted in parts):
        return math.nan
    found = _errors(tuple(sorted(parts.items(), key=repr)), level, any(one.smoothed for one in splits))
    numbers = np.arange(len(found))
    mean = float(found @ numbers)
    sd = math.sqrt(max(float(found @ (numbers - mean) ** 2), 0.0))
    tails = np.cumsum(found[::-1])[::-1]
    critical = int(np.argmax(tails <= SHOWN)) if (tails <= SHOWN).any() else len(found)
    return (critical - mean + POWER_QUANTILE * sd) / (len(found) - 1)


@functools.lru_cache(maxsize=512)
def _errors(
    parts: tuple[tuple[tuple[int, int | None], int], ...], level: float, smoothed: bool
) -> np.ndarray:
    """Return the probabilities of 0, 1, ... errors in all parts; each part with its number of occurrences."""
    from scipy.fft import irfft, next_fast_len, rfft

    rows = sum(part[0] * times for part, times in parts)
    size = next_fast_len(rows + 1, real=True)
    product = np.ones(size // 2 + 1, dtype=complex)
    for (own, counted), times in parts:
        product *= rfft(covered_probabilities(own, counted, level, smoothed)[::-1], size) ** times
    return np.maximum(irfft(product, size)[: rows + 1], 0.0)


def _of_rows(splits: Sequence[SplitLosses], level: float) -> float:
    if len(splits) == 1:
        errors, n = int(splits[0].values.sum()), len(splits[0].values)
        return 1.0 if errors == 0 else float(1 - binomial_cdf(errors - 1, n, level))
    numbers = np.unique(np.concatenate([one.rows for one in splits]))
    x, gaps = np.zeros(len(numbers)), []
    for one in splits:
        gap = one.values - level
        x[np.searchsorted(numbers, one.rows)] += gap / (len(gap) * len(splits))
        gaps.append(gap.mean())
    ratio = sum(len(one.rows) for one in splits) / max(sum(one.train_rows for one in splits), 1)
    _, (centre,), (error,), degrees, _ = differences(x[None], np.array([gaps]), ratio)
    if math.isnan(error):
        return math.nan
    return float(student_sf(centre / error, degrees)) if error else float(centre <= 0)


def shown_too_low(p_values: Mapping[str, float]) -> dict[str, bool]:
    """Return whether the coverage of a method is shown to be too low, by data set."""
    known = [name for name, p in p_values.items() if not math.isnan(p)]
    corrected = dict(zip(known, holm([p_values[name] for name in known]).tolist(), strict=True))
    return {name: corrected.get(name, 1.0) <= SHOWN for name in p_values}
