"""Errors and sizes of prediction regions at many significance levels, for figures."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from confml._seeds import stable_generator
from confml.measures import Case
from confml.measures.prediction import Prediction, of_sums_before
from confml.methods.divisions import DIVISIONS, GROUP, UNKNOWN
from confml.report.numbers.row_set import RowSet
from confml.report.run.results import Split, Variant
from confml.runner.results import CellResult


class CalibrationParts:
    """Collect the parts (rows, counted) of `coverage_band` over the splits.

    rows: number of different test examples; counted: smallest number of examples that their p-values are
    counted among on a split. There is a part for each group of ``by`` and, with label-conditional p-values,
    for each class. smoothed: whether the p-values are smoothed.
    """

    def __init__(self):
        self.smoothed = False
        self._rows = RowSet()
        self._counted: dict[tuple[Any, str], int | None] = {}  # by true label and group
        self._by_class = False

    def add(self, case: Case, rows: np.ndarray, groups: np.ndarray | None = None) -> None:
        """Add one split: its case, the row number of each test example, and its group (`group_names`)."""
        self.smoothed = self.smoothed or "tau" in case.prediction.extra
        self._by_class = self._by_class or case.is_label_conditional
        labels, codes = case.labels
        groups = np.full(len(codes), "") if groups is None else groups
        names, of_names = np.unique(groups, return_inverse=True)
        keys = [(label, name) for label in labels.tolist() for name in names.tolist()]
        places = (codes * len(names) + of_names).astype(np.intp)
        counted = case.counted
        fewest = np.full(len(keys), np.iinfo(np.int64).max)
        np.minimum.at(fewest, places, 0 if counted is None else counted)
        self._rows.add(np.asarray(rows), keys, places)
        for place in np.unique(places).tolist():
            size = None if counted is None else int(fewest[place])
            earlier = self._counted.get(keys[place], size)
            self._counted[keys[place]] = size if earlier is None or size is None else min(earlier, size)

    def classes(self) -> dict[Any, list[tuple[int, int | None]]]:
        """Return the parts of each true label, sorted: one, or one for each group."""
        found: dict[Any, list[tuple[int, int | None]]] = {}
        for key in sorted(self._counted):
            found.setdefault(key[0], []).append((self._rows.count(key), self._counted[key]))
        return found

    def all_classes(self) -> list[tuple[int, int | None]]:
        """Return the parts of all true labels together, without absent classes, which no region contains."""
        known = [key for key in sorted(self._counted) if self._counted[key] != 0]
        if self._by_class:
            return [(self._rows.count(key), self._counted[key]) for key in known]
        parts = []
        for group in dict.fromkeys(name for _, name in known):
            own = [key for key in known if key[1] == group]
            sizes = [size for key in own if (size := self._counted[key]) is not None]
            parts.append((self._rows.count(*own), min(sizes) if len(sizes) == len(own) else None))
        return parts


def group_names(result: CellResult, prediction: Prediction) -> np.ndarray | None:
    """Return the name (n,) of the group of each test example in the only division of ``by``, else None.

    The codes of groups differ between fits. The names of a division with the label are those of one label.
    """
    codes = prediction.extra.get(GROUP)
    if codes is None or codes.shape[1] > 1:
        return None
    (division,) = result.views.fit_details.other[DIVISIONS]
    step = len(prediction.classes) if division["label"] else 1
    return np.array([*division["groups"], ""])[np.where(codes[:, 0] == UNKNOWN, UNKNOWN, codes[:, 0] * step)]


STEPS = 200


def level_grid(top: float) -> np.ndarray:
    """Return the (201,) levels of a figure from 0 to ``top``."""
    return np.linspace(0, top, STEPS + 1)


def true_p_values(case: Case) -> np.ndarray:
    """Return the (n,) scores of the true labels; -1 for absent classes, which no region contains."""
    scores = case.prediction.scores[np.arange(len(case.truth)), case.true_columns]
    return np.where(case.true_columns >= 0, scores, -1.0)


def level_counts(prediction: Prediction, levels: np.ndarray) -> np.ndarray:
    """Return (n, c) the number of ``levels`` (m,), in ascending order, at which a region contains the class.

    Regions shrink with the level, so a region at ``levels[j]`` contains the classes with a count above j, as
    `Prediction.region` computes it.
    """
    scores = prediction.scores
    if prediction.kind == "p-value":
        return np.where(np.isnan(scores), 0, np.searchsorted(levels, scores, side="left"))
    limits, m = (1 - levels - 1e-12)[::-1], len(levels)
    return of_sums_before(
        scores, lambda before: (m - np.searchsorted(limits, before, side="right")).astype(np.int32), m
    )


class RegionErrors(NamedTuple):
    """Fraction of regions without the true label at each level.

    levels, errors: (levels,) mean over the splits. rows: number of different test rows. conformal: whether
    the view has p-values. counted: number of examples that p-values are counted among; None without p-values
    and for an online pass; 0, for which there is no band, if all are weighted.
    """

    levels: np.ndarray
    errors: np.ndarray
    rows: int
    conformal: bool
    counted: int | None


def region_errors(
    variant: Variant, max_level: float = 1.0, instances: int | None = None
) -> dict[str, RegionErrors]:
    """Return the errors of the regions of each view.

    instances: number of test examples of each split, the same ones for every method; None for all.
    """
    levels = level_grid(float(max_level))
    found = {}
    for view, splits in variant.views.items():
        usable = [split for split in splits if split.case.prediction.has_regions and len(split.case.truth)]
        if usable:
            found[view] = _errors(usable, levels, variant, instances)
    return found


def _errors(
    splits: Sequence[Split], levels: np.ndarray, variant: Variant, instances: int | None
) -> RegionErrors:
    parts, errors, rows = CalibrationParts(), [], []
    for result, case in splits:
        numbers = result.rows
        if case.prediction.kind == "p-value":
            parts.add(case, numbers, group_names(result, case.prediction))
        if instances is not None and instances < len(numbers):
            some = _some(numbers, instances, variant)
            case, numbers = Case(case.prediction.take(some), case.truth[some]), numbers[some]
        if case.prediction.kind == "p-value":
            missed = np.searchsorted(np.sort(true_p_values(case)), levels, side="right")
        else:
            counts = level_counts(case.prediction, levels)[np.arange(len(numbers)), case.true_columns]
            counts, last = np.where(case.known, counts, 0), len(levels)
            missed = np.bincount(counts, minlength=last + 1).cumsum()[:last]
        errors.append(missed / len(numbers))
        rows.append(numbers)
    sizes = [counted for _, counted in parts.all_classes()]
    known = [size for size in sizes if size is not None]
    counted: int | None = None
    if parts.classes() and not sizes:
        counted = 0
    elif sizes and len(known) == len(sizes):
        counted = sum(known)  # label-conditional classes add up to about one sample of all of them
    conformal = all(case.prediction.kind == "p-value" for _, case in splits)
    different = len(np.unique(np.concatenate(rows)))
    return RegionErrors(levels, np.mean(errors, axis=0), different, conformal, counted)


def _some(numbers: np.ndarray, instances: int, variant: Variant) -> np.ndarray:
    """Return positions of random test examples from those with these row numbers, by the run's seed."""
    seed = variant.run.config.seed
    rng = stable_generator("instances", seed, variant.dataset, sorted(numbers.tolist()))
    drawn = rng.choice(np.sort(numbers), instances, replace=False)
    return np.flatnonzero(np.isin(numbers, drawn))


class RegionSizes(NamedTuple):
    """Mean set size of p-values (criterion N) at each level, mean over the splits; (levels,) each."""

    levels: np.ndarray
    sizes: np.ndarray


def region_sizes(variant: Variant, max_level: float = 0.2) -> dict[str, RegionSizes]:
    """Return the set sizes of each view with p-values."""
    levels = level_grid(float(max_level))
    found = {}
    for view, splits in variant.views.items():
        sizes = []
        for _, case in splits:
            if case.prediction.kind == "p-value" and len(case.truth):
                p = np.sort(case.prediction.scores, axis=None)
                sizes.append((p.size - np.searchsorted(p, levels, side="right")) / len(case.truth))
        if sizes:
            found[view] = RegionSizes(levels, np.mean(sizes, axis=0))
    return found
