"""`Pair`: two method variants on the same splits, with the losses of their test rows."""

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from confml.errors import ConfmlError
from confml.measures.jackknife import CurveRows
from confml.measures.rejection import curve_of
from confml.report.answers.differences import Kind, LossTable, SplitLosses
from confml.report.run.results import RunResults
from confml.report.sections.certified import group_columns
from confml.runner.results import CellResult

RATES = np.arange(50) / 50  # rejection rates of curves' differences
Splits = dict[str, CellResult]


class Pair(NamedTuple):
    """Two variants of one data set with one view each. results: pairs of results, one per common split.

    view: the common view, or both views as ``reject - p-value``. views: names of the two views. grouped:
    whether the rows are in groups; online: whether a split is a pass of an online protocol.
    """

    dataset: str
    view: str
    first: str
    second: str
    results: list[tuple[CellResult, CellResult]]
    views: tuple[str, str]
    grouped: bool
    online: bool

    def curve_rows(self) -> list[list[CurveRows]]:
        """Return the curves of the first and of the second on each split, with their rows."""
        found = []
        for place, view in enumerate(self.views):
            side = [pair[place] for pair in self.results]
            found.append([_curve_rows(one, view) for one in side])
        return found

    def table(
        self, values: Sequence[Sequence[np.ndarray]], *, regions: bool = False, bound: float = math.inf
    ):
        """Return the losses of both, from the values (n,) of their rows on each split, as a `LossTable`.

        regions: whether the values depend on common calibration rows.
        """
        kind: Kind = "regions" if regions else "groups" if self.grouped else "rows"
        sides = [
            [
                SplitLosses(pair[place].rows, own, pair[place].split_train_rows)
                for pair, own in zip(self.results, values[place], strict=True)
            ]
            for place in (0, 1)
        ]
        return LossTable(sides, kind, self.online, bound)


class CurveDifference(NamedTuple):
    """Difference of the curves of two methods on the same splits, first minus second (below 0: first better).

    grid: (g,) rejection rates; difference, low, high: (g,) mean difference of sure-incorrect proportions and
    its interval at each rate (not simultaneous). NaN at rates that one of the curves cannot attain.
    """

    grid: np.ndarray
    difference: np.ndarray
    low: np.ndarray
    high: np.ndarray


def curve_difference(pair: Pair, rates: np.ndarray = RATES) -> CurveDifference:
    """Return the difference of the curves of a pair at rejection rates."""
    curves = pair.curve_rows()
    reached = min(min(one.curve.most_rejected for one in side) for side in curves)
    values = [[one.sure_incorrect(rates) for one in side] for side in curves]
    found = np.full((3, len(rates)), np.nan)
    for place in np.flatnonzero(rates <= reached + 1e-12).tolist():
        one = pair.table([[rows[place] for rows in side] for side in values], bound=1.0).pair(0, 1)
        if one is not None:
            found[:, place] = one.difference, *one.interval()
    return CurveDifference(rates, *found)


def _curve_rows(result: CellResult, view: str) -> CurveRows:
    prediction = result.views[view]
    curve = curve_of(prediction, result.truth)
    return CurveRows.of(curve, prediction.certainty, prediction.labels == result.truth)


def row_values(result: CellResult, view: str, thresholds: Sequence[float]) -> Mapping[tuple, np.ndarray]:
    """Return the values (n,) of the rows whose means are the metrics, by metric and threshold."""
    prediction = result.views[view]
    curve = _curve_rows(result, view)
    found: dict[tuple[str, float | None], np.ndarray] = {
        ("error", None): curve.wrong,
        ("augrc", None): curve.augrc(),
        ("aurc", None): curve.aurc(),
        ("auroc_correct", None): curve.auroc(),
    }
    correct = curve.wrong == 0
    for threshold in thresholds:
        sure = prediction.accepted(threshold)
        found |= {
            ("sure_correct", threshold): sure & correct,
            ("unsure", threshold): ~sure,
            ("sure_incorrect", threshold): sure & ~correct,
        }
    return found


