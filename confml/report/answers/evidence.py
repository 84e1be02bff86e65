"""`Evidence`: losses of the test rows of all finished cells, in little memory."""

import hashlib
from typing import NamedTuple

import numpy as np

from confml.measures import Case
from confml.measures.costs import row_costs
from confml.measures.coverage_band import calibration_parts
from confml.measures.p_values import (
    has_several_divisions,
    is_online,
    is_weighted,
)
from confml.report.answers.coverage import SplitErrors
from confml.report.answers.differences import SplitLosses
from confml.report.answers.promises import promised
from confml.report.run.results import RunResults, Variant
from confml.runner.plan import Cell
from confml.runner.results import CellResult


class SplitRows(NamedTuple):
    """The test rows of one split.

    rows (n,): sorted; digest: of rows and true labels; online: of one pass.
    """

    rows: np.ndarray
    digest: str
    train_rows: int
    online: bool


class ViewEvidence(NamedTuple):
    """Losses of one view of one cell, in the order of row numbers.

    wrong: whether each prediction is wrong, as packed bits. costs: (n,) by metric. promise, parts, smoothed:
    as `promised` and `SplitErrors`. regions: by level the set sizes (n,), 1 for empty regions, the number
    of errors, and the errors as packed bits, which are None with ``parts``.
    """

    wrong: np.ndarray
    costs: dict[str, np.ndarray]
    promise: list[str] | None
    parts: tuple[tuple[int, int | None], ...] | None
    smoothed: bool
    regions: dict[float, tuple[np.ndarray, int, np.ndarray | None]]


class CellEvidence(NamedTuple):
    """The test rows of one cell, the losses of its views, and the seconds of inner selection, fit and
    prediction."""

    cell: Cell
    split: SplitRows
    views: dict[str, ViewEvidence]
    seconds: float


def evidence_of(variant: Variant) -> list[CellEvidence]:
    """Return the losses of the test rows of each split."""
    found = []
    for result in variant.splits:
        order = np.argsort(result.rows, kind="stable")
        rows, truth = np.asarray(result.rows)[order], np.asarray(result.truth)[order]
        cases = {view: case for view, case in variant.of_split(result) if len(case.truth)}
        online = any(is_online(case.prediction) for case in cases.values())
        digest = hashlib.sha256(rows.tobytes())
        digest.update(repr(truth.tolist()).encode("utf-8", "surrogatepass"))
        split = SplitRows(rows, digest.hexdigest()[:16], result.split_train_rows, online)
        views = {view: _of_view(result, case, order, variant.run) for view, case in cases.items()}
        for name, (metric, costs) in variant.costs_of_constants(result).items():
            nothing = np.packbits(np.zeros(len(rows), bool))
            views[name] = ViewEvidence(nothing, {metric: costs[order]}, None, None, False, {})
        tuned = float((result.tuning or {}).get("seconds") or 0.0)
        seconds = tuned + result.views.fit_seconds + result.views.predict_seconds
        found.append(CellEvidence(result.cell, split, views, seconds))
    return found


class Evidence:
    """Errors, sizes and misses of regions of the test rows, in the order of row numbers.

    splits: the rows of each cell by cell key. seconds: of inner selection, fit and prediction, by cell key.
    """

    def __init__(self, results: RunResults):
        self.results = results
        cells = [cell for found in results.collected(evidence_of) for cell in found]
        self.splits = {one.cell.key: one.split for one in cells}
        self.seconds = {one.cell.key: one.seconds for one in cells}
        self._views = {(one.cell.key, view): own for one in cells for view, own in one.views.items()}

    def errors(self, cell: Cell, view: str) -> SplitLosses | None:
        """Return whether each prediction is wrong, as losses; None without predictions."""
        found = self._views.get((cell.key, view))
        return None if found is None else self._losses(cell, found.wrong)

    def costs(self, cell: Cell, view: str, metric: str = "") -> SplitLosses | None:
        """Return the costs of the decisions of least expected cost; None if a cost is not defined.

        metric: ``cost`` or ``cost_with_abstaining``, by default the latter where there is one.
        """
        found, split = self._views.get((cell.key, view)), self.splits[cell.key]
        names = [metric] if metric else ["cost_with_abstaining", "cost"]
        costs = next((found.costs[name] for name in names if found and name in found.costs), None)
        if costs is None or np.isnan(costs).any():
            return None
        return SplitLosses(split.rows, costs, split.train_rows)

    def filled_sizes(self, cell: Cell, view: str, level: float) -> SplitLosses | None:
        """Return the set sizes, 1 for empty regions; None without regions."""
        if not self.has_regions(cell, view, level):
            return None
        split, sizes = self.splits[cell.key], self._views[cell.key, view].regions[level][0]
        return SplitLosses(split.rows, sizes, split.train_rows)

    def has_regions(self, cell: Cell, view: str, level: float) -> bool:
        """Return whether a view has regions at a level."""
        found = self._views.get((cell.key, view))
        return found is not None and level in found.regions

    def coverage(self, cell: Cell, view: str, level: float) -> SplitErrors | None:
        """Return the errors of the regions at a level; None without regions."""
        if not self.has_regions(cell, view, level):
            return None
        found = self._views[cell.key, view]
        _, errors, bits = found.regions[level]
        missed = None if bits is None else self._losses(cell, bits)
        return SplitErrors(errors, found.parts, found.smoothed, missed)

    def promise(self, cell: Cell, view: str) -> list[str] | None:
        """Return `promised` of the regions of a view; None without regions."""
        found = self._views.get((cell.key, view))
        return found.promise if found is not None and found.regions else None

    def _losses(self, cell: Cell, bits: np.ndarray) -> SplitLosses:
        split = self.splits[cell.key]
        return SplitLosses(split.rows, np.unpackbits(bits, count=len(split.rows)), split.train_rows)


def _of_view(result: CellResult, case: Case, order: np.ndarray, run: RunResults) -> ViewEvidence:
    """Return the losses of a view with rows. order: (n,) positions of the rows by their numbers."""
    costs = row_costs(case)
    known = {} if costs is None else {"cost": costs.plain, "cost_with_abstaining": costs.with_abstaining}
    promise = promised(case, run.config, result.tuning, run.has_groups(result.cell.dataset))
    weighted = is_weighted(case.prediction) and not has_several_divisions(case.prediction)
    banded = promise is not None and not weighted
    regions: dict[float, tuple[np.ndarray, int, np.ndarray | None]] = {}
    for level in map(float, run.config.levels if case.prediction.has_regions else ()):
        filled = np.maximum(case.regions(level).sizes[order], 1)
        missed = ~case.covered(level)
        errors = int(np.count_nonzero(missed & case.known if banded else missed))
        sizes = filled.astype(np.min_scalar_type(int(filled.max())))
        regions[level] = sizes, errors, None if banded else np.packbits(missed[order])
    return ViewEvidence(
        np.packbits(~case.correct[order]),
        {name: values[order] for name, values in known.items() if values is not None},
        promise,
        calibration_parts(case) if banded else None,
        "tau" in case.prediction.extra,
        regions,
    )
