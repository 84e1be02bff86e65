"""`LossTable`: losses of methods on the same splits, and the test of their differences.

Rows measure the noise of the test examples, which the variance between two splits cannot; the variance of
Nadeau and Bengio, which counts overlapping training parts, is the smallest one that is used.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from confml.measures.distributions import student_quantile, student_sf
from confml.measures.ranks import holm

SIGNIFICANCE = 0.05
POWER_QUANTILE = 0.8416212335729143
"""Quantile of the normal distribution at the power (80 %) of detectable differences."""
FEW_SPLITS = 5
"""With fewer splits, but more than one, the differences between splits are hardly known."""
Kind = Literal["rows", "regions", "groups"]
"""``rows``: independent test rows. ``regions``: values of rows that share calibration rows. ``groups``: rows
of one group are dependent, and a split separates groups."""


class SplitLosses(NamedTuple):
    """Losses of one method on one split: rows (n,) numbers of the test rows, values (n,), train_rows."""

    rows: np.ndarray
    values: np.ndarray
    train_rows: int


class Difference(NamedTuple):
    """Mean loss of the first method minus that of the second, and its test.

    centre: of the intervals, shrunk towards 0 for independent rows. error: standard error, with ``degrees``
    of freedom; NaN where there is no test. p_value: two-sided. rows, splits: different test rows, and
    splits. same: whether all losses are equal. bound: largest possible difference. square: mean square of
    the differences of the rows. clustered: whether rows are in groups.
    """

    difference: float
    centre: float
    error: float
    degrees: float
    p_value: float
    rows: int
    splits: int
    same: bool
    bound: float
    square: float
    clustered: bool

    def interval(self, comparisons: int = 1) -> tuple[float, float]:
        """Return the 95 % interval; simultaneous for this number of comparisons (Bonferroni)."""
        half = self.error * _quantile(comparisons, self.degrees)
        return max(self.centre - half, -self.bound), min(self.centre + half, self.bound)

    def detectable(self, comparisons: int = 1) -> float:
        """Return the difference X that the test finds with a power of 80 %; inf if it is above the bound.

        The power is 79 to 82 % for two methods. It is larger for several, up to 99 % for ten, because Holm's
        correction of a pair is smaller after other pairs are shown to differ. The standard error is that of
        this difference, for methods that differ by X: if X is larger than the difference D seen, X - D of the
        rows have the largest loss more, and the rows vary more. NaN where all losses are equal, which say
        nothing about the differences of others.
        """
        if self.same:
            return math.nan
        quantile = _quantile(comparisons, self.degrees)
        # Of few groups, the standard error varies from table to table.
        spread = math.sqrt(1 + quantile**2 / (2 * max(self.degrees, 1.0))) if self.clustered else 1.0
        factor = quantile + POWER_QUANTILE * spread
        detectable = plain = factor * self.error * (self.rows + 2) / self.rows
        seen = abs(self.difference)
        if detectable > seen and math.isfinite(self.bound) and not self.clustered:
            square = self.square + 2 * self.bound**2 / self.rows  # with the two rows that the test adds
            for _ in range(50):
                gap = min(detectable, self.bound)
                variance = square + max(gap - seen, 0.0) * self.bound - gap**2
                detectable = plain * math.sqrt(max(variance / (square - seen**2), 1.0))
        return detectable if detectable <= self.bound else math.inf


def _quantile(comparisons: int, degrees: float) -> float:
    """Return Student's quantile of a two-sided interval; NaN without degrees of freedom."""
    return float(student_quantile(1 - SIGNIFICANCE / (2 * comparisons), degrees)) if degrees > 0 else math.nan


