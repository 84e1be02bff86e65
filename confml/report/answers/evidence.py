"""`Evidence`: losses of the test rows of all finished cells, in little memory."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from confml.measures.costs import row_costs
from confml.measures.p_values import (
    calibration_parts,
    has_several_divisions,
    is_online,
    is_weighted,
)
from confml.report.answers.coverage import SplitErrors
from confml.report.answers.differences import SplitLosses
from confml.report.answers.promises import promised
from confml.report.run.cells import RunCells
from confml.report.run.one_pass import Collector, ViewBlock
from confml.report.run.results import RunResults
from confml.runner.plan import Cell
from confml.runner.results import CellResult


class SplitRows(NamedTuple):
    """The test rows of one split.

    rows (n,): sorted; digest: of rows and true labels; online: of one pass. majority: most frequent class of
    training, as text, and majority_wrong whether it is not the true label, as packed bits.
    """

    rows: np.ndarray
    digest: str
    train_rows: int
    online: bool
    majority: str
    majority_wrong: np.ndarray


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


class Evidence(Collector):
    """Errors, sizes and misses of regions of the test rows, in the order of row numbers.

    splits: the rows of each cell by cell key; cells with the same rows share them. seconds: of inner
    selection, fit and prediction, by cell key.
    """

    def __init__(self, results: RunResults):
        super().__init__(results)
        self.splits: dict[str, SplitRows] = {}
        self.seconds: dict[str, float] = {}
        self._sorted: dict[tuple, tuple[np.ndarray, np.ndarray, str]] = {}
        self._shared: dict[tuple, SplitRows] = {}
        self._views: dict[tuple[str, str], ViewEvidence] = {}

    def prepare(self, blocks: Sequence[ViewBlock]) -> None:
        for one in blocks:
            if len(one.block.of_case):
                found = _of_block(one, self.results)
                for case, own in zip(one.block.cases, found, strict=True):
                    case.kept["evidence"] = own

    def add(self, result: CellResult) -> None:
        cell, counts = result.cell, result.train_class_counts
        found = {view: case.kept.pop("evidence", None) for view, case in result.cases.items()}
        online = any(is_online(result.cases[view]) for view, own in found.items() if own is not None)
        rows, truth, digest = self._rows_of(result)
        majority = max(counts, key=lambda label: counts[label], default=None)
        key = (cell.dataset, cell.split, digest, result.split_train_rows, online, majority)
        if key not in self._shared:
            name, wrong = "" if majority is None else str(majority), np.packbits(truth != majority)
            self._shared[key] = SplitRows(rows, digest, result.split_train_rows, online, name, wrong)
        self.splits[cell.key] = self._shared[key]
        tuned = float((result.tuning or {}).get("seconds") or 0.0)
        self.seconds[cell.key] = tuned + result.views.fit_seconds + result.views.predict_seconds
        self._views.update({(cell.key, view): own for view, own in found.items() if own is not None})

    def _rows_of(self, result: CellResult) -> tuple[np.ndarray, np.ndarray, str]:
        """Return the rows (n,) of a cell in their order, the true labels (n,), and the digest of both."""
        given = np.asarray(result.rows), np.asarray(result.truth)
        key = result.cell.dataset, *((one.dtype.str, _digest(one.tobytes())) for one in given)
        if key not in self._sorted:
            order = np.argsort(given[0], kind="stable")
            rows, truth = (one[order] for one in given)
            text = repr((rows.tolist(), truth.tolist()))
            self._sorted[key] = rows, truth, _digest(text.encode("utf-8", "surrogatepass"))
        return self._sorted[key]

    def finish(self) -> None:
        del self._sorted, self._shared

    def errors(self, cell: Cell, view: str) -> SplitLosses | None:
        """Return whether each prediction is wrong, as losses; None without predictions."""
        found = self._views.get((cell.key, view))
        return None if found is None else self._losses(cell, found.wrong)

    def majority_errors(self, cell: Cell) -> SplitLosses:
        """Return the losses of the classifier that always answers the most frequent class of training."""
        return self._losses(cell, self.splits[cell.key].majority_wrong)

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


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _of_block(one: ViewBlock, results: RunCells) -> Iterator[ViewEvidence]:
    """Yield the losses of each case of a block with rows."""
    block, whole = one.block, one.block.whole
    order = np.lexsort((np.concatenate([result.rows for result in one.results]), block.of_case))

    def bits(chosen: np.ndarray) -> list[np.ndarray]:
        return list(map(np.packbits, block.parts(chosen[order])))

    costs = row_costs(block)
    known = {} if costs is None else {"cost": costs.plain, "cost_with_abstaining": costs.with_abstaining}
    plain = {name: block.parts(own[order]) for name, own in known.items() if own is not None}
    first = one.results[0]
    promise = promised(whole, results.config, first.tuning, results.has_groups(first.cell.dataset))
    smoothed = "tau" in whole.prediction.extra
    banded = promise is not None and (
        not is_weighted(whole.prediction) or has_several_divisions(whole.prediction)
    )
    regions: dict[float, tuple] = {}
    for level in map(float, results.config.levels if whole.prediction.has_regions else ()):
        filled = np.maximum(whole.sizes(level)[order], 1)
        filled = filled.astype(np.min_scalar_type(int(filled.max())))
        missed = ~whole.covered(level)
        errors = block.totals(missed & whole.known if banded else missed).tolist()
        regions[level] = block.parts(filled), errors, [None] * len(block) if banded else bits(missed)
    for number, (case, wrong) in enumerate(zip(block.cases, bits(~whole.correct), strict=True)):
        of_costs = {name: values[number] for name, values in plain.items()}
        own = {level: tuple(column[number] for column in columns) for level, columns in regions.items()}
        yield ViewEvidence(
            wrong, of_costs, promise, calibration_parts(case) if banded else None, smoothed, own
        )
