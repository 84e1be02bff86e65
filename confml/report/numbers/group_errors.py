"""`GroupErrors`: errors and sizes of regions in the groups of ``by``, for all methods of a data set."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from confml.measures.case import columns_of
from confml.measures.conditional import GroupCoverage
from confml.methods.divisions import DIVISIONS, GROUP, UNKNOWN

UNSEEN = "no calibration row"


class GroupLine(NamedTuple):
    """Regions of one view in one group: ``calibration`` is the smallest number over the splits of the
    calibration rows in the group, ``low`` to ``high`` the Clopper-Pearson interval of the error at 95 %."""

    by: str
    group: str
    view: tuple[str, ...]
    level: float
    guaranteed: int
    calibration: int
    rows: int
    error: float
    low: float
    high: float
    size: float


class _Seen(NamedTuple):
    """Rows (n,) of one split, and for each level whether the region misses the label, and its size."""

    rows: np.ndarray
    missed: np.ndarray
    sizes: np.ndarray


class GroupErrors:
    """Collect the cells of one data set. Of several splits that test a row, the first one counts."""

    def __init__(self, levels: tuple[float, ...]):
        self.levels = levels
        self._groups: dict[tuple[Any, str, str], dict[int, str]] = {}  # by row, of a view and of any view
        self._rows: dict[tuple[str, str], int] = {}
        self._seen: dict[tuple[str, ...], dict[str, _Seen]] = {}
        self._guaranteed: dict[tuple[str, ...], set[str]] = {}

    def add(self, result: Any, label: str) -> None:
        """Add a finished cell, whose method has a label in tables."""
        split = result.cell.split
        for view, prediction in result.views.items():
            if not prediction.has_regions:
                continue
            columns = columns_of(result.truth, prediction.classes)
            regions = [prediction.region(level) for level in self.levels]
            held = [region[np.arange(len(columns)), columns] & (columns >= 0) for region in regions]
            sizes = np.array([region.sum(axis=1) for region in regions])
            key = (result.cell.method, label, view)
            rows = np.asarray(result.rows)
            self._seen.setdefault(key, {})[split] = _Seen(rows, ~np.array(held), sizes)
            if GROUP in prediction.extra:
                self._add_groups(
                    result.views.fit_details.other[DIVISIONS], prediction, columns, split, rows, key
                )

    def _add_groups(self, divisions, prediction, columns, split, rows, key) -> None:
        for division, details in enumerate(divisions):
            codes = prediction.extra[GROUP][:, division]
            places, c = codes, len(prediction.classes)
            if details["label"]:
                places = np.where((codes == UNKNOWN) | (columns < 0), UNKNOWN, codes * c + columns)
            names = np.array([*details["groups"], UNSEEN])
            by = details["name"]
            found = dict(zip(rows.tolist(), names[places].tolist(), strict=True))
            self._groups[key, by, split] = found
            self._groups.setdefault((None, by, split), found)
            self._guaranteed.setdefault(key, set()).add(by)
            for name, count in zip(details["groups"], details["rows"], strict=True):
                least = self._rows.get((by, name), count)
                self._rows[by, name] = min(least, count)

    def lines(self) -> Iterator[GroupLine]:
        """Yield the lines of every division, group, view and level."""
        divisions = dict.fromkeys(by for _, by, _ in self._groups)
        for by in divisions:
            for key, splits in self._seen.items():
                known: set[int] = set()
                parts = []
                for split, seen in splits.items():
                    name_of = self._groups.get((key, by, split)) or self._groups.get((None, by, split))
                    if name_of is None:
                        continue
                    new = [at for at, row in enumerate(seen.rows.tolist()) if row not in known]
                    known.update(seen.rows[new].tolist())
                    own = np.array([name_of.get(row, UNSEEN) for row in seen.rows[new].tolist()])
                    parts.append((own, seen.missed[:, new], seen.sizes[:, new]))
                if parts:
                    yield from self._of_view(by, key, parts)

    def _of_view(self, by: str, key: tuple[str, ...], parts: list[tuple]) -> Iterator[GroupLine]:
        names = np.concatenate([part[0] for part in parts])
        missed, sizes = (np.concatenate([part[at] for part in parts], axis=1) for at in (1, 2))
        guaranteed = int(by in self._guaranteed.get(key, ()))
        for group in sorted(set(names.tolist()), key=lambda name: (name == UNSEEN, name)):
            mine = names == group
            n = int(mine.sum())
            for at, level in enumerate(self.levels):
                wrong = int(missed[at, mine].sum())
                found = GroupCoverage.of(n, wrong)
                calibration = self._rows.get((by, group), 0)
                size = float(sizes[at, mine].mean())
                yield GroupLine(
                    by, group, key, level, guaranteed, calibration, n, wrong / n, found.low, found.high, size
                )
