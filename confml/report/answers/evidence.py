"""`Evidence`: losses of the test rows of all finished cells, in little memory."""

import hashlib
from typing import NamedTuple

import numpy as np

from confml.measures import Case
from confml.measures.block import Block
from confml.measures.costs import row_costs
from confml.measures.p_values import (
    counted_examples,
    is_label_conditional,
    is_online,
    is_weighted,
    promise_of,
)
from confml.report.answers.coverage import SplitErrors
from confml.report.answers.differences import SplitLosses
from confml.report.run.one_pass import Collector
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


class Evidence(Collector):
    """Errors, sizes and misses of regions of the test rows, in the order of row numbers.

    splits: the rows of each cell by cell key; cells with the same rows share them. seconds: of inner
    selection, fit and prediction, by cell key.
    """

    def __init__(self, results: RunResults):
        super().__init__(results)
        self.splits: dict[str, SplitRows] = {}
        self.seconds: dict[str, float] = {}
        self._shared: dict[tuple, SplitRows] = {}
        self._wrong: dict[tuple[str, str], np.ndarray] = {}
        self._costs: dict[tuple[str, str, str], np.ndarray] = {}
        self._filled: dict[tuple[str, str, float], np.ndarray] = {}
        self._coverage: dict[tuple[str, str, float], tuple] = {}
        self._promises: dict[tuple[str, str], list[str] | None] = {}

    def add(self, result: CellResult) -> None:
        cell, order = result.cell, np.argsort(result.rows, kind="stable")
        cases = {view: case for view, case in result.cases.items() if len(case.prediction)}
        online = any(is_online(case) for case in cases.values())
        rows, truth = np.asarray(result.rows)[order], np.asarray(result.truth)[order]
        text = repr((rows.tolist(), truth.tolist()))
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        counts = result.train_class_counts
        majority = max(counts, key=lambda label: counts[label], default=None)
        key = (cell.dataset, cell.split, digest, result.split_train_rows, online, majority)
        if key not in self._shared:
            wrong = np.packbits(truth != majority)
            self._shared[key] = SplitRows(
                rows,
                digest,
                result.split_train_rows,
                online,
                "" if majority is None else str(majority),
                wrong,
            )
        self.splits[cell.key] = self._shared[key]
        tuned = float((result.tuning or {}).get("seconds") or 0.0)
        self.seconds[cell.key] = tuned + result.views.fit_seconds + result.views.predict_seconds
        for view, case in cases.items():
            self._wrong[cell.key, view] = np.packbits(~case.correct[order])
            costs = row_costs(Block.of(case)) if case.context.costs is not None else None
            if costs is not None:
                for name, own in (("cost", costs.plain), ("cost_with_abstaining", costs.with_abstaining)):
                    if own is not None:
                        self._costs[cell.key, view, name] = own[order]
            if case.prediction.has_regions:
                for level in map(float, self.results.config.levels):
                    self._add_regions(cell, view, case, level, order)

    def _add_regions(self, cell: Cell, view: str, case: Case, level: float, order: np.ndarray) -> None:
        key = cell.key, view, level
        filled = np.maximum(case.sizes(level)[order], 1)
        self._filled[key] = filled.astype(np.min_scalar_type(int(filled.max())))
        missed = ~case.covered(level)
        parts = None
        promise = promise_of(case)
        self._promises[cell.key, view] = promise
        if promise is not None and not is_weighted(case.prediction):
            parts = _parts(case)
            missed = missed & case.known
        smoothed = "tau" in case.prediction.extra
        bits = None if parts is not None else np.packbits(missed[order])
        self._coverage[key] = int(missed.sum()), parts, smoothed, bits

    def errors(self, cell: Cell, view: str) -> SplitLosses | None:
        """Return whether each prediction is wrong, as losses; None without predictions."""
        bits = self._wrong.get((cell.key, view))
        return None if bits is None else self._losses(cell, np.unpackbits(bits))

    def majority_errors(self, cell: Cell) -> SplitLosses:
        """Return the losses of the classifier that always answers the most frequent class of training."""
        return self._losses(cell, np.unpackbits(self.splits[cell.key].majority_wrong))

    def costs(self, cell: Cell, view: str, metric: str = "") -> SplitLosses | None:
        """Return the costs of the decisions of least expected cost; None if a cost is not defined.

        metric: ``cost`` or ``cost_with_abstaining``, by default the latter where there is one.
        """
        names = [metric] if metric else ["cost_with_abstaining", "cost"]
        found = [own for one in names if (own := self._costs.get((cell.key, view, one))) is not None]
        costs = found[0] if found else None
        return None if costs is None or np.isnan(costs).any() else self._losses(cell, costs)

    def filled_sizes(self, cell: Cell, view: str, level: float) -> SplitLosses | None:
        """Return the set sizes, 1 for empty regions; None without regions."""
        sizes = self._filled.get((cell.key, view, level))
        return None if sizes is None else self._losses(cell, sizes)

    def coverage(self, cell: Cell, view: str, level: float) -> SplitErrors | None:
        """Return the errors of the regions at a level; None without regions."""
        if (cell.key, view, level) not in self._coverage:
            return None
        errors, parts, smoothed, bits = self._coverage[cell.key, view, level]
        missed = None if bits is None else self._losses(cell, np.unpackbits(bits))
        return SplitErrors(errors, parts, smoothed, missed)

    def promise(self, cell: Cell, view: str) -> list[str] | None:
        """Return `promise_of` the regions of a view; None without regions."""
        return self._promises.get((cell.key, view))

    def _losses(self, cell: Cell, values: np.ndarray) -> SplitLosses:
        split = self.splits[cell.key]
        return SplitLosses(split.rows, values[: len(split.rows)].astype(np.float64), split.train_rows)


def _parts(case: Case) -> tuple[tuple[int, int | None], ...]:
    """Return (rows, counted) of the rows of each class, or of all rows, without absent classes."""
    counted = counted_examples(case)
    if counted is None:
        return ((int(case.known.sum()), None),)
    places = case.labels[1] if is_label_conditional(case) else np.zeros(len(counted), dtype=np.intp)
    found = []
    for code in np.unique(places).tolist():
        own = counted[(places == code) & case.known]
        if len(own):
            found.append((len(own), int(own.min())))
    return tuple(found)
