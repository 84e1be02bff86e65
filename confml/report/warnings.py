"""Warnings that follow from the results of a run: constant predictions, levels that exclude no label."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from confml.config.warnings import Warned, unsilenced
from confml.measures.p_values import has_label_conditional_p_values
from confml.measures.regions import smallest_p_notes
from confml.report.collectors import Collector

if TYPE_CHECKING:
    from collections.abc import Mapping

    from confml.report.results import RunResults
    from confml.runner.results import CellResult

CONSTANT_ROWS = 10
"""Number of test rows of a method from which the same prediction for all of them is a warning."""


def all_warnings(results: RunResults) -> list[Warned]:
    """Return the warnings of a run that its config does not silence: those of its start, then of its
    results."""
    silence = getattr(results.config, "silence", ())
    return unsilenced([*results.warnings, *result_warnings(results)], silence)


def result_warnings(results: RunResults) -> tuple[Warned, ...]:
    """Return the warnings that follow from the finished cells."""
    if results.stored is not None:
        return results.stored.warnings
    found = results.collected(WarningFacts)
    return (*_small_levels(results, found.fewest, found.by_class), *_constant(found.predicted))


class WarningFacts(Collector):
    """Numbers of the finished cells that warnings depend on.

    fewest: smallest number of examples that p-values are counted among, by data set; by_class: the same by
    data set and label of label-conditional p-values. predicted: by data set and label of the method,
    predicted and true labels and number of test rows.
    """

    def __init__(self, results: RunResults):
        super().__init__(results)
        self.fewest: dict[str, int] = {}
        self.by_class: dict[str, dict] = {}
        self.predicted: dict[tuple[str, str], tuple[set, set, int]] = {}

    def add(self, result: CellResult) -> None:
        key = name, _ = result.cell.dataset, self.results.label(result.cell)
        labels, truths, rows = self.predicted.get(key, (set(), set(), 0))
        first = next(iter(result.views.values()), None)
        if first is not None and len(labels) < 2:
            labels |= set(first.labels.tolist())
            truths |= set(result.truth.tolist())
        self.predicted[key] = labels, truths, rows + len(result.truth)
        if not any(view.kind == "p-value" for view in result.views.values()):
            return
        if has_label_conditional_p_values(result.cell.params):
            counts = self.by_class.setdefault(name, {})
            # p-values of a conformal method are counted among its calibration examples only.
            own = result.details.calibration_rows
            for label, n in result.train_class_counts.items() if own is None else own:
                counts[label] = min(n, counts.get(label, n))
        else:
            n = int(result.fit_metrics.get("calibration_rows", result.train_rows))
            self.fewest[name] = min(n, self.fewest.get(name, n))


def _small_levels(
    results: RunResults, fewest: Mapping[str, int], by_class: Mapping[str, Mapping]
) -> Iterator[Warned]:
    levels, remedy = results.config.levels, "use larger levels or more rows"
    for name, rows in fewest.items():
        for note in smallest_p_notes(levels, rows):
            yield Warned("level-too-small", note, remedy, name)
    for name, counts in by_class.items():
        for note in smallest_p_notes(levels, class_counts=counts):
            yield Warned("level-too-small", f"label-conditional p-values: {note}", remedy, name)


def _constant(predicted: Mapping[tuple[str, str], tuple[set, set, int]]) -> Iterator[Warned]:
    for (dataset, label), (labels, truths, rows) in predicted.items():
        if len(labels) == 1 and len(truths) > 1 and rows >= CONSTANT_ROWS:
            sentence = f"{label} predicts class {next(iter(labels))} for all {rows} test rows"
            remedy = "check its parameters and the scale of the features"
            yield Warned("constant-predictions", sentence, remedy, dataset)
