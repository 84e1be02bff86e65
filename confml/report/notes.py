"""What a reader of a run's numbers should know, in words: ``notes.txt``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from confml.measures.regions import smallest_p_notes

if TYPE_CHECKING:
    from confml.report.results import RunResults


def notes_of(results: RunResults) -> list[str]:
    """Cells that are missing, what the data sets' loading found, and levels that no p-value can reach."""
    notes = []
    planned = len(results.cells)
    done = sum(cell.key in results.results for cell in results.cells)
    if done < planned:
        failed = f", {len(results.failures)} failed (failures.csv)" if results.failures else ""
        notes.append(f"{done} of {planned} cells are done{failed}: the numbers are of those")
    for name, info in sorted(results.datasets.items()):
        notes += [f"{name}: {note}" for note in info.notes]
    fewest: dict[str, int] = {}
    by_class: dict[str, dict] = {}
    for result in results.finished():
        if not any(view.kind == "p-value" for view in result.views.values()):
            continue
        name = result.cell.dataset
        if _is_label_conditional(result.cell.params):
            counts = by_class.setdefault(name, {})
            for label, rows in result.train_class_counts.items():
                counts[label] = min(rows, counts.get(label, rows))
        else:
            rows = int(result.fit_metrics.get("calibration_rows", result.train_rows))
            fewest[name] = min(rows, fewest.get(name, rows))
    levels = results.config.levels
    for name, rows in fewest.items():
        notes += [f"{name}: {note}" for note in smallest_p_notes(levels, rows)]
    for name, counts in by_class.items():
        words = smallest_p_notes(levels, class_counts=counts)
        notes += [f"{name}, label-conditional p-values: {note}" for note in words]
    return notes


def _is_label_conditional(params: Mapping) -> bool:
    conformal = params.get("conformal")
    within = conformal if isinstance(conformal, Mapping) else params
    return bool(within.get("mondrian"))