def variants_of(results: RunResults) -> dict[tuple[str, str], Splits]:
    """Return finished cells by split, for each data set and label."""
    found: dict[tuple[str, str], Splits] = {}
    for cell in results.cells:
        if cell.key in results.results:
            key = (cell.dataset, results.label(cell))
            found.setdefault(key, {})[cell.split] = results.results[cell.key]
    return found


def labels_of(opened: Sequence[RunResults]) -> list[str]:
    return list(dict.fromkeys(label for results in opened for _, label in variants_of(results)))


def views_of_runs(opened: Sequence[RunResults]) -> list[str]:
    found = (result.views for results in opened for result in results.results.values())
    return list(dict.fromkeys(view for views in found for view in views))


def pairs_within(results: RunResults, against: str | None, view: str | None) -> list[Pair]:
    variants, traits = variants_of(results), _traits(results)
    labels = list(dict.fromkeys(label for _, label in variants))
    baseline = against or (labels[0] if labels else "")
    pairs = []
    for (dataset, label), splits in variants.items():
        if label != baseline and (dataset, baseline) in variants:
            other = variants[dataset, baseline]
            pairs += _paired(dataset, (label, baseline), (splits, other), view, traits)
    return pairs


def run_names(opened: Sequence[RunResults]) -> list[str]:
    """Return the names that distinguish the methods of two runs; "" of a single run."""
    names = [one.config.name for one in opened]
    if len(names) == 1:
        return [""]
    if names[0] == names[1]:
        return [f"{name} ({place})" for name, place in zip(names, ("first", "second"), strict=True)]
    return names


def pairs_between(opened: Sequence[RunResults], against: str | None, view: str | None) -> list[Pair]:
    ours, theirs = map(variants_of, opened)
    traits, names = _traits(opened[0]), run_names(opened)
    pairs = []
    for (dataset, label), splits in ours.items():
        if against in (None, label) and (dataset, label) in theirs:
            words = [f"{label}, {name}" for name in names]
            other = theirs[dataset, label]
            pairs += _paired(dataset, (words[0], words[1]), (splits, other), view, traits)
    return pairs


def _traits(results: RunResults) -> tuple[set[str], bool]:
    """Return the data sets whose rows are in groups, and whether the protocol is online."""
    protocol = getattr(results.config, "protocol", None)
    return set(group_columns(results)), getattr(protocol, "kind", "") == "online"


def _paired(
    dataset: str,
    names: tuple[str, str],
    sides: tuple[Splits, Splits],
    view: str | None,
    traits: tuple[set[str], bool],
) -> list[Pair]:
    (first, second), (ours, theirs) = names, sides
    grouped, online = traits
    common = [split for split in ours if split in theirs]
    for split in common:
        if not np.array_equal(ours[split].rows, theirs[split].rows) or not np.array_equal(
            ours[split].truth, theirs[split].truth
        ):
            raise ConfmlError(
                f"{dataset}, split {split}: {first} and {second} have different test examples",
                hint="compare runs on the same splits of the same data",
            )
    found: dict[tuple[str, str], list[tuple[CellResult, CellResult]]] = {}
    for split in common:
        for views in _pairs_of_views(ours[split], theirs[split]):
            if view is None or view in views:
                found.setdefault(views, []).append((ours[split], theirs[split]))
    return [
        Pair(
            *(
                dataset,
                views[0] if views[0] == views[1] else " - ".join(views),
                first,
                second,
                results,
                views,
            ),
            *(dataset in grouped, online),
        )
        for views, results in found.items()
    ]


def _pairs_of_views(ours: CellResult, theirs: CellResult) -> list[tuple[str, str]]:
    """Return the common views of two results, or all pairs of views if none is common; views with NaN are
    omitted."""
    one, other = (
        [
            name
            for name, prediction in result.views.items()
            if len(prediction) and not np.isnan(prediction.certainty).any()
        ]
        for result in (ours, theirs)
    )
    common = [(name, name) for name in one if name in theirs.views]
    if common:
        return [views for views in common if views[1] in other]
    return list(product(one, other))
