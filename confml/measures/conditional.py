"""Coverage of groups of test examples: by class, by region size, by values of a column."""

import functools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from confml.measures.bins import bin_starts
from confml.measures.block import Block
from confml.measures.coverage_band import covered_probabilities
from confml.measures.distributions import beta_quantile
from confml.measures.measure import Column, Measure
from confml.measures.metric import HIGHER, LOWER, OWN, share_per_level
from confml.measures.p_values import counted_examples

CONFIDENCE = 0.95
NUMERIC_BINS = 5


class GroupCoverage(NamedTuple):
    """Coverage of one group: test rows, covered ones, and the Clopper-Pearson interval of the share."""

    rows: int
    covered: int
    low: float
    high: float

    @property
    def share(self) -> float:
        return self.covered / self.rows

    @classmethod
    def of(cls, rows: int, covered: int, groups: int = 1) -> "GroupCoverage":
        """Return the group with an interval at 95 % for all ``groups`` of one table together (Bonferroni)."""
        tail = (1 - CONFIDENCE) / 2 / groups
        low = float(beta_quantile(tail, covered, rows - covered + 1)) if covered else 0.0
        high = float(beta_quantile(1 - tail, covered + 1, rows - covered)) if covered < rows else 1.0
        return cls(rows, covered, low, high)


def fewest_rows(level: float) -> int:
    """Return the number of rows below which a group is in no minimum: five expected errors."""
    return math.ceil(5 / level - 1e-9) if level > 0 else 1


def size_strata(sizes: np.ndarray) -> np.ndarray:
    """Return the stratum (n,) of region sizes: 0, 1, 2, 3 for sizes 3 and 4, 4 for 5 to 8, and so on."""
    return np.where(sizes <= 1, sizes, 1 + np.ceil(np.log2(np.maximum(sizes, 1))).astype(np.int64))


def stratum_name(stratum: int) -> str:
    """Return the sizes of a stratum, as ``3-4``."""
    if stratum < 3:
        return str(stratum)
    return f"{2 ** (stratum - 2) + 1}-{2 ** (stratum - 1)}"


def equal_mass_groups(values: np.ndarray, bins: int = NUMERIC_BINS) -> np.ndarray:
    """Return the bin (n,) of each number, from 0: bins of equal mass that do not divide equal values."""
    order = np.argsort(values, kind="stable")
    groups = np.empty(len(values), dtype=np.int64)
    groups[order] = np.searchsorted(bin_starts(values[order], bins), np.arange(len(values)), "right") - 1
    return groups


@functools.lru_cache(maxsize=4096)
def mean_deviation(rows: int, counted: int | None, level: float) -> float:
    """Return the mean of |coverage - (1 - level)| of a group of test rows with valid p-values.

    counted: number of examples that p-values are counted among, the new one included; None for independent
    errors. NaN for 0, as of weighted p-values.
    """
    if counted == 0:
        return math.nan
    chances = covered_probabilities(rows, counted, level)
    return float(chances @ np.abs(np.arange(rows + 1) / rows - (1 - level)))


def shares_of(groups: np.ndarray, covered: np.ndarray) -> dict[object, tuple[int, int]]:
    """Return (rows, covered rows) of each group, in sorted order. groups, covered: (n,)."""
    labels, places = np.unique(groups, return_inverse=True)
    rows, held = np.bincount(places), np.bincount(places, weights=covered)
    return {label: (int(n), int(k)) for label, n, k in zip(labels.tolist(), rows, held, strict=True)}


def _compute(block: Block) -> Iterator[Column]:
    whole = block.whole
    if not whole.prediction.has_regions:
        return
    for level in block.levels:
        smallest = np.full(len(block), math.nan)
        for number in np.flatnonzero(block.sizes >= fewest_rows(level)).tolist():
            case = block.cases[number]
            smallest[number] = _smallest(size_strata(case.sizes(level)), case.covered(level), level)
        yield Column("ssc", level, smallest)
        shares = block.covered_by_label(level) / np.maximum(block.label_counts, 1)
        pairs = zip(1 - level - shares, block.label_counts > 0, strict=True)
        gaps = [row[here].tolist() for row, here in pairs]
        yield Column("covgap", level, _means([abs(gap) for gap in own] for own in gaps))
        yield Column("undercoverage", level, _means([max(gap, 0.0) for gap in own] for own in gaps))
        if whole.prediction.kind == "p-value":
            yield Column("covgap_expected", level, _means(_deviations(block, level)))


def _deviations(block: Block, level: float) -> Iterator[list[float]]:
    """Yield the mean deviation of each label of a case; an absent class is never covered."""
    counted = [counted_examples(case) for case in block.cases]
    known = np.isin(block.labels, block.whole.prediction.classes)
    least: np.ndarray | None = None
    if not any(one is None for one in counted):
        every = np.concatenate([one for one in counted if one is not None])
        least = np.full(block.label_counts.shape, np.iinfo(np.int64).max)
        np.minimum.at(least, (block.of_case, block.true_codes), every)
    for number, rows in enumerate(block.label_counts.tolist()):
        sizes = [None] * len(rows) if least is None else least[number].tolist()
        yield [
            mean_deviation(n, size, float(level)) if here else 1 - level
            for n, size, here in zip(rows, sizes, known.tolist(), strict=True)
            if n
        ]


def _smallest(strata: np.ndarray, covered: np.ndarray, level: float) -> float:
    """Return the smallest share among non-empty sizes with enough rows; NaN if there are none."""
    least = fewest_rows(level)
    if len(strata) < least:
        return math.nan
    shares = [
        held / rows
        for stratum, (rows, held) in shares_of(strata, covered).items()
        if stratum and rows >= least
    ]
    return min(shares, default=math.nan)


def _means(values: Iterable[Sequence[float]]) -> np.ndarray:
    return np.array([_mean(own) for own in values])


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


MEASURE = Measure(
    metrics={
        "ssc": share_per_level(
            "size-stratified coverage: smallest coverage of regions of 1, 2, 3-4, 5-8, ... labels, if there "
            "are at least 5 / level rows; valid p-values do not make it 1 - level",
            HIGHER,
            "min over strata s of #{i in s: y_i in G_i} / #s",
            "Angelopoulos, Bates, Malik and Jordan 2021",
            heading="size-stratified coverage",
        ),
        "covgap": share_per_level(
            "mean distance of the coverage of a class from 1 - level; above 0 by chance alone "
            "(covgap_expected)",
            LOWER,
            "mean over classes c of |#{i: y_i = c in G_i} / #{i: y_i = c} - (1 - level)|",
            "Ding et al. 2023",
            heading="coverage gap of classes",
        ),
        "undercoverage": share_per_level(
            "mean shortfall of the coverage of a class below 1 - level",
            LOWER,
            "mean over classes c of max(0, 1 - level - coverage of c)",
            OWN,
        ),
        "covgap_expected": share_per_level(
            "expected covgap of p-values that are valid for each class, from the numbers of test rows and of "
            "calibration examples",
            None,
            "mean over classes c of E|K / n_c - (1 - level)|, K beta-binomial",
            OWN,
            heading="coverage gap by chance",
        ),
    },
    compute=_compute,
)