class Clusters(NamedTuple):
    """Groups of dependent rows: group (N,) of each row, shares (G,) of the groups in the mean loss."""

    group: np.ndarray
    shares: np.ndarray

    @property
    def degrees(self) -> float:
        """Degrees of freedom: the effective number of groups minus 1.

        0, for no test, below five effective groups, or if one has more than half of the rows. If all rows of
        a group have the same difference of 1 or -1, that of equal methods has p < .05 in 25 % of the tables
        with three groups, 12.5 % with four and 6.3 % with five.
        """
        degrees = 1 / float((self.shares**2).sum()) - 1
        return degrees if degrees >= 4 - 1e-9 and self.shares.max() <= 0.5 else 0.0

    def sums(self, x: np.ndarray) -> np.ndarray:
        """Return (m, G) the sums of x (m, N) over the rows of each group."""
        return np.array([np.bincount(self.group, of_rows, len(self.shares)) for of_rows in x])

    def variance(self, x: np.ndarray) -> np.ndarray:
        """Return the variance (m,) of sums of x (m, N): CR3, each group compared with the mean of the others.

        With S_g the sum over group g, w_g its share and d the sum of all, it is the sum of
        ((S_g - w_g d) / (1 - w_g))^2. The usual variance of sums by group is too small for groups of
        different sizes: with 10 of them, a difference of two equal methods has p < .05 in 26 % of the tables.
        """
        residuals = self.sums(x) - x.sum(axis=1)[:, None] * self.shares
        return ((residuals / (1 - self.shares)) ** 2).sum(axis=1)


class LossTable:
    """Losses of K methods on the same J splits with the same test rows.

    row_means: (K, N) part of each row in the mean loss: the row means add up to it. split_means: (K, J).
    ratio: test rows / training rows; 0 for several passes of an online protocol. bound: largest loss, if any.
    rare: whether losses up to the bound may be too rare to be seen, as costs: see `differences`. groups: of
    all row numbers, if rows of one group are dependent; clusters: the group of each of the N rows and the
    shares of the groups in the mean loss. form: the arguments that `mean_interval` takes too.
    """

    def __init__(
        self,
        methods: Sequence[Sequence[SplitLosses]],
        kind: Kind = "rows",
        online: bool = False,
        bound: float = math.inf,
        rare: bool = False,
        groups: np.ndarray | None = None,
    ):
        self.methods, self.kind, self.bound, self.rare = methods, kind, bound, rare
        self.form: dict[str, Any] = {"kind": kind, "online": online, "bound": bound, "groups": groups}
        splits = methods[0]
        sizes = np.array([len(split.rows) for split in splits])
        numbers, codes = np.unique(np.concatenate([split.rows for split in splits]), return_inverse=True)
        self._ends = np.cumsum(sizes)[:-1]
        self._losses = np.array(
            [np.concatenate([split.values for split in method], dtype=np.float64) for method in methods]
        )
        parts = self._losses / np.repeat(sizes * len(splits), sizes)
        # bincount adds in the order of the splits
        self.row_means = np.array([np.bincount(codes, of_method, len(numbers)) for of_method in parts])
        self.split_means = self._split_means(self._losses)
        self.clusters: Clusters | None = None
        if groups is not None:
            weights = np.bincount(codes, np.repeat(1 / (sizes * len(splits)), sizes))
            group = np.unique(groups[numbers], return_inverse=True)[1]
            self.clusters = Clusters(group, np.bincount(group, weights))
        train = sum(split.train_rows for split in splits)
        self.ratio = 0.0 if online else int(sizes.sum()) / train if train else math.nan

    def __len__(self) -> int:
        return len(self.methods)

    def pair(self, first: int, second: int) -> Difference:
        """Return the difference of two methods."""
        total, centre, error, degrees, p_value = self._differences(first, [second])
        squares = self._split_means((self._losses[[first]] - self._losses[[second]]) ** 2)
        return Difference(
            *(float(total[0]), float(centre[0]), float(error[0]), degrees, float(p_value[0])),
            *(self.row_means.shape[1], self.split_means.shape[1]),
            bool(np.array_equal(self.row_means[first], self.row_means[second])),
            self.bound,
            float(np.mean(squares)),
            self.clusters is not None,
        )

    def p_values(self) -> np.ndarray:
        """Return the (K, K) p-values of all pairs; NaN where there is no test, 1 on the diagonal."""
        p_values = np.ones((len(self), len(self)))
        for first in range(len(self) - 1):
            later = list(range(first + 1, len(self)))
            p_values[first, later] = p_values[later, first] = self._differences(first, later)[-1]
        return p_values

    def _split_means(self, losses: np.ndarray) -> np.ndarray:
        return np.column_stack([split.mean(axis=1) for split in np.split(losses, self._ends, axis=1)])

    def _differences(self, first: int, second: list[int]) -> tuple:
        x = self.row_means[first] - self.row_means[second]
        gaps = self.split_means[first] - self.split_means[second]
        return differences(x, gaps, self.ratio, self.kind, self.bound, self.rare, self.clusters)


