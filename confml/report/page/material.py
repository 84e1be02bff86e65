"""`Material`: the numbers of one run that its page shows, collected while the sections write their files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from confml.measures.block import Block
from confml.measures.prediction import Prediction
from confml.report.answers.standings import Line, Standings
from confml.report.items import Grid, Item, Note, Picture, Table, TableKind
from confml.report.numbers.calibration_parts import CalibrationParts, case_of
from confml.report.numbers.region_levels import level_counts
from confml.report.page.view_numbers import Bins, numbers_of, packed, page_levels
from confml.report.run.cells import with_details
from confml.report.run.one_pass import ViewBlock
from confml.report.run.results import RunResults
from confml.runner.plan import Cell
from confml.runner.results import CellResult

SHOWN = 4  # examples of each kind
ROWS_OF_VIEW, ROWS_OF_PAGE, VIEWS_WITH_ROWS = 2500, 12000, 200
Key = tuple[str, str, str, str]  # data set, method, params, view


@dataclass(frozen=True)
class Example:
    """A test example: row number, label, predicted label, confidence, credibility or None, and its regions.

    group: ``least``, ``most`` (trusted) or ``wrong`` (wrong prediction with a high confidence). regions:
    pairs of levels and the region at them, as texts.
    """

    group: str
    row: int
    label: str
    prediction: str
    confidence: float
    credibility: float | None
    regions: tuple[tuple[str, str], ...]


@dataclass
class ViewData:
    """One view of one method variant on one data set, over its splits.

    errors: by split. region_errors, set_sizes: (m,) by split, at the levels of the page. parts: of p-values,
    while the splits are added; afterwards ``counted``, the groups of examples as `coverage_band` takes them,
    and ``smoothed``. rows: the first test examples of the first split as plain data.
    """

    key: Key
    label: str
    method: str
    kind: str
    first: bool
    run: str = ""
    errors: dict[str, float] = field(default_factory=dict)
    region_errors: list[np.ndarray] = field(default_factory=list)
    set_sizes: list[np.ndarray] = field(default_factory=list)
    parts: CalibrationParts = field(default_factory=CalibrationParts)
    counted: list[tuple[int, int | None]] = field(default_factory=list)
    smoothed: bool = False
    bins: Bins = field(default_factory=Bins)
    confusion: dict[tuple[Any, Any], int] = field(default_factory=dict)
    split: str = ""
    examples: list[Example] = field(default_factory=list)
    rows: dict[str, Any] | None = None

    @property
    def dataset(self) -> str:
        return self.key[0]


class Material:
    """The numbers of a run for its page.

    results: the run. tables: those that the page reads, by path. grids: by title. paths: of all items and
    their folders. notes, pictures: as the sections yield them. views: by data set, method, params and view,
    in the order of the CSV files.
    """

    def __init__(self, results: RunResults, run: str = "", details: bool = True):
        self.results, self.run, self.details = results, run, details
        self.levels = page_levels(results.config.levels)
        self.tables: dict[str, Table] = {}
        self.grids: dict[str, Grid] = {}
        self.paths: set[str] = set()
        self.notes: list[str] = []
        self.pictures: list[Picture] = []
        self.views: dict[Key, ViewData] = {}
        self.cells = results.ordered_cells
        self._indexed: dict[str, dict[Any, list[Sequence[Any]]]] = {}  # rows by data set
        variants = len({(cell.dataset, cell.method, cell.variant) for cell in self.cells})
        self._open: list[ViewData] = []  # of the variant whose splits are added
        self._rows_left, self._views_with_rows = ROWS_OF_PAGE, 0
        self._rows_of_view = min(ROWS_OF_VIEW, max(20, ROWS_OF_PAGE // max(variants, 1)))

    @property
    def datasets(self) -> list[str]:
        return list(dict.fromkeys(cell.dataset for cell in self.cells))

    def number_of_splits(self, dataset: str) -> int:
        """Return the number of splits of a data set with results."""
        return len({split for view in self.of_dataset(dataset) for split in view.errors})

    def of_dataset(self, dataset: str, first_only: bool = False) -> list[ViewData]:
        """Return the views of a data set; only the first view of each variant if asked."""
        found = [one for one in self.views.values() if one.dataset == dataset]
        return [one for one in found if one.first] if first_only else found

    def missing(self, dataset: str) -> list[str]:
        """Return the labels of the methods of the config without results on a data set."""
        known = {key[:3] for key in self.views}
        cells = [one for one in self.cells if one.dataset == dataset]
        labels = [self.label(one) for one in cells if (one.dataset, one.method, one.variant) not in known]
        return list(dict.fromkeys(labels))

    def line(self, view: ViewData) -> Line:
        """Return the line of a view in the `Standings` of the runs of the page."""
        cell = next(one for one in self.cells if (one.dataset, one.method, one.variant) == view.key[:3])
        return Standings.line(self.run, self.results, cell, view.key[3])

    def see(self, item: Item) -> None:
        """Keep a table, a note or a picture that a section has yielded."""
        path = getattr(item, "path", "")
        self.paths |= {path, path.partition("/")[0]}
        if isinstance(item, Table):
            if item.read:
                self.tables[item.path] = replace(item, rows=list(item.rows))
        elif isinstance(item, Grid):
            self.grids[item.title] = item
        elif isinstance(item, Note):
            self.notes.append(item.text)
        elif isinstance(item, Picture):
            self.pictures.append(item)

    def rows_of(self, kind: TableKind, dataset: str | None = None) -> list[Mapping[str, Any]]:
        """Return the rows of a section's table as mappings, of one data set if asked; none without it."""
        path = kind.path
        if path not in self.tables:
            return []
        table = self.tables[path]
        if path not in self._indexed:
            own: dict[Any, list[Sequence[Any]]] = {}
            place = list(table.header).index("dataset") if "dataset" in table.header else None
            for row in table.rows:
                own.setdefault(None if place is None else row[place], []).append(row)
            self._indexed[path] = own
        by_dataset = self._indexed[path]
        parts = by_dataset.values() if dataset is None else [by_dataset.get(dataset, [])]
        return [dict(zip(table.header, row, strict=True)) for rows in parts for row in rows]

    def finish_variant(self) -> None:
        """Replace the rows behind the p-values of the last variant by their numbers."""
        for data in self._open:
            data.counted = data.parts.all_classes()
            data.smoothed, data.parts = data.parts.smoothed, CalibrationParts()
        self._open = []

    # ---- one finished cell

    def prepare(self, blocks: Sequence[ViewBlock]) -> None:
        """Compute numbers of some cells together, before `add` is called with each."""
        for one in blocks:
            for case, numbers in zip(one.block.cases, numbers_of(one.block, self.levels), strict=True):
                case.kept["page"] = numbers

    def add(self, result: CellResult) -> None:
        """Collect the numbers of one finished cell."""
        cell = result.cell
        for place, (view, prediction) in enumerate(result.views.items()):
            if not len(prediction):
                continue
            key = (cell.dataset, cell.method, cell.variant, view)
            data = self.views.get(key)
            if data is None:
                method, label = self.results.label(cell), self.label(cell, view * (len(result.views) > 1))
                data = self.views[key] = ViewData(key, label, method, prediction.kind, place == 0, self.run)
                self._open.append(data)
            self._add_view(data, result, prediction)

    def label(self, cell: Cell, view: str = "") -> str:
        """Return the label of the method of a cell, with the view and the run."""
        return with_details(self.results.label(cell), view, self.run)

    def _add_view(self, data: ViewData, result: CellResult, prediction: Prediction) -> None:
        split, case = result.cell.split, case_of(result, prediction)
        data.errors[split] = float(1 - case.correct.mean())
        numbers = case.kept.pop("page", None) or numbers_of(Block.of(case), self.levels)[0]
        if numbers.region_errors is not None and numbers.set_sizes is not None:
            data.region_errors.append(numbers.region_errors)
            data.set_sizes.append(numbers.set_sizes)
        if data.kind == "p-value":
            data.parts.add(case, result.rows)
        if numbers.bins is not None:
            data.bins.add(*numbers.bins)
        if self.details:
            found = case.confusion
            labels = found.labels.tolist()
            for i, row in enumerate(found.counts.tolist()):
                for j, count in enumerate(row):
                    if count:
                        pair = labels[i], labels[j]
                        data.confusion[pair] = data.confusion.get(pair, 0) + count
            if not data.split and not np.isnan(case.certainty).any():
                data.split = split
                data.examples = _examples(result, prediction, self.results.config.levels)
                counts = level_counts(prediction, self.levels) if prediction.has_regions else None
                data.rows = self._rows(result, prediction, counts)

    def _rows(self, result: CellResult, prediction: Prediction, counts: np.ndarray | None):
        """Return the first test examples as plain data for the table of regions; None without space."""
        n = min(len(prediction), self._rows_of_view, self._rows_left)
        if n <= 0 or self._views_with_rows >= VIEWS_WITH_ROWS:
            return None
        self._rows_left -= n
        self._views_with_rows += 1
        names = {label: None for label in (*prediction.classes.tolist(), *np.unique(result.truth).tolist())}
        place = {label: number for number, label in enumerate(names)}
        credibility = prediction.credibility
        return {
            "of": len(prediction),
            "names": [str(name) for name in names],
            "classes": len(prediction.classes),
            "row": np.asarray(result.rows[:n]).tolist(),
            "label": [place[label] for label in np.asarray(result.truth[:n]).tolist()],
            "prediction": [place[label] for label in prediction.labels[:n].tolist()],
            "confidence": _short(prediction.confidence[:n]),
            "credibility": None if credibility is None else _short(credibility[:n]),
            "regions": None if counts is None else packed(counts[:n]),
        }


