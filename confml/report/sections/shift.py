"""Weights of p-values under shift, and whether they can repair the coverage: ``shift.csv``,
``shift-classes.csv``."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from confml.methods.conformal.shifted import CLASS_SHIFT
from confml.report.items import Item, Note, TableKind
from confml.report.numbers.summaries import mean_and_sd
from confml.report.sections.base import ViewSection
from confml.runner.results import CellResult

OVERLAP = 0.95  # area under the ROC curve above which the parts hardly overlap
METRICS = ("shift_auc", "shift_effective_rows", "shift_weighted_rows", "shift_largest_share", "shift_clipped")
SHIFT = TableKind(
    "shift.csv",
    "dataset method params view level splits auc effective_rows weighted_rows largest_share clipped "
    "singular_value needed all_labels coverage mean_size advice",
)
OF_CLASSES = TableKind(
    "shift-classes.csv", "dataset method params split class training estimate low high observed"
)


class _Split(NamedTuple):
    metrics: tuple[float, ...]
    singular: float
    all_labels: float
    coverage: float
    size: float


class Shift(ViewSection):
    """``shift.csv``: weights of p-values for a test part of another distribution, means over the splits.

    auc: how well a classifier tells test from training examples (0.5: no shift; above 0.95 they hardly
    overlap). effective_rows: effective sample size (sum w)^2 / sum w^2 of the weighted_rows examples that
    p-values are counted among. needed: 5 / level; regions at this level are unreliable with fewer effective
    rows. largest_share: largest weight as a fraction of all. clipped: fraction of examples whose weight is
    clipped. singular_value: smallest singular value of the confusion matrix (label shift); below 1 / sqrt(n)
    the class weights are hardly determined. all_labels: fraction of test examples whose own weight exceeds
    the level, so that their regions have every label (unless p-values are smoothed). coverage, mean_size: of
    the regions. advice: conclusions from these numbers, empty if there are none. Coverage is never used for
    it: new examples have no labels.

    ``shift-classes.csv``, for label shift: frequency of each class in the training part, estimated frequency
    in the test part with its 95 % interval, and observed frequency in the test part. The intervals account
    for the sampling of calibration and test examples. Those from predicted classes (BBSE) contain the
    frequency in 89 to 99 % of simulated test parts (89 to 94 % with 100 calibration examples). Those from
    posteriors that need not be calibrated (EM) contain it in 94 to 97 %. With ``groups`` there is no
    interval, because the rows of a group are dependent.
    """

    name = "shift"
    place = 106
    needs = "a method with shift"
    files = {
        "shift.csv": "weights of p-values under shift, and what they can repair",
        "shift-classes.csv": "estimated class frequencies of the test part under label shift",
    }

    tables = (SHIFT,)

    def start(self) -> None:
        self._classes: list[tuple] = []

    def takes(self, case):
        return "own_share" in case.prediction.extra

    def add(self, result: CellResult) -> None:
        cell = result.cell
        for label, *numbers in result.views.fit_details.other.get(CLASS_SHIFT, ()):
            observed = float(np.mean(result.truth == label))
            key = cell.dataset, cell.method, cell.variant, cell.split
            if self.results.has_groups(cell.dataset):
                numbers[2:] = math.nan, math.nan
            self._classes.append((*key, label, *numbers, observed))
        super().add(result)

    def new(self, key):
        return {level: [] for level in self.results.config.levels}

    def add_view(self, found, result, view, case):
        numbers = tuple(result.views.fit_metrics.get(name, math.nan) for name in METRICS)
        singular = result.views.fit_metrics.get("shift_singular_value", math.nan)
        for level, own in found.items():
            region = case.prediction.region(level)
            covered = region[np.arange(len(region)), case.true_columns] & (case.true_columns >= 0)
            all_labels = float((case.prediction.extra["own_share"].min(axis=1) > level).mean())
            sizes = float(covered.mean()), float(region.sum(axis=1).mean())
            own.append(_Split(numbers, singular, all_labels, *sizes))

    def rows_of(self, key, found):
        return ([_row((*key, level), own) for level, own in found.items()],)

    def items(self) -> Iterator[Item]:
        yield from super().items()
        if self._classes:
            yield OF_CLASSES.of(self._classes)
        for row in self._rows[0]:
            if row[-1]:
                dataset, method, params, _, level = row[:5]
                name = " ".join(filter(None, (method, params)))
                yield Note(f"{dataset}, {name}, level {level:g}: {row[-1]}")


def _row(key: tuple, own: list[_Split]) -> tuple:
    """Return the means over the splits, and the advice."""
    level = key[-1]
    means = [mean_and_sd([split.metrics[place] for split in own])[0] for place in range(len(METRICS))]
    singular, all_labels, coverage, size = (
        mean_and_sd([getattr(split, name) for split in own])[0]
        for name in ("singular", "all_labels", "coverage", "size")
    )
    needed = math.ceil(5 / level - 1e-9) if level else 0
    auc, effective, rows = means[:3]
    advice = advice_of(auc, effective, rows, singular, level, needed, all_labels)
    return (*key, len(own), *means, singular, needed, all_labels, coverage, size, advice)


def advice_of(
    auc: float, effective: float, rows: float, singular: float, level: float, needed: int, all_labels: float
) -> str:
    """Return one sentence per problem of the weights, or an empty text."""
    found = []
    if effective < needed:
        found.append(
            f"the effective sample size is {effective:.0f} of {rows:.0f} examples, and level {level:g} needs"
            f" {needed}: use a larger level, or label examples drawn from the distribution of the test part"
        )
    if auc > OVERLAP:
        found.append(
            f"test and training part hardly overlap (AUC {auc:.3f}), and weights cannot repair the coverage:"
            " label examples drawn from the distribution of the test part"
        )
    if all_labels > 0.1:
        found.append(
            f"the regions of {all_labels:.0%} of the test examples contain every label, because these"
            " examples are far from the training part"
        )
    if singular == singular and rows and singular < 1 / math.sqrt(rows):
        found.append(
            "the confusion matrix hardly determines the class weights (smallest singular value"
            f" {singular:.2g}, below {1 / math.sqrt(rows):.2g}): use mondrian: true, or a better classifier"
        )
    return "; ".join(found)
