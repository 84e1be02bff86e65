"""Prediction regions and p-values of the true labels: ``regions/`` and ``p-values/``.

``ks_statistic`` in ``metrics.csv`` is the distance of the column ``p_smoothed`` from the uniform
distribution. An online pass has the same columns in its own table (`confml.report.sections.online`)."""

import csv
import functools
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

import numpy as np

from confml.measures import Case
from confml.measures.p_values import has_counts, is_online, required_smoothed_p_values, taus_of
from confml.measures.regions import reasons
from confml.report.archives import open_table
from confml.report.files import column_lines, field, fields, numbers, safe_name, safe_names
from confml.report.items import Item, Lines, PrintedTable
from confml.report.region_columns import region_fields, score_columns
from confml.report.run.one_pass import ViewBlock
from confml.report.run.results import RunResults
from confml.report.sections.base import Section
from confml.runner.plan import Cell
from confml.runner.results import CellResult

PRINTED_ROWS, PRINTED_CLASSES = 5, 4


class Regions(Section):
    """The prediction of every test example: one file per finished cell, or per view of it.

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

    name = "regions"
    place = 100
    files = {"regions": "prediction of every test example"}

    def prepare(self, blocks: Sequence[ViewBlock]) -> None:
        for one in blocks:
            one.keep_table("region table", functools.partial(self._table, one.results[0].cell))

    def add(self, result: CellResult) -> Iterator[Item]:
        stem = f"regions/{self._paths[result.cell.key]}"
        for view, case in result.cases.items():
            parts = case.kept.pop("region table")
            yield Lines(f"{stem}{view_ending(view, result.views)}", column_lines(parts))

    def _table(self, cell: Cell, case: Case, rows: np.ndarray) -> tuple[list[str], list[list[str]]]:
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
        views = {one.cell.key: one.views for one in self.results.metrics.cells}
        for cell in self.results.cells:
            for view in views.get(cell.key, ()):
                path = f"regions/{self._paths[cell.key]}{view_ending(view, views[cell.key])}"
                with open_table(self.folder, path) as file:
                    rows = list(islice(csv.reader(file or ()), PRINTED_ROWS + 1))
                names = {name.partition("[")[0].partition("@")[0] for name in rows[0]} if rows else set()
                if len(rows) > 1 and (
                    "region" in names if self.results.config.levels else "margin" not in names
                ):
                    title = f"Region predictions, first rows of {self.folder / path}"
                    yield PrintedTable(title, *_shortened(*rows))
                    return

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
    names = {cell.key: _variant(results, cell) for cell in results.cells}
    variants = safe_names(names.values())
    taken: dict[tuple, list[Cell]] = {}
    for cell in results.cells:
        taken.setdefault((cell.dataset, names[cell.key], cell.split), []).append(cell)
    paths, splits = {}, {split: safe_name(split) for split in {cell.split for cell in results.cells}}
    for (dataset, variant, split), cells in taken.items():
        for cell in cells:  # several only where a config has one method twice with different grids
            name = splits[split] if len(cells) == 1 else f"{splits[split]}-{cell.key[:8]}"
            paths[cell.key] = f"{datasets[dataset]}/{variants[variant]}/{name}"
    return paths


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
            region = case.region(level)
            header += [f"region@{level!r}", f"reason@{level!r}"]
            columns += [region_fields(region, classes), reasons(region).tolist()]
    return header, columns


def _variant(results: RunResults, cell: Cell) -> str:
    """Return the config's label of a cell's method, else its name and parameters; ``;`` between words."""
    label = results.given_label(cell.method, cell.params)
    if label is not None:
        return ";".join(label.split())
    return f"{cell.method};{cell.variant}" if cell.variant else cell.method


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


COUNT_COLUMNS = ("n_greater", "n_equal", "tau", "n_counted")


class TruePValues(Section):
    """One file per view with p-values and counts; an online pass has the same columns in its own file."""

    name = "p-values"
    place = 105
    needs = "p-values with counts"
    files = {"p-values": "p-values of the true labels and their counts"}

    def prepare(self, blocks: Sequence[ViewBlock]) -> None:
        for one in blocks:
            if has_counts(one.block.whole.prediction) and not is_online(one.block.whole):
                one.block.smoothed  # noqa: B018  random numbers of all rows, before a part of them is written
                one.keep_table("p-value table", p_value_table)

    def add(self, result: CellResult) -> Iterator[Item]:
        for view, case in result.cases.items():
            if "p-value table" in case.kept:
                name = region_paths(self.results)[result.cell.key]
                parts = case.kept.pop("p-value table")
                yield Lines(f"p-values/{name}{view_ending(view, result.views)}", column_lines(parts))


def p_value_table(case: Case, rows: np.ndarray) -> tuple[list[str], list[Sequence[str]]]:
    """Return header and columns (of finished CSV fields) for n test examples.

    ``row,label``, the true label's ``p_value``, its counts (`count_columns`) and ``p_smoothed``. An absent
    class has p-value 0 and no counts.
    """
    at = np.arange(len(case.truth)), case.true_columns
    p = np.where(case.true_columns >= 0, case.prediction.scores[at], 0.0)
    columns: list[Sequence[str]] = [
        [str(row) for row in np.asarray(rows).tolist()],
        [field(label) for label in case.truth.tolist()],
        numbers(p),
        *count_columns(case),
        numbers(required_smoothed_p_values(case)),
    ]
    return ["row", "label", "p_value", *COUNT_COLUMNS, "p_smoothed"], columns


def count_columns(case: Case) -> list[Sequence[str]]:
    """Return the columns `COUNT_COLUMNS` of the true labels' p-values, empty where the view has no counts.

    ``n_greater``, ``n_equal``: nonconformity scores greater than and equal to the example's own, which is one
    of the equal. ``n_counted``: N, the number of examples counted. ``p_value`` is (n_greater + n_equal) / N
    and ``p_smoothed`` is (n_greater + tau n_equal) / N, which is also ``p_value`` where the method has
    ``smoothed: true``.
    """
    prediction, extra = case.prediction, case.prediction.extra
    taus = taus_of(case)
    empty = [""] * len(case.truth)
    if not {"n_greater", "n_equal"} <= set(extra):
        return [empty, empty, empty if taus is None else numbers(taus), empty]
    at = np.arange(len(case.truth)), case.true_columns
    greater, equal, p = extra["n_greater"][at], extra["n_equal"][at], prediction.scores[at]
    counts = greater + extra.get("tau", 1.0) * equal
    known = (case.true_columns >= 0) & (p > 0)  # p is 0 where a tau was drawn as 0
    counted = np.rint(np.divide(counts, p, out=np.zeros(len(p)), where=known))
    return [
        _whole(greater, case.true_columns >= 0),
        _whole(equal, case.true_columns >= 0),
        empty if taus is None else numbers(taus),
        _whole(counted, known),
    ]


def _whole(values: np.ndarray, known: np.ndarray) -> list[str]:
    """Return whole numbers (n,) as fields, empty if unknown."""
    return [str(int(value)) if is_known else "" for value, is_known in zip(values, known, strict=True)]
