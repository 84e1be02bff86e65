"""``regions/``: the prediction of every test example."""

import csv
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from confml.measures import Case
from confml.measures.regions import reasons
from confml.report.archives import open_table
from confml.report.files import column_lines, field, fields
from confml.report.items import PrintedTable
from confml.report.region_columns import region_fields, score_columns
from confml.report.run.cells import view_ending
from confml.report.run.results import RunResults, Variant
from confml.report.tables.table import CellFiles
from confml.runner.results import CellResult

PRINTED_ROWS, PRINTED_CLASSES = 5, 4


def files(variant: Variant) -> Iterator[tuple[str, Iterator[str]]]:
    """Write the prediction of every test example: one file per finished cell, or per view of it.

    The folders are called as the labels of the config, or as method and parameters. A run of more than 200
    cells has the same files as members of ``regions.zip``. In Python,
    ``confml.load_run(folder).regions(...)`` reads the predictions of any run.

    ``row`` is the number of the row from 0: in the test part for a fixed split, else in the whole data set,
    after ``missing: drop`` left out rows. It joins the tables of one split. ``line`` is the line of the file
    that the row was read from, counted from 1 with the header (of the test file for a test part), and the
    columns of ``id:`` follow: join other data by these. ``part`` is ``train`` or ``test`` if the parts of the
    provider are pooled, because lines are then those of two files. An identifier with the name of another
    column is called ``id.<name>``. Data without a file have no lines.

    ``label`` is the true label and ``prediction`` the predicted one. ``confidence``; ``credibility`` for
    p-values; a column ``p[<class>]``, ``prob[<class>]`` or ``margin[<class>]`` for each class;
    ``total_entropy``, ``expected_entropy`` and ``mutual_information`` in nats for the view reject of draws;
    ``sd[<class>]`` for a posterior; ``lower[<class>]`` and ``upper[<class>]`` for a Venn predictor;
    ``standard_error[<class>]``, the Monte Carlo error of the score, for draws and Markov chains.
    ``region@<level>``: labels of the region, joined by ``|``. ``reason@<level>``: ``certain`` (one label),
    ``ambiguous`` (several) or ``atypical`` (none).
    """
    for result in variant.splits:
        path = variant.run.region_paths[result.cell.key]
        for view, case in variant.of_split(result):
            yield f"{path}{view_ending(view, result.views)}", column_lines([table(variant.run, result, case)])


def table(run: RunResults, result: CellResult, case: Case) -> tuple[list[str], list[list[str]]]:
    """Return header and columns of one file, with the columns that identify its rows after ``row``."""
    header, columns = region_table(case, result.rows, run.config.levels)
    origins = run.origins.get(result.cell.dataset)
    if origins is None:
        return header, columns
    found = origins.columns(result.rows, result.cell.split, header)
    texts = [[field(value) for value in values.tolist()] for values in found.values()]
    return [header[0], *found, *header[1:]], [columns[0], *texts, *columns[1:]]


def region_table(case: Case, rows: np.ndarray, levels: Sequence[float]) -> tuple[list[str], list[list[str]]]:
    """Return header and columns (of finished CSV fields) of one view's table; n rows in the given order.

    ``row,label,prediction,confidence,credibility``; ``p[<class>]`` (``prob[<class>]`` for probabilities and
    vote shares, ``margin[<class>]`` for margins) per class; the columns of `per_row_extra`, and those of
    `per_class_extra` per class; ``region@<level>`` and ``reason@<level>`` per level. The labels of a region
    are joined by ``|``; a ``|`` or a backslash in a label is escaped with a backslash. Margins have no
    regions, and only p-values have a credibility.
    """
    header, columns = score_columns(case.prediction, case.confidence)
    header = ["row", "label", *header]
    columns = [[str(row) for row in np.asarray(rows).tolist()], fields(case.truth.tolist()), *columns]
    classes = [str(label) for label in case.prediction.classes.tolist()]
    if case.prediction.has_regions:
        for level in map(float, levels):
            region = case.regions(level).labels
            header += [f"region@{level!r}", f"reason@{level!r}"]
            columns += [region_fields(region, classes), reasons(region).tolist()]
    return header, columns


def printed(run: RunResults, folder: Path) -> Iterator[PrintedTable]:
    """Yield the first rows of the first table with regions."""
    views = {metrics.cell.key: metrics.views for metrics in run.metrics}
    for cell in run.cells:
        for view in views.get(cell.key, ()):
            path = f"regions/{run.region_paths[cell.key]}{view_ending(view, views[cell.key])}"
            with open_table(folder, path) as file:
                rows = list(islice(csv.reader(file or ()), PRINTED_ROWS + 1))
            names = {name.partition("[")[0].partition("@")[0] for name in rows[0]} if rows else set()
            if len(rows) > 1 and ("region" in names if run.config.levels else "margin" not in names):
                title = f"Region predictions, first rows of {folder / path}"
                yield PrintedTable(title, *_shortened(*rows))
                return


def _shortened(header: Sequence[str], *rows: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows with the scores of the first classes only, and short numbers."""
    credibility = header.index("credibility")
    scores = [place for place in range(credibility, len(header)) if header[place].endswith("]")]
    kept = [place for place in range(len(header)) if place not in scores[PRINTED_CLASSES:]]
    if not any(row[credibility] for row in rows):
        kept.remove(credibility)
    headings = [header[place] for place in kept]
    if len(scores) > PRINTED_CLASSES:
        headings[headings.index(header[scores[PRINTED_CLASSES - 1]])] += " ..."
    return headings, [
        [_short(row[place]) if place >= credibility - 1 else row[place] for place in kept] for row in rows
    ]


def _short(text: str) -> str:
    """Return a number with four decimals, and any other field unchanged."""
    try:
        value = float(text)
    except ValueError:
        return text
    return text if len(text) <= 6 else f"{value:.4f}"


TABLE = CellFiles(
    "regions",
    "prediction of every test example",
    files,
    printed=printed,
)
