"""Views of one posterior at equal proportions of sure predictions: ``matched-views.csv``."""

from collections.abc import Iterator
from itertools import permutations
from typing import NamedTuple

import numpy as np

from confml.measures import Case
from confml.measures.matched import AtProportion, at_correct, at_incorrect
from confml.measures.posterior import VIEWS
from confml.report.answers.differences import Kind, LossTable, SplitLosses
from confml.report.items import Item, TableKind
from confml.report.sections.base import Section
from confml.runner.results import CellResult

MATCHED = TableKind(
    "matched-views.csv",
    "dataset method params reference view equal level splits attained proportion reference_value value "
    "difference low high threshold tied",
)
EQUAL = {"sure_incorrect": at_incorrect, "sure_correct": at_correct}


class Pair(NamedTuple):
    """Two views on one split. own, reference: (n,) values of the rows; NaN if not attained."""

    proportion: float
    own: np.ndarray
    reference: np.ndarray
    threshold: float
    tied: float


class MatchedViews(Section):
    """``matched-views.csv``: two views of one posterior at equal proportions, one row per pair and threshold.

    The view ``reference`` at the threshold ``level`` of the config gives the ``proportion`` of the test
    examples that is ``equal`` for both: ``sure_incorrect`` (accepted and wrong) or ``sure_correct``. At equal
    sure_incorrect, ``value`` and ``reference_value`` are the largest sure_correct of both views (higher is
    better); at equal sure_correct they are the smallest sure_incorrect (lower is better). ``difference`` is
    value - reference_value, with the 95 % interval ``low`` to ``high`` of the test of all tables, pointwise.

    Ties: a group of equal confidence is accepted in part where no threshold gives the proportion; ``tied``
    is the mean share of the examples in such groups. ``attained``: number of the ``splits`` on which both
    views can have the proportion (an envelope of 1 is always accepted); the other splits are left out.
    ``threshold``: median confidence from which the view accepts, (mean - 1/2) / sd for the posterior; empty
    if nothing is accepted. ``matched.csv`` has the convention of the paper's table 2.
    """

    name = "matched-views"
    place = 81
    needs = "thresholds in the config, and a method with several views of a posterior"
    setting = "thresholds"
    files = {"matched-views.csv": "pairs of views at equal shares of sure predictions"}

    def start(self) -> None:
        self._pairs: dict[tuple, list[Pair]] = {}
        self._splits: list[tuple[np.ndarray, int]] = []
        self._cell: tuple = ()
        self._rows: list[tuple] = []

    def add(self, result: CellResult) -> None:
        cases = {
            view: result.cases[view]
            for view in VIEWS
            if view in result.views and result.cases[view].curve is not None
        }
        if len(cases) < 2 or not len(result.truth):
            return
        self._cell = result.cell.dataset, result.cell.method, result.cell.variant
        self._splits.append((result.rows, result.split_train_rows))
        for reference, view in permutations(cases, 2):
            for level in self.results.config.thresholds:
                for equal in EQUAL:
                    key = reference, view, equal, level
                    pair = _pair(cases[reference], cases[view], equal, level)
                    self._pairs.setdefault(key, []).append(pair)

    def finish_variant(self) -> None:
        for key, pairs in self._pairs.items():
            self._rows.append((*self._cell, *key, *self._numbers(pairs)))
        self._pairs, self._splits = {}, []

    def items(self) -> Iterator[Item]:
        if self._rows:
            yield MATCHED.of(self._rows)

    def _numbers(self, pairs: list[Pair]) -> tuple:
        """Return the columns of a pair of views from ``splits`` on."""
        known = [not np.isnan(pair.own).any() for pair in pairs]
        attained = [pair for pair, one in zip(pairs, known, strict=True) if one]
        if not attained:
            return (len(pairs), 0, *(None,) * 8)
        methods = [
            [
                SplitLosses(rows, getattr(pair, name), train_rows)
                for pair, (rows, train_rows) in zip(pairs, self._splits, strict=True)
            ]
            for name in ("own", "reference")
        ]
        kind: Kind = "groups" if self.results.has_groups(self._cell[0]) else "rows"
        found = LossTable(methods, kind, bound=1.0).pair(0, 1)
        assert found is not None  # a split attains it
        threshold = float(np.median([pair.threshold for pair in attained]))
        numbers = (
            np.mean([pair.proportion for pair in attained]),
            *(np.mean([getattr(pair, name).mean() for pair in attained]) for name in ("reference", "own")),
            found.difference,
            *found.interval(),
            threshold if np.isfinite(threshold) else np.nan,
            np.mean([pair.tied for pair in attained]),
        )
        shown = (None if np.isnan(number) else round(float(number), 12) for number in numbers)
        return (len(pairs), len(attained), *shown)


def _pair(reference: Case, view: Case, equal: str, level: float) -> Pair:
    """Return two views at the proportion of the reference at a threshold."""
    accepted = reference.accepted(level)
    counted = accepted & (reference.correct if equal == "sure_correct" else ~reference.correct)
    count = int(np.count_nonzero(counted))
    own, other = _found(view, equal, count), _found(reference, equal, count)
    n = len(accepted)
    if own is None or other is None:
        nothing = np.full(n, np.nan)
        return Pair(count / n, nothing, nothing, np.nan, np.nan)
    found = [
        one.weights * (case.correct if equal == "sure_incorrect" else ~case.correct)
        for one, case in ((own, view), (other, reference))
    ]
    return Pair(count / n, found[0], found[1], own.threshold, own.tied / n)


def _found(case: Case, equal: str, count: int) -> AtProportion | None:
    assert case.curve is not None  # `add` leaves such cases out
    return EQUAL[equal](case.curve, case.certainty, float(count))
