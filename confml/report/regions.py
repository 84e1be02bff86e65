"""The region-prediction tables: ``regions/<data set>/<method variant>/<split>.csv``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from confml.measures.prediction import SCORE_NAMES, Prediction
from confml.measures.regions import reasons
from confml.report.files import field, numbers, quoted, safe_name, safe_names, write_columns

if TYPE_CHECKING:
    from confml.report.results import RunResults
    from confml.runner.plan import Cell


def write_regions(results: RunResults, folder: Path) -> Iterator[Path]:
    """Write the tables of all finished cells: a file each, or one a view where a method has several."""
    paths = region_paths(results)
    for result in results.finished():
        stem = folder / "regions" / paths[result.cell.key]
        for view, prediction in result.views.items():
            ending = f".{safe_name(view)}.csv" if len(result.views) > 1 else ".csv"
            header, columns = region_table(prediction, result.truth, result.rows, results.config.levels)
            yield write_columns(stem.with_name(stem.name + ending), header, columns)


def region_paths(results: RunResults) -> dict[str, Path]:
    """Where below ``regions/`` each cell's tables go, by key, without the ending; no two alike."""
    datasets = safe_names(cell.dataset for cell in results.cells)
    variants = safe_names(_variant(cell) for cell in results.cells)
    taken: dict[tuple, list[Cell]] = {}
    for cell in results.cells:
        taken.setdefault((cell.dataset, _variant(cell), cell.split), []).append(cell)
    paths = {}
    for (dataset, variant, split), cells in taken.items():
        for cell in cells:  # several only where a config has one method twice with different grids
            name = safe_name(split) if len(cells) == 1 else f"{safe_name(split)}-{cell.key[:8]}"
            paths[cell.key] = Path(datasets[dataset], variants[variant], name)
    return paths


def region_table(
    prediction: Prediction, truth: np.ndarray, rows: np.ndarray, levels: Sequence[float]
) -> tuple[list[str], list[list[str]]]:
    """Header and columns (of finished CSV fields) of one view's table; n rows in the order given.

    ``row,label,prediction,confidence,credibility``, one ``p[<class>]`` (``prob[<class>]`` of probabilities
    and shares, ``margin[<class>]`` of margins) a class, ``sd[<class>]`` of a posterior, then
    ``region@<level>`` and ``reason@<level>`` a level. The labels of a region are joined by ``|``; a ``|`` or
    a backslash within a label has a backslash before it. Margins have no regions, and only p-values have a
    credibility.
    """
    header = ["row", "label", "prediction", "confidence", "credibility"]
    credibility = prediction.credibility
    columns = [
        [str(row) for row in np.asarray(rows).tolist()],
        [field(label) for label in truth.tolist()],
        [field(label) for label in prediction.labels.tolist()],
        numbers(prediction.confidence),
        [""] * len(prediction) if credibility is None else numbers(credibility),
    ]
    classes = [str(label) for label in prediction.classes.tolist()]
    header += [f"{SCORE_NAMES.get(prediction.kind, 'prob')}[{label}]" for label in classes]
    columns += [numbers(scores) for scores in prediction.scores.T]
    if prediction.kind == "posterior":
        header += [f"sd[{label}]" for label in classes]
        columns += [numbers(sd) for sd in prediction.extra["sd"].T]
    if prediction.has_regions:
        for level in map(float, levels):
            region = prediction.region(level)
            header += [f"region@{level!r}", f"reason@{level!r}"]
            columns += [region_fields(region, classes), reasons(region).tolist()]
    return header, columns


def region_fields(region: np.ndarray, classes: Sequence[str]) -> list[str]:
    """The (n,) CSV fields of a (n, c) region: its labels joined by ``|``."""
    escaped = [label.replace("\\", "\\\\").replace("|", "\\|") for label in classes]
    known: dict[bytes, str] = {}
    fields = []
    for row in region:
        key = row.tobytes()
        if key not in known:
            known[key] = quoted("|".join(escaped[column] for column in np.flatnonzero(row)))
        fields.append(known[key])
    return fields


def _variant(cell: Cell) -> str:
    return f"{cell.method};{cell.variant}" if cell.variant else cell.method
