"""`Leaderboard`: all methods of a run by many measures, as means and mean ranks over the data sets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from confml.measures.ranks import RankComparison, compare_ranks
from confml.report.summaries import mean_and_sd

LEVEL = 0.05
"""Significance level of Nemenyi's test."""


class Column(NamedTuple):
    """One notion of quality. direction: the better one, "lower" or "higher"; None is not ranked.

    per_cent: whether it is a share. about: definition. level: significance level of its regions, if any.
    """

    name: str
    heading: str
    about: str
    direction: str | None
    per_cent: bool = True
    level: float | None = None


class Entry(NamedTuple):
    """One row of the leaderboard: a view of a method variant. view: empty for a method with one view."""

    label: str
    view: str

    @property
    def name(self) -> str:
        """Name in tables and figures."""
        return f"{self.label}, {self.view}" if self.view else self.label


@dataclass(frozen=True, eq=False)
class RankedColumn:
    """Mean and mean rank of the entries in one column.

    entries, datasets: a table without gaps, chosen as large as possible; values (datasets, entries). ranks:
    comparison of the mean ranks, None for a column without a better direction or with fewer than two entries
    or data sets. low: for a column of coverage, (k,) numbers of data sets on which the coverage is too small.
    left_out: entries that have values on some of the data sets of the run only.
    """

    column: Column
    entries: list[Entry]
    datasets: list[str]
    values: np.ndarray
    ranks: RankComparison | None
    left_out: list[Entry]
    low: np.ndarray | None = None

    @property
    def means(self) -> np.ndarray:
        return np.array([mean_and_sd(column)[0] for column in self.values.T.tolist()])

    @property
    def medians(self) -> np.ndarray:
        return np.median(self.values, axis=0)

    @property
    def typical(self) -> np.ndarray:
        """(k,) means over the data sets; for seconds, whose mean is that of the largest sets, medians."""
        return self.medians if self.column.name == "seconds" else self.means

    @property
    def differs(self) -> bool:
        """Whether the mean ranks are not all equal."""
        return self.ranks is not None and bool(np.ptp(self.ranks.mean_ranks) > 0)

    def best(self, place: int) -> bool:
        """Return whether the mean rank of an entry is the best one."""
        ranks = self.ranks
        return ranks is not None and self.differs and bool(ranks.mean_ranks[place] == ranks.mean_ranks.min())

    def near_best(self, place: int) -> bool:
        """Return whether the mean rank of an entry is within the critical difference of the best one."""
        if self.ranks is None or not self.differs:
            return False
        gap = self.ranks.mean_ranks[place] - self.ranks.mean_ranks.min()
        return bool(gap < self.ranks.critical_difference)


@dataclass
class Leaderboard:
    """Values of entries on data sets, collected split by split.

    columns: in the order of the tables. datasets: of the run, in its order.
    """

    columns: Sequence[Column]
    datasets: Sequence[str]
    _values: dict[tuple[str, Entry, str], list[float]] = field(default_factory=dict)
    _entries: dict[Entry, None] = field(default_factory=dict)

    def add(self, column: str, entry: Entry, dataset: str, value: float) -> None:
        """Add the value of one split."""
        self._entries.setdefault(entry)
        self._values.setdefault((column, entry, dataset), []).append(float(value))

    @property
    def entries(self) -> list[Entry]:
        return list(self._entries)

    def mean(self, column: str, entry: Entry, dataset: str) -> float:
        """Return the mean over the splits; NaN without a defined value."""
        return mean_and_sd(self._values.get((column, entry, dataset), ()))[0]

    def is_low(self, coverage: str, entry: Entry, dataset: str, wanted: float) -> bool:
        """Return whether the mean coverage is below ``wanted`` by more than two standard errors.

        The standard error is that of the splits' mean; on one split there is none, and any shortfall counts.
        """
        mean, sd, n = mean_and_sd(self._values.get((coverage, entry, dataset), ()))
        error = 0.0 if math.isnan(sd) else sd / math.sqrt(n)
        return mean + 2 * error < wanted - 1e-12

    def ranked(self) -> list[RankedColumn]:
        """Return every column that has values."""
        found = [self._ranked(column) for column in self.columns]
        return [one for one in found if one is not None]

    def _ranked(self, column: Column) -> RankedColumn | None:
        known = {
            entry: {name for name in self.datasets if not math.isnan(self.mean(column.name, entry, name))}
            for entry in self.entries
        }
        entries, datasets = _largest_table(known, self.datasets)
        if not entries:
            return None
        left_out = [entry for entry, names in known.items() if names and entry not in entries]
        values = np.array([[self.mean(column.name, one, name) for one in entries] for name in datasets])
        low = invalid = None
        if column.level is not None:
            coverage, wanted = coverage_name(column.level), 1 - column.level
            invalid = np.array(
                [[self.is_low(coverage, one, name, wanted) for one in entries] for name in datasets]
            )
            low = invalid.sum(axis=0) if column.direction is None else None
        ranks = None
        if column.direction is not None and len(entries) > 1 and len(datasets) > 1:
            from scipy.stats import rankdata  # it is slow to import

            signed = values if column.direction == "lower" else -values
            if invalid is not None:
                signed = np.where(invalid, np.inf, signed)
            ranks = compare_ranks(rankdata(signed, axis=1), higher_is_better=False, level=LEVEL)
        return RankedColumn(column, entries, datasets, values, ranks, left_out, low)


def _largest_table(known: Mapping[Entry, set[str]], datasets: Sequence[str]) -> tuple[list[Entry], list[str]]:
    """Return entries and data sets of the largest table without gaps.

    Entries are taken by falling number of data sets with a value, as many of them as give the most cells.
    """
    by_number = sorted(known, key=lambda entry: -len(known[entry]))
    best: tuple[int, list[Entry], list[str]] = (0, [], [])
    common = set(datasets)
    for taken, entry in enumerate(by_number, start=1):
        common = common & known[entry]
        if taken * len(common) > best[0] or (common and taken * len(common) == best[0]):
            best = taken * len(common), by_number[:taken], [name for name in datasets if name in common]
    _, entries, names = best
    return [entry for entry in known if entry in entries], names


def coverage_name(level: float) -> str:
    """Return the name of the column of the coverage at a level."""
    return f"coverage_at_{level:g}"


def order(entries: Iterable[Entry], by: RankedColumn | None) -> list[Entry]:
    """Return entries by their mean rank in a column, those that are not ranked at the end."""
    place = {}
    if by is not None and by.ranks is not None:
        place = dict(zip(by.entries, by.ranks.mean_ranks.tolist(), strict=True))
    return sorted(entries, key=lambda one: (place.get(one, math.inf), one))
