"""Warnings that follow from the results of a run: constant predictions, levels that exclude no label."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from confml.config.warnings import Warned, unsilenced
from confml.measures.regions import smallest_p_notes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from confml.report.results import RunResults

CONSTANT_ROWS = 10
"""Number of test rows of a method from which the same prediction for all of them is a warning."""


def all_warnings(results: RunResults) -> list[Warned]:
    """Return the warnings of a run that its config does not silence: those of its start, then of its
    results."""
    silence = getattr(results.config, "silence", ())
    return unsilenced([*results.warnings, *result_warnings(results)], silence)


@functools.lru_cache(maxsize=1)  # they need all cells, and notes and console show them
def result_warnings(results: RunResults) -> tuple[Warned, ...]:
    """Return the warnings that follow from the finished cells."""
    fewest: dict[str, int] = {}
    by_class: dict[str, dict] = {}
    predicted: dict[tuple[str, str], tuple[set, set, int]] = {}
    for result in results.finished():
        name = result.cell.dataset
        labels, truths, rows = predicted.get((name, results.label(result.cell)), (set(), set(), 0))
        first = next(iter(result.views.values()), None)
        if first is not None and len(labels) < 2:
            labels |= set(first.labels.tolist())
            truths |= set(result.truth.tolist())
        predicted[name, results.label(result.cell)] = labels, truths, rows + len(result.truth)
        if not any(view.kind == "p-value" for view in result.views.values()):
            continue
        if _is_label_conditional(result.cell.params):
            counts = by_class.setdefault(name, {})
            # p-values of a conformal method are counted among its calibration examples only.
            own = result.details.calibration_rows
            for label, n in result.train_class_counts.items() if own is None else own:
                counts[label] = min(n, counts.get(label, n))
        else:
            n = int(result.fit_metrics.get("calibration_rows", result.train_rows))
            fewest[name] = min(n, fewest.get(name, n))
    return (*_small_levels(results, fewest, by_class), *_constant(predicted))


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
            remedy = "check its parameters and the scale of the features; error says little about it"
            yield Warned("constant-predictions", sentence, remedy, dataset)


def _is_label_conditional(params: Mapping) -> bool:
    return any(name.rpartition("__")[2] == "mondrian" and value for name, value in params.items())