def mean_interval(
    splits: Sequence[SplitLosses],
    kind: Kind = "rows",
    online: bool = False,
    bound: float = math.inf,
    groups: np.ndarray | None = None,
    least: float = 0.0,
) -> tuple[float, float]:
    """Return the 95 % interval of a mean loss over all test rows; NaN where there is none.

    It is the interval of the difference from a method whose loss is the mean in every row. The bound is the
    largest possible loss: a loss that is seldom and large may not be among those seen. groups: of all row
    numbers, as of a `LossTable`. least: smallest possible loss.
    """
    splits = [split for split in splits if len(split.rows)]
    if not splits:
        return math.nan, math.nan
    mean = float(np.mean([split.values.mean() for split in splits]))
    constant = [split._replace(values=np.full(len(split.rows), mean)) for split in splits]
    table = LossTable([splits, constant], kind, online, bound, rare=True, groups=groups)
    low, high = table.pair(0, 1).interval()
    return max(mean + low, least), mean + high


def differences(
    x: np.ndarray,
    gaps: np.ndarray,
    ratio: float,
    kind: Kind = "rows",
    bound: float = math.inf,
    rare: bool = False,
    clusters: Clusters | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float, np.ndarray]:
    """Return m differences from their rows and splits: ``difference``, ``centre`` and ``error`` (m,) of
    `Difference`, its ``degrees``, and the p-values (m,).

    x: (m, N) part of each row in the difference. gaps: (m, J) differences of the splits. ratio: test rows /
    training rows. bound: largest loss; rows without any difference still leave an interval of a width.
    clusters: groups of dependent rows, whose variance is at least that of independent rows.

    Two rows with the largest difference, one of each sign, are added: without them the test of few different
    rows is liberal. If ``rare``, their difference is at least the largest possible one: with costs of 1 in
    10 % and of 100 in 0.5 % of 200 rows, the interval of the mean holds it in 64 % of the runs without this,
    and in all with it. For losses of 0 and 1 on one split this is the interval of Bonett and Price (2012).
    """
    n, j = x.shape[1], gaps.shape[1]
    largest = np.abs(x).max(axis=1)
    zero = largest <= 1e-13
    unit = bound if math.isfinite(bound) else 0.0
    width = np.maximum(largest, unit / n) if rare else np.where(zero, unit / n, largest)
    shrink = n / (n + 2)
    total = x.sum(axis=1)
    centre = np.where(zero, 0.0, total * shrink)
    squares = ((x * x).sum(axis=1) + 2 * width**2) * shrink**2
    row = np.maximum(squares - centre**2 / (n + 2), 0.0)
    between = gaps.var(axis=1, ddof=1) if j > 1 else np.zeros(len(x))
    between = np.where(np.sqrt(between) <= 1e-12 * np.abs(gaps).max(axis=1), 0.0, between)
    degrees: float = n - 1
    if clusters is not None:
        degrees = clusters.degrees
        row = np.maximum(row, clusters.variance(x)) if degrees else row
        centre = total
    if kind == "rows":
        variance = row if j == 1 else np.maximum(row, (1 / j + ratio) * between)
    else:
        degrees = j - 1
        variance = np.maximum(row, (1 / j + (1.0 if kind == "regions" else ratio)) * between)
    if (kind != "rows" and j < 3) or n < 2 or not degrees or not math.isfinite(ratio):
        nothing = np.full(len(x), math.nan)
        return total, centre, nothing, 0, nothing
    error = np.sqrt(variance)
    t = np.divide(np.abs(centre), error, out=np.where(centre == 0, 0.0, np.inf), where=error > 0)
    p_value = np.where(zero, 1.0, np.minimum(2 * student_sf(t, degrees), 1.0))
    return total, centre, error, degrees, p_value


