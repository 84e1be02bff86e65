"""Numbers of one view for the page: regions at many levels, bins of the confidence, and test examples."""

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from confml.measures.block import Block
from confml.measures.prediction import Prediction
from confml.report.numbers.region_levels import CalibrationParts, group_names, level_counts
from confml.report.numbers.variant_numbers import OfVariants, VariantNumbers
from confml.report.run.cells import RunCells
from confml.runner.results import CellResult

SHOWN = 4  # examples of each kind
ROWS_OF_VIEW, ROWS_OF_PAGE, VIEWS_WITH_ROWS = 2500, 12000, 200

GRID = (
    *(0.001, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15),
    *(0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
)
DIGITS = np.frombuffer(b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", dtype=np.uint8)
MOST = len(DIGITS) - 1


def page_levels(config_levels: Iterable[float]) -> np.ndarray:
    """Return the significance levels of the page in ascending order: those of the config and of `GRID`."""
    own = list(dict.fromkeys(map(float, config_levels)))[:MOST]
    others = [level for level in GRID if level not in own][: MOST - len(own)]
    return np.array(sorted([*own, *others]))


def packed(counts: np.ndarray) -> str:
    """Return (n, c) counts as one text, with one character of `DIGITS` for each count, row by row."""
    return DIGITS[np.ascontiguousarray(counts)].tobytes().decode("ascii")


BINS = 10


@dataclass
class Bins:
    """Counts of predictions in bins of their confidence: examples, correct ones, sum of confidences."""

    n: np.ndarray = field(default_factory=lambda: np.zeros(BINS))
    correct: np.ndarray = field(default_factory=lambda: np.zeros(BINS))
    confidence: np.ndarray = field(default_factory=lambda: np.zeros(BINS))

    def add(self, n: np.ndarray, correct: np.ndarray, confidence: np.ndarray) -> None:
        """Add the numbers (`BINS`,) of one test part."""
        self.n += n
        self.correct += correct
        self.confidence += confidence


class PartNumbers(NamedTuple):
    """Numbers of one test part.

    error: error rate. region_errors, set_sizes: (m,) error rate and mean size of the regions at the levels of
    the page; None without regions. bins: as `Bins.add` takes them; None without shares.
    """

    error: float
    region_errors: np.ndarray | None
    set_sizes: np.ndarray | None
    bins: tuple[np.ndarray, np.ndarray, np.ndarray] | None


def numbers_of(block: Block, levels: np.ndarray) -> list[PartNumbers]:
    """Return the numbers of each case of a block at levels (m,)."""
    cases, m, whole = len(block), len(levels), block.whole
    prediction, n = whole.prediction, block.sizes[:, None]
    errors: list = [None] * cases
    sizes, bins = list(errors), list(errors)
    if prediction.has_regions:
        counts, columns = level_counts(prediction, levels), whole.true_columns
        of_truth = np.where(columns >= 0, counts[np.arange(len(counts)), columns], 0)
        errors = list(_at_most(of_truth[:, None], block, m) / n)
        sizes = list((counts.shape[1] * n - _at_most(counts, block, m)) / n)
    if prediction.kind in ("probability", "vote", "envelope", "posterior"):
        top = prediction.scores.max(axis=1)
        finite = block.totals(~np.isfinite(top)) == 0
        top = np.clip(np.where(np.isfinite(top), top, 0), 0, 1)
        place = block.of_case * BINS + np.clip((top * BINS).astype(np.intp), 0, BINS - 1)
        found = [
            np.bincount(place, weights, minlength=cases * BINS).reshape(cases, BINS)
            for weights in (None, whole.correct, top)
        ]
        bins = [own if good else None for *own, good in zip(*found, finite.tolist(), strict=True)]
    plain = (1 - block.shares(whole.correct)).tolist()
    return [PartNumbers(*own) for own in zip(plain, errors, sizes, bins, strict=True)]


def _at_most(counts: np.ndarray, block: Block, m: int) -> np.ndarray:
    """Return (s, m) how many counts (N, c) of each case are at most 0, 1, ... m - 1."""
    places = block.of_case[:, None] * (m + 1) + counts
    found = np.bincount(places.ravel(), minlength=len(block) * (m + 1)).reshape(len(block), m + 1)
    return np.cumsum(found, axis=1)[:, :m]


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
class RowBudget:
    """Numbers of test examples and of views with examples that a page may still show."""

    of_view: int
    rows: int = ROWS_OF_PAGE
    views: int = VIEWS_WITH_ROWS

    @classmethod
    @functools.lru_cache(maxsize=1)
    def of(cls, results: RunCells) -> "RowBudget":
        """Return the budget that the views of a run share."""
        variants = len({(cell.dataset, cell.method, cell.variant) for cell in results.cells})
        return cls(min(ROWS_OF_VIEW, max(20, ROWS_OF_PAGE // max(variants, 1))))

    def take(self, rows: int) -> int:
        """Return how many of the rows of the next view are shown."""
        n = min(rows, self.of_view, self.rows) if self.views else 0
        self.rows -= n
        self.views -= bool(n)
        return n


class ViewData(VariantNumbers):
    """One view of one method variant on one data set, over its splits.

    errors: by split. region_errors, set_sizes: (m,) by split, at the levels of the page. counted: the groups
    of examples behind p-values as `coverage_band` takes them, and ``smoothed``. rows: the first test examples
    of the first split as plain data. key, label, method and run are set by the page.
    """

    options = ("details",)

    def start(self, options):
        self.key, self.label, self.method, self.run = ("", "", "", ""), "", "", ""
        self.kind, self.several = "", False  # whether the method has several views
        self.levels, self._details = page_levels(self.results.config.levels), options["details"]
        self.errors: dict[str, float] = {}
        self.region_errors: list[np.ndarray] = []
        self.set_sizes: list[np.ndarray] = []
        self._parts = CalibrationParts()
        self.counted: list[tuple[int, int | None]] = []
        self.smoothed = False
        self.bins = Bins()
        self.split = ""
        self.examples: list[Example] = []
        self.rows: dict[str, Any] | None = None

    @property
    def dataset(self) -> str:
        return self.key[0]

    @classmethod
    def takes(cls, result, case):
        return len(case.prediction) > 0

    @classmethod
    def prepare(cls, results, blocks):
        levels = page_levels(results.config.levels)
        for one in blocks:
            if not len(one.block.of_case):
                continue
            for case, numbers in zip(one.block.cases, numbers_of(one.block, levels), strict=True):
                case.kept["page"] = numbers

    def add(self, result, view, case):
        prediction = case.prediction
        if not self.errors:
            self.kind, self.several = prediction.kind, len(result.views) > 1
        numbers = case.kept.pop("page")
        self.errors[result.cell.split] = numbers.error
        if numbers.region_errors is not None and numbers.set_sizes is not None:
            self.region_errors.append(numbers.region_errors)
            self.set_sizes.append(numbers.set_sizes)
        if self.kind == "p-value":
            self._parts.add(case, result.rows, group_names(result, prediction))
        if numbers.bins is not None:
            self.bins.add(*numbers.bins)
        if self._details and not self.split and not np.isnan(case.certainty).any():
            self.split = result.cell.split
            self.examples = _examples(result, prediction, self.results.config.levels)
            n = RowBudget.of(self.results).take(len(prediction))
            shown = prediction.take(slice(n))
            counts = level_counts(shown, self.levels) if prediction.has_regions else None
            self.rows = _rows(result, prediction, counts, n) if n else None

    def finish(self):
        self.counted, self.smoothed = self._parts.all_classes(), self._parts.smoothed
        del self._parts


def _rows(result: CellResult, prediction: Prediction, counts: np.ndarray | None, n: int) -> dict[str, Any]:
    """Return the first n test examples as plain data for the table of regions."""
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
        "regions": None if counts is None else packed(counts),
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


def page_views(details: bool) -> OfVariants[ViewData]:
    """Return the collector of the views of a page. details: whether it shows single test examples."""
    return OfVariants(ViewData, (("details", details),))
