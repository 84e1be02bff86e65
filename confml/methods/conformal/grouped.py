"""`Grouped`: the part of `Conformal` whose p-values are valid in each group of each division of ``by``."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from confml.errors import ConfmlError
from confml.measures.prediction import Prediction
from confml.methods.conformal.calibrated import CalibratedMethod, FittedPart
from confml.methods.conformal.scores import (
    add_counts,
    on_all_classes,
    usual_size,
)
from confml.methods.details import FitDetails
from confml.methods.divisions import DIVISION, DIVISIONS, GROUP, UNKNOWN, Divisions, split_columns


class PartScores(NamedTuple):
    """Scores of the calibration examples of one classifier.

    lists: for each division the sorted scores of each of its groups. size: see `usual_size`.
    """

    lists: list[list[np.ndarray]]
    size: float


class GroupCalibration:
    """Calibration scores by group. divisions: the groups."""

    def __init__(self, divisions: Divisions):
        self.divisions = divisions
        self.parts_: list[PartScores] = []

    def add(self, scores: np.ndarray, codes: np.ndarray, labels: np.ndarray, size: float) -> None:
        """Add the calibration examples of a classifier: scores (m,), groups (m, D) and label codes (m,)."""
        lists = []
        for division in range(len(self.divisions)):
            groups = self.divisions.groups_of_labels(codes[:, division], division)
            group = groups[np.arange(len(scores)), labels]
            order = np.lexsort((scores, group))
            ends = np.searchsorted(group[order], np.arange(self.divisions.size(division) + 1))
            lists.append([scores[order[a:b]] for a, b in zip(ends[:-1], ends[1:], strict=True)])
        self.parts_.append(PartScores(lists, size))

    def rows(self) -> list[np.ndarray]:
        """Return the numbers of calibration examples of the groups of each division."""
        return [
            np.sum([[len(scores) for scores in part.lists[division]] for part in self.parts_], axis=0)
            for division in range(len(self.divisions))
        ]

    def p_values(
        self, scores: Sequence[np.ndarray], codes: np.ndarray, tau: np.ndarray | None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Return p-values (n, c) and ``extra``.

        scores: (n, c) of each classifier. codes: (n, D) groups of `Divisions.codes`. tau: (n,) or None.
        """
        n, c = scores[0].shape
        p = np.zeros((n, c))
        extra: dict[str, Any] = {GROUP: codes}
        best = np.zeros((n, c), dtype=np.int64)
        for division, rows in enumerate(self.rows()):
            groups = self.divisions.groups_of_labels(codes[:, division], division)
            greater, equal = np.zeros((n, c), np.int64), np.ones((n, c), np.int64)
            for part, part_scores in zip(self.parts_, scores, strict=True):
                _count(
                    part.lists[division], part.size, part_scores, codes[:, division], groups, greater, equal
                )
            denominator = np.append(rows, 0)[groups] + 1
            division_p = (greater + (1.0 if tau is None else tau[:, None]) * equal) / denominator
            if tau is not None:  # no example counts
                division_p = np.where(groups == UNKNOWN, 1.0, division_p)
            best = np.where(division_p > p, division, best)
            p = np.maximum(p, division_p)
            if len(self.divisions) == 1:
                extra |= {"n_greater": greater, "n_equal": equal}
        if tau is not None:
            extra["tau"] = tau
        if len(self.divisions) > 1:
            extra[DIVISION] = best
        return p, extra


def _count(
    lists: list[np.ndarray],
    size: float,
    scores: np.ndarray,
    codes: np.ndarray,
    groups: np.ndarray,
    greater: np.ndarray,
    equal: np.ndarray,
) -> None:
    """Add to ``greater`` and ``equal`` (n, c) the counts of scores (n, c) in ``groups`` (n, c)."""
    for code in np.unique(codes[codes != UNKNOWN]).tolist():
        rows = np.flatnonzero(codes == code)
        needed, columns = np.unique(groups[rows[0]], return_inverse=True)
        score_lists = [lists[group] for group in needed.tolist()]
        above, ties = np.zeros((2, len(rows), scores.shape[1]), np.int64)
        add_counts(score_lists, columns.reshape(-1), scores[rows], size, above, ties)
        greater[rows] += above
        equal[rows] += ties


class Grouped(CalibratedMethod):
    """A calibrated method with the parameters ``by`` and ``by_columns`` of `Conformal`."""

    by: Any = None
    by_columns: Sequence[Sequence[Any]] | None = None
    smoothed: bool

    grouped_: GroupCalibration

    def _split_columns(self, X: Any, fitted_columns: Sequence[Any] = ()) -> tuple[Any, np.ndarray, Any]:
        """Return the features of X, the values (m, k) of the columns of ``by``, and the columns."""
        return split_columns(X, self.by, self.by_columns, fitted_columns)

    def _checked_test(self, X) -> np.ndarray:
        return super()._checked_test(self._split_columns(X, self._known_columns)[0])

    @property
    def label_conditional(self) -> bool:
        return super().label_conditional or (
            self.by is not None and self.grouped_.divisions.label_conditional
        )

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

    def _new_groups(self, columns: Sequence[Any]) -> None:
        """Begin the groups of a fit, whose columns `_split_columns` returned."""
        self.grouped_ = GroupCalibration(Divisions(self.by, columns, self.classes_))

    def _predicted(self, part: FittedPart, X: np.ndarray) -> np.ndarray | None:
        """Return the codes (n,) of the labels that a classifier predicts; None if no group needs them."""
        if not self.grouped_.divisions.uses_predictions:
            return None
        if not len(X):
            return np.empty(0, dtype=np.int64)
        first = next(iter(self._views(part, X).values()))
        return on_all_classes(first, self.classes_).argmax(axis=1)

    def _add_groups(self, part, X, values, rows, scores, labels, name) -> None:
        """Add the calibration examples ``rows`` of X (m, d) with their ``scores`` and codes ``labels``."""
        divisions = self.grouped_.divisions
        if not divisions.cuts_:
            proper = np.delete(values, rows, axis=0) if self.kind == "split" else values
            divisions.cut(proper, quantiles=self.kind == "split" and len(proper) > 0)
        predicted = self._predicted(part, X[rows] if isinstance(X, np.ndarray) else X.iloc[rows])
        if not divisions.keys_:
            divisions.learn(values if self.kind == "cross" else values[rows], predicted)
        codes = divisions.codes(values[rows], predicted)
        self.grouped_.add(scores, codes, labels, usual_size(name, scores))

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
        divisions = {DIVISIONS: self.grouped_.divisions.details(self.grouped_.rows())}
        return replace(details, other={**details.other, **divisions})