def _examples(result: CellResult, prediction: Prediction, levels: Sequence[float]) -> list[Example]:
    """Return the least and the most trusted test examples, and the wrong ones with the most confidence."""
    certainty = prediction.certainty
    if len(certainty) and certainty.min() == certainty.max():
        return []  # no example is trusted more than another
    order = np.argsort(certainty, kind="stable")
    wrong = np.flatnonzero(prediction.labels != np.asarray(result.truth))
    wrong = wrong[np.argsort(-certainty[wrong], kind="stable")]
    groups = {"least": order[:SHOWN], "wrong": wrong[:SHOWN], "most": order[::-1][:SHOWN]}
    found = []
    for group, rows in groups.items():
        part = prediction.take(rows)
        sets: list[list[tuple]] = []
        if part.has_regions:
            sets = [part.label_sets(float(level)) for level in levels]
        credibility, confidence = part.credibility, part.confidence
        for place, row in enumerate(rows.tolist()):
            found.append(
                Example(
                    group,
                    int(result.rows[row]),
                    str(np.asarray(result.truth)[row]),
                    str(prediction.labels[row]),
                    float(confidence[place]),
                    None if credibility is None else float(credibility[place]),
                    _by_level(levels, [one[place] for one in sets]),
                )
            )
    return found


def _by_level(levels: Sequence[float], sets: Sequence[tuple]) -> tuple[tuple[str, str], ...]:
    """Return each region once, with the levels at which it is the same."""
    found: dict[str, list[str]] = {}
    for level, labels in zip(levels if sets else (), sets, strict=True):
        found.setdefault("{" + ", ".join(map(str, labels)) + "}", []).append(f"{float(level)!r}")
    return tuple((", ".join(at), region) for region, at in found.items())


def _short(values: np.ndarray) -> list[float | None]:
    """Return numbers with four decimals; None where they are not finite."""
    return [round(value, 4) if np.isfinite(value) else None for value in np.asarray(values, float).tolist()]
