"""Verdicts on coverage: whether regions are shown to contain the true label too rarely.

Where p-values promise a coverage, the errors of a split are beta-binomial. Given the data set, random splits
are independent and each keeps the promise for all rows, so that overlapping splits need no correction.
"""

import functools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from confml.measures.coverage_band import covered_probabilities
from confml.measures.distributions import binomial_cdf, student_sf
from confml.measures.p_values import has_label_conditional_p_values
from confml.measures.regions import rows_needed
from confml.report.answers.differences import SplitLosses, differences

SHOWN = 0.01
"""A coverage is shown to be too low at this p-value, corrected by Holm over the data sets of a method."""
FEWEST = 20
"""Number of test rows of a class from which its coverage is tested."""
Part = tuple[int, int | None]
"""Number of rows, and of the examples that their p-values are computed from, as in `coverage_band`."""


class SplitErrors(NamedTuple):
    """Errors of the regions of one split at a level.

    missed: whether the region of each row misses the true label; with parts, absent classes are not missed.
    parts: of the rows; None where no coverage is promised.
    """

    missed: SplitLosses
    parts: tuple[Part, ...] | None
    smoothed: bool


def p_value(splits: Sequence[SplitErrors], level: float) -> float:
    """Return the probability of so many errors or more if the coverage is 1 - level; NaN without a verdict.

    Promised: under the convolution of the distributions of all splits and classes, without a verdict where a
    part has no calibration rows. Not promised: binomial on one split; on several the one-sided t test of the
    rows, each row once.
    """
    if any(split.parts is None for split in splits):
        return _p_value_of_rows([split.missed for split in splits], level)
    parts = Counter(part for split in splits for part in split.parts or () if part[0])
    if not parts or any(n == 0 for _, n in parts):
        return math.nan
    smoothed = any(split.smoothed for split in splits)
    probabilities = _convolved(tuple(sorted(parts.items(), key=repr)), level, smoothed)
    errors = sum(int(split.missed.values.sum()) for split in splits)
    return float(min(max(probabilities[errors:].sum(), 0.0), 1.0))


def class_p_value(splits: Sequence[SplitErrors], level: float) -> float:
    """Return `p_value` for the rows of one class.

    The rows of a class in a data set are by luck harder or easier than those of the others, on every split
    alike. The promise covers this on one split only, so several must also pass the test of each row once.
    """
    p = p_value(splits, level)
    return p if len(splits) == 1 else max(p, _p_value_of_rows([split.missed for split in splits], level))


@functools.lru_cache(maxsize=512)
def _convolved(parts: tuple[tuple[Part, int], ...], level: float, smoothed: bool) -> np.ndarray:
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
    if not all(len(split.rows) for split in splits):
        return math.nan
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


def low_class_text(coverage: float, level: float) -> str:
    """Return the coverage of a class as the predicate of a sentence on regions."""
    return f"cover {100 * coverage:.3g} %, which is shown to be too low for {100 * (1 - level):g} %"


def per_class_remedy(params: Mapping[str, Any], level: float, option: str) -> str:
    """Return a sentence on the option that guarantees the coverage of each class; "" where p-values do so."""
    if has_label_conditional_p_values(params):
        return ""
    rows = "calibration rows" if params.get("conformal") == "split" else "rows"
    needs = f", and needs {needed} {rows} of the class" if (needed := rows_needed(level)) else ""
    return f"{option} guarantees the coverage of each class{needs}."
