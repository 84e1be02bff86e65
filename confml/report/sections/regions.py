"""Tables of prediction regions: ``regions/<data set>/<method variant>/<split>.csv``."""

from __future__ import annotations

import csv
import functools
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from confml.measures import Case
from confml.measures.prediction import SCORE_NAMES, per_class_extra
from confml.measures.regions import reasons
from confml.report.archives import open_table
from confml.report.calibration_parts import case_of
from confml.report.files import field, numbers, quoted, safe_name, safe_names
from confml.report.items import Columns, Item, PrintedTable
from confml.report.sections.base import Section

if TYPE_CHECKING:
    from confml.report.blocks import ViewBlock
    from confml.report.results import RunResults
    from confml.runner.plan import Cell
    from confml.runner.results import CellResult


PRINTED_ROWS, PRINTED_CLASSES = 5, 4


class Regions(Section):
    """The prediction of every test example: one file per finished cell, or per view of it.

    A run of more than 200 cells has the same files as members of ``regions.zip``. In Python,
    ``confml.load_run(folder).regions(...)`` reads the predictions of any run.

    ``row`` is the number of the row from 0: in the test part for a fixed split, else in the whole data set,
    after ``missing: drop`` left out rows. It joins the tables of one split. ``line`` is the line of the file
    that the row was read from, counted from 1 with the header (of the test file for a test part), and the
    columns of ``id:`` follow: join other data by these. ``part`` is ``train`` or ``test`` if the parts of the
    provider are pooled, because lines are then those of two files. An identifier with the name of another
    column is called ``id.<name>``. Data without a file have no lines.

    ``label`` is the true label and ``prediction`` the predicted one. ``confidence``; ``credibility`` for
    p-values; a column ``p[<class>]``, ``prob[<class>]`` or ``margin[<class>]`` for each class;
    ``sd[<class>]`` for a posterior; ``lower[<class>]`` and ``upper[<class>]`` for a Venn predictor.
    ``region@<level>``: labels of the region, joined by ``|``. ``reason@<level>``: ``certain`` (one label),
    ``ambiguous`` (several) or ``atypical`` (none).
    """

    name = "regions"
    place = 100
    files = {"regions": "prediction of every test example"}

    def prepare(self, blocks: Sequence[ViewBlock]) -> None:
        for one in blocks:
            rows = np.concatenate([result.rows for result in one.results])
            header, columns = self._table(one.block.whole, rows, one.results[0].cell)
            one.keep_columns("region table", header, columns)

    def add(self, result: CellResult) -> Iterator[Item]:
        stem = f"regions/{self._paths[result.cell.key]}"
        for view, prediction in result.views.items():
            case = case_of(result, prediction)
            table = case.kept.pop("region table", None) or self._table(case, result.rows, result.cell)
            yield Columns(f"{stem}{view_ending(view, result.views)}", *table)

    def _table(self, case: Case, rows: np.ndarray, cell: Cell) -> tuple[list[str], list[list[str]]]:
        """Return the table with the columns that identify its rows, after ``row``."""
        header, columns = region_table(case, rows, self.results.config.levels)
        origins = self.results.origins.get(cell.dataset)
        if origins is None:
            return header, columns
        own = origins.columns(rows, cell.split, header)
        fields = [[field(value) for value in values.tolist()] for values in own.values()]
        return [header[0], *own, *header[1:]], [columns[0], *fields, *columns[1:]]

    def printed(self) -> Iterator[PrintedTable]:
        """Yield the first rows of the first table with regions."""
        found = next(filter(None, map(self._first_rows, self.results.cells)), None)
        if found is not None:
            path, (header, *rows) = found
            credibility = header.index("credibility")
            scores = [place for place in range(credibility, len(header)) if header[place].endswith("]")]
            kept = [place for place in range(len(header)) if place not in scores[PRINTED_CLASSES:]]
            if not any(row[credibility] for row in rows):
                kept.remove(credibility)
            headings = [header[place] for place in kept]
            numbers_from = credibility - 1
            if len(scores) > PRINTED_CLASSES:
                headings[headings.index(header[scores[PRINTED_CLASSES - 1]])] += " ..."
            short = [
                [_short(row[place]) if place >= numbers_from else row[place] for place in kept]
                for row in rows
            ]
            yield PrintedTable(f"Region predictions, first rows of {path}", headings, short)

    def _first_rows(self, cell: Cell) -> tuple[Path, list[list[str]]] | None:
        """Return path and first lines of a cell's first file with regions; None if it has none."""
        if cell.key not in self.results.results:
            return None
        views = self.results.results[cell.key].views
        view = next((name for name, prediction in views.items() if prediction.has_regions), None)
        if view is None or len(views[view]) == 0:
            return None
        path = f"regions/{self._paths[cell.key]}{view_ending(view, views)}"
        with open_table(self.folder, path) as file:
            if file is None:
                return None
            return self.folder / path, list(islice(csv.reader(file), PRINTED_ROWS + 1))

    @property
    def _paths(self) -> dict[str, str]:
        return region_paths(self.results)


