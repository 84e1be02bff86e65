"""Losses of the test rows of all finished cells."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from confml.measures import Case
from confml.measures.costs import COSTS, decision_scores, row_costs
from confml.measures.coverage_band import calibration_parts, class_parts
from confml.measures.p_values import has_several_divisions, is_online, is_weighted
from confml.report.answers.coverage import Part, SplitErrors
from confml.report.answers.differences import SplitLosses
from confml.report.answers.promises import promised
from confml.report.run.results import Variant
from confml.runner.plan import Cell
from confml.runner.results import CellResult

ERROR = "error"
SIZE = "mean_region_size"
"""Metric of regions that is compared, with 1 in place of 0: an empty region is an error, not a small one."""
MISSED = "missed"
"""Whether a region misses the true label; absent classes are not missed where a coverage is promised."""
COST = "decision_cost"
"""Metric of the decisions that ``predict`` makes: with abstaining if it has a cost."""
Losses = dict[tuple[str, str, float | None], np.ndarray]
"""Losses (n,) by view, metric and level."""


class CellLosses(NamedTuple):
    """The test rows of one cell, and the losses of its views that are defined for all rows.

    rows: (n,) sorted; truth: (n,) their labels; digest: of both. online: whether they are of one pass.
    grouped: whether the rows of a group are alike. seconds: of inner selection, fit and prediction. promises,
    parts, smoothed: of each view, as `promised` and `SplitErrors`. class_parts: of each view with a promise,
    by class.
    """

    cell: Cell
    rows: np.ndarray
    truth: np.ndarray
    digest: str
    train_rows: int
    online: bool
    grouped: bool
    seconds: float
    losses: Losses
    promises: dict[str, list[str] | None]
    parts: dict[str, tuple[Part, ...] | None]
    smoothed: dict[str, bool]
    class_parts: dict[str, dict[Any, tuple[Part, ...]]]

    def of(self, view: str, metric: str, level: float | None = None) -> SplitLosses | None:
        """Return the losses of a view; None where they are not defined."""
        values = self.losses.get((view, metric, level))
        return None if values is None else SplitLosses(self.rows, values, self.train_rows)

    def region_errors(self, view: str, level: float) -> SplitErrors | None:
        """Return the errors of the regions at a level; None without regions."""
        missed = self.of(view, MISSED, level)
        return None if missed is None else SplitErrors(missed, self.parts[view], self.smoothed[view])

    def class_errors(self, view: str, level: float, label: Any) -> SplitErrors:
        """Return the errors of the regions of the rows of a class."""
        missed, is_class = self.losses[view, MISSED, level], self.truth == label
        train_rows = round(self.train_rows * is_class.mean())
        losses = SplitLosses(self.rows[is_class], missed[is_class], train_rows)
        parts = None if self.parts[view] is None else self.class_parts.get(view, {}).get(label, ())
        return SplitErrors(losses, parts, self.smoothed[view])


def losses_of(variant: Variant) -> list[CellLosses]:
    """Return the losses of the test rows of each split of a variant."""
    return [_of_cell(variant, result, cases) for result, cases in variant.cells]


def _of_cell(variant: Variant, result: CellResult, every_case: Mapping[str, Case]) -> CellLosses:
    order = np.argsort(result.rows, kind="stable")
    rows, truth = np.asarray(result.rows)[order], np.asarray(result.truth)[order]
    digest = hashlib.sha256(rows.tobytes())
    digest.update(repr(truth.tolist()).encode("utf-8", "surrogatepass"))
    cases = {view: case for view, case in every_case.items() if len(case.truth)}
    config, grouped = variant.run.config, variant.run.has_groups(variant.dataset)
    promises = {view: promised(case, config, result.tuning, grouped) for view, case in cases.items()}
    parts = {
        view: None if promises[view] is None or _is_weighted(case) else calibration_parts(case)
        for view, case in cases.items()
    }
    losses: Losses = {}
    for view, case in cases.items():
        losses |= _of_view(view, case, config.levels, parts[view] is not None)
    decided = [view for view, case in cases.items() if decision_scores(case.prediction) is not None]
    for view in decided[1:]:  # predict decides by the first view with probabilities
        losses.pop((view, COST, None), None)
    for (view, metric), costs in variant.costs_of_constants(every_case).items():
        losses[view, metric, None] = losses[view, COST, None] = costs
    tuned = float((result.tuning or {}).get("seconds") or 0.0)
    return CellLosses(
        *(result.cell, rows, truth, digest.hexdigest()[:16], result.split_train_rows),
        any(is_online(case.prediction) for case in cases.values()),
        grouped,
        tuned + result.views.fit_seconds + result.views.predict_seconds,
        {key: values[order] for key, values in losses.items() if not np.isnan(values).any()},
        promises,
        parts,
        {view: "tau" in case.prediction.extra for view, case in cases.items()},
        {view: class_parts(case) for view, case in cases.items() if parts[view]},
    )


def _is_weighted(case: Case) -> bool:
    return is_weighted(case.prediction) and not has_several_divisions(case.prediction)


def _of_view(view: str, case: Case, levels: Sequence[float], is_promised: bool) -> Losses:
    """Return the losses of a view in the order of its rows."""
    losses: Losses = {(view, ERROR, None): ~case.correct}
    if costs := row_costs(case):
        losses[view, COSTS[0], None] = costs.of_predicted
        for metric, values in zip(COSTS, (costs.plain, costs.with_abstaining), strict=True):
            if values is not None:
                losses[view, metric, None] = losses[view, COST, None] = values
    for level in map(float, levels if case.prediction.has_regions else ()):
        sizes, missed = np.maximum(case.regions(level).sizes, 1), ~case.covered(level)
        losses[view, SIZE, level] = sizes.astype(np.min_scalar_type(int(sizes.max())))
        losses[view, MISSED, level] = missed & case.known if is_promised else missed
    return losses
