"""`Pair`: two methods on the same splits, with the values of their test rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from confml.errors import ConfmlError
from confml.report.answers.differences import Kind, LossTable, SplitLosses
from confml.report.answers.standings import Line
from confml.report.run.results import RunResults, Variant
from confml.runner.results import CellResult

Asked = tuple[str, float | None]  # metric and threshold


class ViewRows(NamedTuple):
    """The test rows (n,) of one view on one split.

    truth: true labels. shared: whether regions depend on common calibration rows. values: (n,) by metric and
    threshold.
    """

    rows: np.ndarray
    truth: np.ndarray
    train_rows: int
    shared: bool
    values: Mapping[Asked, np.ndarray]

    @classmethod
    def of(cls, result: CellResult, view: str, thresholds: Sequence[float]) -> "ViewRows":
        """Return the rows of a view of a finished cell."""
        prediction = result.views[view]
        correct = prediction.labels == result.truth
        found: dict[Asked, np.ndarray] = {("error", None): (~correct).astype(np.float64)}
        for threshold in thresholds:
            sure = prediction.accepted(threshold)
            found |= {
                ("sure_correct", threshold): sure & correct,
                ("unsure", threshold): ~sure,
                ("sure_incorrect", threshold): sure & ~correct,
            }
        shared = prediction.kind == "p-value"
        return cls(result.rows, result.truth, result.split_train_rows, shared, found)


@dataclass(frozen=True)
class RowValues:
    """Function of a variant that returns the rows of every view at some thresholds, by cell key."""

    thresholds: tuple[float, ...]

    def __call__(self, variant: Variant) -> dict[str, dict[str, "ViewRows | None"]]:
        """Return the rows of each view of each cell; None with an undefined confidence."""
        return {
            result.cell.key: {
                view: ViewRows.of(result, view, self.thresholds)
                if len(prediction) and not np.isnan(prediction.certainty).any()
                else None
                for view, prediction in result.views.items()
            }
            for result in variant.splits
        }


Views = Mapping[str, ViewRows | None]


class Pair(NamedTuple):
    """Two lines of one data set on common splits. sides: the rows of each line on the splits, by name.

    view: the common view, or both views as ``reject - p-value``. kind: how the rows depend on each other;
    online: whether a split is a pass of an online protocol.
    """

    dataset: str
    view: str
    first: str
    second: str
    views: tuple[str, str]
    sides: tuple[dict[str, ViewRows], dict[str, ViewRows]]
    kind: Kind = "rows"
    online: bool = False

    @property
    def lines(self) -> tuple[Line, Line]:
        first, second = self.views
        return Line(self.dataset, self.first, first), Line(self.dataset, self.second, second)

    def table(self, values: Sequence[Sequence[np.ndarray]], regions: bool = False) -> LossTable:
        """Return the losses of both, from the values (n,) of their rows on each split.

        regions: whether the values depend on common calibration rows.
        """
        return loss_table(
            [list(side.values()) for side in self.sides],
            values,
            "regions" if regions else self.kind,
            self.online,
        )

    def on(self, splits: Sequence[str]) -> "Pair":
        """Return the pair on some of the splits."""
        first, second = ({name: one for name, one in side.items() if name in splits} for side in self.sides)
        return self._replace(sides=(first, second))


def loss_table(
    lines: Sequence[Sequence[ViewRows]], values: Sequence[Sequence[np.ndarray]], kind: Kind, online: bool
) -> LossTable:
    """Return values (n,) between 0 and 1 of the rows of some lines on the same splits as losses."""
    losses = [
        [SplitLosses(one.rows, own, one.train_rows) for one, own in zip(side, given, strict=True)]
        for side, given in zip(lines, values, strict=True)
    ]
    return LossTable(losses, kind, online, 1.0)


def run_names(opened: Sequence[RunResults]) -> list[str]:
    """Return the names that distinguish the methods of two runs; "" of a single run."""
    names = [one.config.name for one in opened]
    if len(names) == 1:
        return [""]
    if names[0] == names[1]:
        return [f"{name} ({place})" for name, place in zip(names, ("first", "second"), strict=True)]
    return names


def variants_of(results: RunResults, values: Mapping[str, Views]) -> dict[tuple[str, str], dict[str, Views]]:
    """Return the views of the finished cells by split, for each data set and label."""
    found: dict[tuple[str, str], dict[str, Views]] = {}
    for cell in results.cells:
        if cell.key in results.results:
            found.setdefault((cell.dataset, results.label(cell)), {})[cell.split] = values[cell.key]
    return found


def pairs_of(
    opened: Sequence[RunResults],
    variants: Sequence[dict[tuple[str, str], dict[str, Views]]],
    against: str | None,
    view: str | None,
) -> Iterator[Pair]:
    """Yield the pairs of each variant with the baseline of its run, or with the same one of the other run."""
    ours, theirs = variants[0], variants[-1]
    names, baseline = run_names(opened), against or next((label for _, label in ours), "")
    for (dataset, label), splits in ours.items():
        first, second, other = label, baseline, baseline
        if len(opened) > 1:
            first, second, other = f"{label}, {names[0]}", f"{label}, {names[1]}", label
        wanted = label != baseline if len(opened) == 1 else against in (None, label)
        if wanted and (dataset, other) in theirs:
            found = _common(f"{dataset}, split {{}}: {first} and {second}", splits, theirs[dataset, other])
            kind: Kind = "groups" if opened[0].has_groups(dataset) else "rows"
            online = opened[0].config.protocol.kind == "online"
            for views, sides in found.items():
                if view is None or view in views:
                    title = views[0] if views[0] == views[1] else " - ".join(views)
                    yield Pair(dataset, title, first, second, views, sides, kind, online)


def _common(
    title: str, ours: Mapping[str, Views], theirs: Mapping[str, Views]
) -> dict[tuple[str, str], tuple[dict[str, ViewRows], dict[str, ViewRows]]]:
    """Return the rows of the common splits by pair of views: common views, or all pairs without any."""
    found: dict[tuple[str, str], tuple[dict[str, ViewRows], dict[str, ViewRows]]] = {}
    for split in [split for split in ours if split in theirs]:
        one, other = ours[split], theirs[split]
        views = [(name, name) for name in one if one[name] and name in other] or list(product(one, other))
        for pair in views:
            mine, second = one[pair[0]], other[pair[1]]
            if mine is None or second is None:
                continue
            if not (np.array_equal(mine.rows, second.rows) and np.array_equal(mine.truth, second.truth)):
                raise ConfmlError(
                    f"{title.format(split)} have different test examples",
                    hint="compare runs on the same splits of the same data",
                )
            sides = found.setdefault(pair, ({}, {}))
            sides[0][split], sides[1][split] = mine, second
    return found