def view_ending(view: str, views: Collection[str]) -> str:
    """Return the ending of a view's file; it contains the view if the method has several."""
    return f".{safe_name(view)}.csv" if len(views) > 1 else ".csv"


@functools.lru_cache(maxsize=1)  # several sections use them
def region_paths(results: RunResults) -> dict[str, str]:
    """Return the path of each cell's tables below ``regions/``, by key, without ending; all are different."""
    datasets = safe_names(cell.dataset for cell in results.cells)
    variants = safe_names(_variant(cell) for cell in results.cells)
    taken: dict[tuple, list[Cell]] = {}
    for cell in results.cells:
        taken.setdefault((cell.dataset, _variant(cell), cell.split), []).append(cell)
    paths, splits = {}, {split: safe_name(split) for split in {cell.split for cell in results.cells}}
    for (dataset, variant, split), cells in taken.items():
        for cell in cells:  # several only where a config has one method twice with different grids
            name = splits[split] if len(cells) == 1 else f"{splits[split]}-{cell.key[:8]}"
            paths[cell.key] = f"{datasets[dataset]}/{variants[variant]}/{name}"
    return paths


def region_table(case: Case, rows: np.ndarray, levels: Sequence[float]) -> tuple[list[str], list[list[str]]]:
    """Return header and columns (of finished CSV fields) of one view's table; n rows in the given order.

    ``row,label,prediction,confidence,credibility``; ``p[<class>]`` (``prob[<class>]`` for probabilities and
    vote shares, ``margin[<class>]`` for margins) per class; ``sd[<class>]`` for a posterior,
    ``lower[<class>]`` and ``upper[<class>]`` for a Venn predictor; ``region@<level>`` and
    ``reason@<level>`` per level. The labels of a region are joined by ``|``; a ``|`` or a backslash in a
    label is escaped with a backslash. Margins have no regions, and only p-values have a credibility.
    """
    header = ["row", "label", "prediction", "confidence", "credibility"]
    prediction = case.prediction
    credibility = prediction.credibility
    columns = [
        [str(row) for row in np.asarray(rows).tolist()],
        [field(label) for label in case.truth.tolist()],
        [field(label) for label in prediction.labels.tolist()],
        numbers(case.confidence),
        [""] * len(prediction) if credibility is None else numbers(credibility),
    ]
    classes = [str(label) for label in prediction.classes.tolist()]
    header += [f"{SCORE_NAMES.get(prediction.kind, 'prob')}[{label}]" for label in classes]
    columns += [numbers(scores) for scores in prediction.scores.T]
    for name in per_class_extra(prediction):
        header += [f"{name}[{label}]" for label in classes]
        columns += [numbers(values) for values in prediction.extra[name].T]
    if prediction.has_regions:
        for level in map(float, levels):
            region = case.region(level)
            header += [f"region@{level!r}", f"reason@{level!r}"]
            columns += [region_fields(region, classes), reasons(region).tolist()]
    return header, columns


def region_fields(region: np.ndarray, classes: Sequence[str]) -> list[str]:
    """Return the (n,) CSV fields of a (n, c) region: its labels joined by ``|``."""
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


def _short(text: str) -> str:
    """Return a number with four decimals, and any other field unchanged."""
    try:
        value = float(text)
    except ValueError:
        return text
    return text if len(text) <= 6 else f"{value:.4f}"
