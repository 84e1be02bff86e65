"""Losses of the test rows of all finished cells, in little memory."""

import hashlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from confml.measures import Case
from confml.measures.costs import row_costs
from confml.measures.coverage_band import calibration_parts
from confml.measures.p_values import has_several_divisions, is_online, is_weighted
from confml.report.answers.coverage import SplitErrors
from confml.report.answers.differences import SplitLosses
from confml.report.answers.promises import promised
from confml.report.run.results import RunResults, Variant
from confml.runner.plan import Cell
from confml.runner.results import CellResult

ERROR = "error"
SIZE = "mean_region_size"
"""Metric of regions that is compared, with 1 in place of 0: an empty region is an error, not a small one."""
COSTS = ("cost", "cost_with_abstaining")
"""Metrics whose means have an interval."""
COST = "decision_cost"
"""Metric of the decisions of least expected cost: with abstaining if it has a price."""


class ViewLosses(NamedTuple):
    """Losses of one view of one cell, in the order of row numbers.

    wrong: whether each prediction is wrong, as packed bits. costs: (n,) by metric. promise, parts, smoothed:
    as `promised` and `SplitErrors`. regions: by level the set sizes (n,), 1 for empty regions, the number
    of errors, and the errors as packed bits, which are None with ``parts``.
    """

    wrong: np.ndarray
    costs: dict[str, np.ndarray]
    promise: list[str] | None = None
    parts: tuple[tuple[int, int | None], ...] | None = None
    smoothed: bool = False
    regions: Mapping[float | None, tuple[np.ndarray, int, np.ndarray | None]] = MappingProxyType({})


class CellLosses(NamedTuple):
    """The test rows of one cell and the losses of its views.

    rows: (n,) sorted; digest: of rows and true labels. online: whether they are of one pass. grouped: whether
    the rows of a group are alike. seconds: of inner selection, fit and prediction.
    """

    cell: Cell
    rows: np.ndarray
    digest: str
    train_rows: int
    online: bool
    grouped: bool
    seconds: float
    views: dict[str, ViewLosses]

    def of(self, view: str, metric: str, level: float | None = None) -> SplitLosses | None:
        """Return the losses by `ERROR`, `SIZE`, `COST` or one of `COSTS`; None where they are not defined."""
        losses = self.views.get(view)
        if losses is None:
            return None
        if metric == ERROR:
            return self._of_bits(losses.wrong)
        if metric == SIZE:
            values = losses.regions[level][0] if level in losses.regions else None
        else:
            names = COSTS[::-1] if metric == COST else [metric]
            values = next((losses.costs[name] for name in names if name in losses.costs), None)
        if values is None or np.isnan(values).any():
            return None
        return SplitLosses(self.rows, values, self.train_rows)

    def has_regions(self, view: str, level: float) -> bool:
        """Return whether a view has regions at a level."""
        return view in self.views and level in self.views[view].regions

    def region_errors(self, view: str, level: float) -> SplitErrors | None:
        """Return the errors of the regions at a level; None without regions."""
        if not self.has_regions(view, level):
            return None
        losses = self.views[view]
        _, errors, bits = losses.regions[level]
        missed = None if bits is None else self._of_bits(bits)
        return SplitErrors(errors, losses.parts, losses.smoothed, missed)

    def _of_bits(self, bits: np.ndarray) -> SplitLosses:
        return SplitLosses(self.rows, np.unpackbits(bits, count=len(self.rows)), self.train_rows)


def losses_of(variant: Variant) -> list[CellLosses]:
    """Return the losses of the test rows of each split of a variant."""
    return [_of_cell(variant, result, cases) for result, cases in variant.cells]


def _of_cell(variant: Variant, result: CellResult, every_case: Mapping[str, Case]) -> CellLosses:
    order = np.argsort(result.rows, kind="stable")
    rows, truth = np.asarray(result.rows)[order], np.asarray(result.truth)[order]
    cases = {view: case for view, case in every_case.items() if len(case.truth)}
    digest = hashlib.sha256(rows.tobytes())
    digest.update(repr(truth.tolist()).encode("utf-8", "surrogatepass"))
    views = {view: _of_view(result, case, order, variant.run) for view, case in cases.items()}
    for name, (metric, costs) in variant.costs_of_constants(every_case).items():
        views[name] = ViewLosses(np.packbits(np.zeros(len(rows), bool)), {metric: costs[order]})
    tuned = float((result.tuning or {}).get("seconds") or 0.0)
    return CellLosses(
        *(result.cell, rows, digest.hexdigest()[:16], result.split_train_rows),
        any(is_online(case.prediction) for case in cases.values()),
        variant.run.has_groups(variant.dataset),
        tuned + result.views.fit_seconds + result.views.predict_seconds,
        views,
    )


def _of_view(result: CellResult, case: Case, order: np.ndarray, run: RunResults) -> ViewLosses:
    """Return the losses of a view with rows. order: (n,) positions of the rows by their numbers."""
    costs = row_costs(case)
    of_rows = {} if costs is None else dict(zip(COSTS, (costs.plain, costs.with_abstaining), strict=True))
    promise = promised(case, run.config, result.tuning, run.has_groups(result.cell.dataset))
    weighted = is_weighted(case.prediction) and not has_several_divisions(case.prediction)
    banded = promise is not None and not weighted
    regions: dict[float | None, tuple[np.ndarray, int, np.ndarray | None]] = {}
    for level in map(float, run.config.levels if case.prediction.has_regions else ()):
        filled = np.maximum(case.regions(level).sizes[order], 1)
        missed = ~case.covered(level)
        errors = int(np.count_nonzero(missed & case.known if banded else missed))
        sizes = filled.astype(np.min_scalar_type(int(filled.max())))
        regions[level] = sizes, errors, None if banded else np.packbits(missed[order])
    return ViewLosses(
        np.packbits(~case.correct[order]),
        {metric: values[order] for metric, values in of_rows.items() if values is not None},
        promise,
        calibration_parts(case) if banded else None,
        "tau" in case.prediction.extra,
        regions,
    )
