"""`RowValues`: values of the test rows whose means are metrics, for comparisons of methods."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from confml.measures.jackknife import CurveRows
from confml.measures.rejection import curve_of
from confml.report.run.one_pass import Collector
from confml.report.run.results import RunResults
from confml.runner.results import CellResult

Asked = tuple[str, float | None]  # metric and threshold


class ViewRows(NamedTuple):
    """The test rows (n,) of one view on one split.

    truth: true labels. shared: whether regions depend on common calibration rows. curve: the
    accuracy-rejection curve. values: (n,) by metric and threshold.
    """

    rows: np.ndarray
    truth: np.ndarray
    train_rows: int
    shared: bool
    curve: CurveRows
    values: Mapping[Asked, np.ndarray]

    @classmethod
    def of(cls, result: CellResult, view: str, thresholds: Sequence[float]) -> "ViewRows":
        """Return the rows of a view of a finished cell."""
        prediction = result.views[view]
        correct = prediction.labels == result.truth
        curve = CurveRows.of(curve_of(prediction, result.truth), prediction.certainty, correct)
        found: dict[Asked, np.ndarray] = {
            ("error", None): curve.wrong,
            ("augrc", None): curve.augrc(),
            ("aurc", None): curve.aurc(),
            ("auroc_correct", None): curve.auroc(),
        }
        for threshold in thresholds:
            sure = prediction.accepted(threshold)
            found |= {
                ("sure_correct", threshold): sure & correct,
                ("unsure", threshold): ~sure,
                ("sure_incorrect", threshold): sure & ~correct,
            }
        shared = prediction.kind == "p-value"
        return cls(result.rows, result.truth, result.split_train_rows, shared, curve, found)


class RowValues(Collector):
    """The rows of every view at some thresholds, by cell key; None with an undefined confidence."""

    def __init__(self, results: RunResults, thresholds: Sequence[float]):
        super().__init__(results)
        self._thresholds = thresholds
        self.found: dict[str, dict[str, ViewRows | None]] = {}

    def add(self, result: CellResult) -> None:
        self.found[result.cell.key] = {
            view: ViewRows.of(result, view, self._thresholds)
            if len(prediction) and not np.isnan(prediction.certainty).any()
            else None
            for view, prediction in result.views.items()
        }
