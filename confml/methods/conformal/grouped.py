"""`Grouped`: the part of `Conformal` that makes p-values valid in each group of ``by``."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from confml.errors import ConfmlError
from confml.measures.prediction import Prediction
from confml.methods.conformal.calibrated import CalibratedMethod, FittedPart
from confml.methods.conformal.group_calibration import GroupCalibration
from confml.methods.conformal.scores import OF_SHARES, on_all_classes, usual_size
from confml.methods.conformal.settings import BY_LEVELS
from confml.methods.details import FitDetails
from confml.methods.divisions import DIVISIONS, Divisions, split_columns


class Grouped(CalibratedMethod):
    """A calibrated method with the parameters ``by``, ``by_levels`` and ``by_columns`` of `Conformal`."""

    by: Any = None  # defaults: of models that were stored without them
    by_levels: Sequence[float] | None = None
    by_columns: Sequence[Sequence[Any]] | None = None
    smoothed: bool

    grouped_: GroupCalibration

    def _split_columns(self, X: Any, known: Sequence[Any] = ()) -> tuple[Any, np.ndarray, Any]:
        """Return the features of X, the values (m, k) of the columns of ``by``, and the columns."""
        return split_columns(X, self.by, self.by_columns, known)

    def _checked_test(self, X) -> np.ndarray:
        return super()._checked_test(self._split_columns(X, self._known_columns)[0])

    @property
    def _known_columns(self) -> Sequence[Any]:
        return self.grouped_.divisions.columns if hasattr(self, "grouped_") else ()

    def _check_groups(self) -> None:
        """Raise ConfmlError for parameters that cannot be combined with ``by``."""
        if self.by is None:
            return
        divisions = Divisions(self.by, [], np.empty(0))
        if self.kind == "cross" and divisions.uses_predictions:
            raise ConfmlError("by: predicted needs kind 'split', got 'cross'", hint="use split")
        if self.kind == "cross" and self.by_levels:
            raise ConfmlError(BY_LEVELS, hint="use split, or remove by_levels")

    def _new_groups(self, columns: Sequence[Any]) -> None:
        """Begin the groups of a fit, whose columns `_split_columns` returned."""
        divisions = Divisions(self.by, columns, self.classes_)
        levels = self.by_levels or () if len(divisions) > 1 else ()
        self.grouped_ = GroupCalibration(divisions, levels)

    def _predicted(self, part: FittedPart, X: np.ndarray) -> np.ndarray | None:
        """Return the codes (n,) of the labels that a classifier predicts; None if no group needs them."""
        if not self.grouped_.divisions.uses_predictions:
            return None
        if not len(X):
            return np.empty(0, dtype=np.int64)
        first = next(iter(self._views(part, X).values()))
        return on_all_classes(first, self.classes_).argmax(axis=1)

    def _add_groups(self, part, X, values, rows, own, labels, name) -> None:
        """Add the calibration examples ``rows`` of X (m, d) with scores ``own`` and codes ``labels``."""
        divisions = self.grouped_.divisions
        if not divisions.cuts_:
            proper = np.delete(values, rows, axis=0) if self.kind == "split" else values
            divisions.cut(proper, quantiles=self.kind == "split" and len(proper) > 0)
        predicted = self._predicted(part, X[rows] if isinstance(X, np.ndarray) else X.iloc[rows])
        if not divisions.keys_:
            divisions.learn(values if self.kind == "cross" else values[rows], predicted)
        codes = divisions.codes(values[rows], predicted)
        self.grouped_.add(own, codes, labels, usual_size(name, own), name in OF_SHARES)

    def _group_views(self, X: Any, rng: np.random.Generator) -> dict[str, Prediction]:
        """Return the view ``p-value`` of examples X, with the columns of ``by``."""
        values = self._split_columns(X, self._known_columns)[1]
        X = self._checked_test(X)
        u, tau = rng.random((2, len(X)))
        scores = [self._scores(part, X, u)[0] for part in self.fitted_]
        codes = self.grouped_.divisions.codes(values, self._predicted(self.fitted_[0], X))
        p, extra = self.grouped_.p_values(scores, codes, tau if self.smoothed else None)
        extra["nonconformity"] = np.mean(scores, axis=0) if len(scores) > 1 else scores[0]
        return self._p_value_view(p, extra)

    @property
    def fit_details_(self) -> FitDetails:
        """Those of the calibrated classifier, and the groups."""
        details = super().fit_details_
        if self.by is None:
            return details
        found = {DIVISIONS: self.grouped_.divisions.details(self.grouped_.rows())}
        return replace(details, other={**details.other, **found})