@dataclass(frozen=True, eq=False)
class Comparison:
    """The tests of all pairs of K lines of a data set by one metric.

    lines: (K,) in the order of the arrays. means: (K,) mean losses. lowest: the lines with the smallest one;
    best: those of them that are best by a second metric, if there is one.
    corrected: (K, K) p-values of the pairs after Holm's correction over all of them; NaN where there is no
    test. differences: of each line minus the first best one. pairs: number of pairs that are tested.
    baselines: for each baseline the p-value of each line that has a lower mean than it, corrected by Holm
    over these comparisons, and 1 for the others. left_out: lines that are not compared, with the reason.
    splits: common ones.
    """

    lines: Sequence[Any]
    means: np.ndarray
    lowest: list[Any]
    best: list[Any]
    corrected: np.ndarray
    differences: list[Difference]
    pairs: int
    baselines: Mapping[Any, np.ndarray]
    left_out: Mapping[Any, str] = field(default_factory=dict)
    splits: Sequence[Any] = ()

    def p_value(self, first: Any, second: Any) -> float:
        """Return the corrected p-value of two lines, or of a line and a baseline; NaN without a test."""
        for line, baseline in ((first, second), (second, first)):
            if line in self.lines and baseline in self.baselines:
                return float(self.baselines[baseline][self.lines.index(line)])
        if first not in self.lines or second not in self.lines:
            return math.nan
        return float(self.corrected[self.lines.index(first), self.lines.index(second)])

    def difference(self, line: Any) -> Difference | None:
        """Return the difference between a line and the best one; None if it is not compared."""
        return self.differences[self.lines.index(line)] if line in self.lines else None

    def adjusted(self, line: Any) -> float:
        """Return the largest corrected p-value of a line, or a baseline, against the lowest ones."""
        return float(np.max([self.p_value(lowest, line) for lowest in self.lowest]))

    def worse(self, line: Any) -> bool:
        """Return whether a line, or a baseline, is shown to be worse than the best one."""
        return line not in self.best and self.adjusted(line) < SIGNIFICANCE

    @property
    def same(self) -> bool:
        """Whether the losses of all lines are equal, row by row."""
        return len(self.lines) > 1 and all(difference.same for difference in self.differences)

    @property
    def detectable(self) -> float:
        """Difference that a comparison with the best finds with a power of at least 80 %; NaN without a test.

        The median over the comparisons, at the significance of one of all pairs.
        """
        values = [difference.detectable(self.pairs) for difference in self.differences]
        values = [value for value in values if not math.isnan(value)]
        return float(np.median(values)) if values else math.nan


def compare_lines(
    table: LossTable,
    lines: Sequence[Any] | None = None,
    baselines: Sequence[Any] = (),
    p_values: np.ndarray | None = None,
) -> Comparison:
    """Return the comparison of the lines of a table; they are numbered by default.

    baselines: the last methods of the table, which are compared with each line only. p_values: of all pairs
    of methods, by default those of the table.
    """
    k = len(table) - len(baselines)
    lines = range(k) if lines is None else lines
    means = np.round(table.split_means[:k].mean(axis=1), 12)
    best = np.flatnonzero(means == means.min()).tolist()
    upper = np.triu_indices(k, 1)
    of_pairs = (table.p_values() if p_values is None else p_values)[upper]
    tested = ~np.isnan(of_pairs)
    of_pairs[tested] = holm(of_pairs[tested])
    corrected = np.ones((k, k))
    corrected[upper] = corrected.T[upper] = of_pairs
    of_baselines = {}
    for number, baseline in enumerate(baselines, start=k):
        pairs = [table.pair(index, number) for index in range(k)]
        p = [pair.p_value if pair.difference < 0 and pair.p_value < 1 else 1.0 for pair in pairs]
        of_baselines[baseline] = holm(p)  # alone: a method must cost less than every constant decision
    lowest = [lines[index] for index in best]
    return Comparison(
        *(lines, means, lowest, lowest, corrected, [table.pair(index, best[0]) for index in range(k)]),
        max(int(tested.sum()), 1),
        of_baselines,
    )
