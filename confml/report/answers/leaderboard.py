"""`Leaderboard`: all methods of a run by many measures, as means and mean ranks over the data sets."""

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from confml.data.text_table import number_text
from confml.measures.ranks import RankComparison, compare_ranks
from confml.report.answers.datasets import RankVerdict, complete
from confml.report.numbers.summaries import mean_and_sd
from confml.report.run.cells import with_details


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
        return with_details(self.label, self.view)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False)
class RankedColumn:
    """Mean and mean rank of the entries in one column.

    entries, datasets: those that are ranked; values (datasets, entries), NaN where an entry failed. ranks:
    comparison of the mean ranks, None for a column without a better direction or with fewer than two entries
    or data sets. low: for a column of coverage, (k,) numbers of data sets on which the coverage is shown to
    be too low. missing: a sentence on entries and data sets that are left out.
    """

    column: Column
    entries: list[Entry]
    datasets: list[str]
    values: np.ndarray
    ranks: RankComparison | None
    missing: str = ""
    low: np.ndarray | None = None

    @property
    def means(self) -> np.ndarray:
        return np.array([mean_and_sd(column)[0] for column in self.values.T.tolist()])

    @property
    def medians(self) -> np.ndarray:
        return np.nanmedian(self.values, axis=0)

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

    @cached_property
    def verdict(self) -> RankVerdict | None:
        return None if self.ranks is None else RankVerdict(self.ranks)

    def near_best(self, place: int) -> bool:
        """Return whether an entry is not shown to differ from the best mean rank."""
        return self.verdict is not None and self.differs and not self.verdict.worse(place)


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

    def ranked(
        self,
        is_low: Callable[[Entry, str, float], bool] = lambda entry, dataset, level: False,
        failed: Collection[tuple[str, Entry]] = (),
    ) -> list[RankedColumn]:
        """Return every column that has values.

        is_low: whether the coverage of an entry on a data set is shown to be too low at a level; its regions
        rank last there. failed: (data set, entry) pairs.
        """
        found = [self._ranked(column, is_low, failed) for column in self.columns]
        return [one for one in found if one is not None]

    def _ranked(self, column: Column, is_low, failed) -> RankedColumn | None:
        means = {
            (name, entry): mean
            for entry in self.entries
            for name in self.datasets
            if not math.isnan(mean := self.mean(column.name, entry, name))
        }
        known = {entry: [name for name in self.datasets if (name, entry) in means] for entry in self.entries}
        table = complete({entry: names for entry, names in known.items() if names}, self.datasets, failed)
        entries, datasets = table.methods, table.datasets
        if not entries or not datasets:
            return None
        values = np.array([[means.get((name, one), np.nan) for one in entries] for name in datasets])
        low = invalid = None
        if column.level is not None:
            invalid = np.array([[is_low(one, name, column.level) for one in entries] for name in datasets])
            low = invalid.sum(axis=0) if column.direction is None else None
        ranks = None
        if column.direction is not None and len(entries) > 1 and len(datasets) > 1:
            # Means that differ only in their last bits are ties.
            scores = np.round(table.scores(means, column.direction == "higher"), 12)
            signed = _finite(scores if column.direction == "lower" else -scores)
            if invalid is not None:
                last = signed.max(axis=1, keepdims=True)
                signed = np.where(invalid, last + 1e-9 * (1 + np.abs(last)), signed)
            ranks = compare_ranks(signed, higher_is_better=False)
        return RankedColumn(column, entries, datasets, values, ranks, table.sentence(), low)


def _finite(scores: np.ndarray) -> np.ndarray:
    """Return scores (data sets, k) with numbers beyond all others of the data set in place of infinities."""
    rows = []
    for row in scores:
        known = row[np.isfinite(row)]
        high, low = (known.max(), known.min()) if len(known) else (0.0, 0.0)
        rows.append(np.clip(row, low - 1 - abs(low), high + 1 + abs(high)))
    return np.array(rows)


def coverage_name(level: float) -> str:
    """Return the name of the column of the coverage at a level."""
    return f"coverage_at_{number_text(level)}"


def order(entries: Iterable[Entry], by: RankedColumn | None) -> list[Entry]:
    """Return entries by their mean rank in a column, those that are not ranked at the end."""
    place = {}
    if by is not None and by.ranks is not None:
        place = dict(zip(by.entries, by.ranks.mean_ranks.tolist(), strict=True))
    return sorted(entries, key=lambda one: (place.get(one, math.inf), one))
