"""`Block`: several cases of one view whose arrays and metrics are computed together.

A run of many small cells spends its time in calls on short arrays. A block joins the test examples of its
cases, computes each array once, and gives every case its part. The numbers have the same bits as those of
the cases alone: values of rows do not depend on other rows, sums of whole numbers are exact, and sums of
other numbers are made from the same numbers in the same order (`sums_of`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from confml.measures._case import Case
from confml.measures.confusion import Confusion
from confml.measures.coverage_band import counted_examples
from confml.measures.prediction import Prediction
from confml.measures.rejection import RejectionCurve
from confml.measures.validity import has_counts, required_smoothed_p_values, taus_of

MOST_ROWS = 10_000
"""Largest number of rows of a case in a block: products of the counts of more rows could overflow."""


class Column(NamedTuple):
    """One metric of every case (s,) of a block, as `Row` has it of one case."""

    metric: str
    level: float | None
    values: np.ndarray


class Ranked(NamedTuple):
    """Values (N,) sorted within each case, in groups of equal values.

    order: (N,) row of each sorted value. first, end: (g,) places of each group. of_case: (g,) its case.
    first_group: (s,) the first group of each case.
    """

    order: np.ndarray
    values: np.ndarray
    first: np.ndarray
    end: np.ndarray
    of_case: np.ndarray
    first_group: np.ndarray

    @property
    def groups_end(self) -> np.ndarray:
        """(s,) the place after the last group of each case."""
        return np.append(self.first_group[1:], len(self.first))

    def sums(self, weights: np.ndarray) -> np.ndarray:
        """Return the (g,) sums of whole numbers (N,) over the groups."""
        return np.add.reduceat(weights[self.order].astype(np.int64), self.first)


class Block:
    """Cases with rows of their own, of one kind, the same classes and no absent class; see `blocks_of`.

    whole: a case of all rows (N,), in the order of the cases. starts, ends: (s,) places of the rows of each
    case. sizes: (s,) number of rows. of_case: (N,) case of each row.
    """

    def __init__(self, cases: Sequence[Case], levels: Sequence[float], thresholds: Sequence[float]):
        self.cases, self.levels, self.thresholds = cases, tuple(levels), tuple(thresholds)
        prediction = Prediction.concatenate([case.prediction for case in cases])
        truth = np.concatenate([case.truth for case in cases])
        self.whole = Case(prediction, truth, self.levels, self.thresholds, cases[0].context)
        self.sizes = np.array([len(case.truth) for case in cases])
        self.ends = np.cumsum(self.sizes)
        self.starts = self.ends - self.sizes
        self.of_case = np.repeat(np.arange(len(cases)), self.sizes)

    @classmethod
    def alone(cls, case: Case) -> Block:
        """Return a block of one case of any kind, without levels."""
        block = cls([case], (), ())
        block.whole = case
        return block

    def __len__(self) -> int:
        return len(self.cases)

    # ---- numbers of each case

    def parts(self, values: np.ndarray) -> list[np.ndarray]:
        """Return the rows of each case of an array (N, ...)."""
        return [values[a:b] for a, b in zip(self.starts.tolist(), self.ends.tolist(), strict=True)]

    def totals(self, values: np.ndarray) -> np.ndarray:
        """Return the (s,) sums of whole numbers or truth values (N,)."""
        return np.add.reduceat(values.astype(np.int64), self.starts)

    def shares(self, chosen: np.ndarray) -> np.ndarray:
        """Return the (s,) fraction of the rows that a mask (N,) selects."""
        return self.totals(chosen) / self.sizes

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Return the (s,) sums of numbers (N,)."""
        return sums_of(values, self.starts, self.ends)

    def means(self, values: np.ndarray) -> np.ndarray:
        """Return the (s,) means of numbers (N,)."""
        return self.sums(values) / self.sizes

    def ranked(self, name: Any, values: np.ndarray) -> Ranked:
        """Return values (N,) sorted within each case; they are kept under a name."""
        return self.whole.once(("ranked", name), lambda: self._ranked(values))

    def ranked_score(self, column: int) -> Ranked:
        """Return the scores of a class, sorted within each case."""
        return self.ranked(column, self.whole.prediction.scores[:, column])

    def _ranked(self, values: np.ndarray) -> Ranked:
        order = np.lexsort((values, self.of_case))
        placed = values[order]
        begins = np.append(True, placed[1:] != placed[:-1])
        begins[self.starts] = True
        first = np.flatnonzero(begins)
        of_case = self.of_case[first]
        first_group = np.searchsorted(of_case, np.arange(len(self)))
        return Ranked(order, placed, first, np.append(first[1:], len(placed)), of_case, first_group)

    @cached_property
    def class_counts(self) -> np.ndarray:
        """(s, c) number of rows of each class."""
        return self._by_class(None)

    def _by_class(self, weights: np.ndarray | None) -> np.ndarray:
        c = len(self.whole.prediction.classes)
        places = self.of_case * c + self.whole.true_columns
        return np.bincount(places, weights, minlength=len(self) * c).reshape(len(self), c)

    def covered_by_class(self, level: float) -> np.ndarray:
        """Return the (s, c) number of rows of each class whose region contains it."""
        key = "covered by class", level
        return self.whole.once(key, lambda: self._by_class(self.whole.covered(level)).astype(np.int64))

    @cached_property
    def confusion(self) -> np.ndarray | None:
        """(s, c, c) confusion matrices; None if a label is predicted that is not one of the classes."""
        classes, columns = self.whole.prediction.classes, self.whole.predicted_columns
        c = len(classes)
        if not (classes[np.minimum(columns, c - 1)] == self.whole.prediction.labels).all():
            return None
        places = (self.of_case * c + self.whole.true_columns) * c + columns
        return np.bincount(places, minlength=len(self) * c * c).reshape(len(self), c, c)

    @cached_property
    def curve_groups(self) -> Ranked:
        """Groups of equal certainty, the most certain first."""
        return self._ranked(-self.whole.certainty)

    @cached_property
    def curve_counts(self) -> tuple[np.ndarray, np.ndarray]:
        """(g,) numbers of rows and of errors in the groups of `curve_groups` and in those before them."""
        groups = self.curve_groups
        accepted = groups.end - self.starts[groups.of_case]
        errors = np.cumsum(groups.sums(~self.whole.correct))
        before = np.append(0, errors)[groups.first_group]
        return accepted, errors - before[groups.of_case]

    # ---- arrays of the cases

    def fill(self) -> None:
        """Give every case its part of the arrays that measures and sections use."""
        whole = self.whole
        arrays: dict[Any, np.ndarray] = {
            "correct": whole.correct,
            "columns": whole.true_columns,
            "known": whole.known,
            "predicted": whole.predicted_columns,
            "certainty": whole.certainty,
            "confidence": whole.confidence,
        }
        if whole.prediction.has_regions:
            for level in map(float, self.levels):
                arrays["region", level] = whole.region(level)
                arrays["sizes", level], arrays["covered", level] = whole.sizes(level), whole.covered(level)
        extra = whole.prediction.extra
        if has_counts(whole.prediction):
            if "tau" not in extra:
                whole.kept["taus"] = np.concatenate([taus_of(case) for case in self.cases])
            arrays["smoothed"] = required_smoothed_p_values(whole)
        if {"n_greater", "n_equal"} <= set(extra):
            counted = counted_examples(whole)
            if counted is not None:
                arrays["counted"] = counted
        for key, values in arrays.items():
            for case, part in zip(self.cases, self.parts(values), strict=True):
                case.kept[key] = part
        self._fill_labels()
        self._fill_curves()

    def _fill_labels(self) -> None:
        """Labels, coverage of classes, and confusion matrices."""
        classes = self.whole.prediction.classes
        used: np.ndarray = self.class_counts > 0
        codes = self.parts((np.cumsum(used, axis=1) - 1)[self.of_case, self.whole.true_columns])
        all_used = used.all(axis=1).tolist()
        for number, case in enumerate(self.cases):
            case.kept["labels"] = classes if all_used[number] else classes[used[number]], codes[number]
        labels = [classes[here].tolist() for here in used]
        for level in self.levels if self.whole.prediction.has_regions else ():
            covered = self.covered_by_class(level)
            for number, case in enumerate(self.cases):
                here = used[number]
                pairs = zip(
                    self.class_counts[number, here].tolist(), covered[number, here].tolist(), strict=True
                )
                case.kept["class coverage", level] = dict(zip(labels[number], pairs, strict=True))
        if self.confusion is not None:
            occurs = (self.confusion.sum(axis=1) + self.confusion.sum(axis=2)) > 0
            every = occurs.all(axis=1).tolist()
            for number, case in enumerate(self.cases):
                counts, here = self.confusion[number], classes
                if not every[number]:
                    places = np.flatnonzero(occurs[number])
                    counts, here = counts[np.ix_(places, places)], classes[places]
                case.kept["confusion"] = Confusion(here, counts)

    def _fill_curves(self) -> None:
        groups = self.curve_groups
        accepted, errors = self.curve_counts
        # A 0 before the groups of each case.
        places = np.arange(len(accepted)) + groups.of_case + 1
        with_zeros = np.zeros(len(accepted) + len(self), dtype=np.int64)
        with_zeros[places] = accepted
        wrong = np.zeros(len(with_zeros))
        wrong[places] = errors
        confidences = -groups.values[groups.first]
        top = 1.0 if self.whole.prediction.kind == "envelope" else np.inf
        always = self.totals(self.whole.certainty >= top).tolist()
        ends = zip(groups.first_group.tolist(), groups.groups_end.tolist(), strict=True)
        for number, (case, (a, b)) in enumerate(zip(self.cases, ends, strict=True)):
            points = slice(a + number, b + number + 1)
            case.kept["curve"] = RejectionCurve(
                confidences[a:b], with_zeros[points], wrong[points], always[number]
            )


def sums_of(values: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the sums of ``values[start:end]``, each as `numpy.sum` computes it, in its order."""
    lengths = ends - starts
    found = np.zeros(len(starts))
    for length in np.unique(lengths).tolist():
        rows = np.flatnonzero(lengths == length)
        found[rows] = values[starts[rows][:, None] + np.arange(length)].sum(axis=1)
    return found


def fractions(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Return part / whole of numbers (s,), NaN for 0 / 0."""
    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole != 0)


def blocks_of(
    cases: Iterable[Case], levels: Sequence[float] = (), thresholds: Sequence[float] = ()
) -> list[Block]:
    """Return blocks of those cases that can be computed together; cases in no block are computed alone.

    Not in a block: cases without rows or with many, of an online pass, with NaN or with an absent class.
    """
    forms: dict[tuple, list[Case]] = {}
    for case in cases:
        prediction = case.prediction
        if 0 < len(case.truth) <= MOST_ROWS and "learnt" not in prediction.extra:
            extra = tuple((name, values.shape[1:]) for name, values in prediction.extra.items())
            classes = prediction.classes
            form = (
                prediction.kind,
                classes.dtype.str,
                classes.tobytes(),
                extra,
                prediction.posterior_threshold,
            )
            forms.setdefault(form, []).append(case)
    blocks = []
    for some in forms.values():
        if len(some) > 1 and (block := _usable(Block(some, levels, thresholds))) is not None:
            blocks.append(block)
    return blocks


def _usable(block: Block) -> Block | None:
    whole = block.whole
    bad = np.isnan(whole.prediction.scores).any(axis=1) | np.isnan(whole.certainty) | ~whole.known
    if not bad.any():
        return block
    usable = block.totals(bad) == 0
    kept = [case for case, good in zip(block.cases, usable.tolist(), strict=True) if good]
    return Block(kept, block.levels, block.thresholds) if len(kept) > 1 else None


def metrics_of(block: Block) -> tuple[list[tuple[str, float | None]], np.ndarray] | None:
    """Return metric and level of each number, and the numbers (s, m), as `confml.measures.rows_of` does.

    None if a measure has no numbers of blocks, or other names for different cases.
    """
    from confml.measures import MEASURES

    names, columns = [], []
    for measure in MEASURES:
        if measure.compute_block is None:
            return None
        for column in measure.compute_block(block):
            names.append((column.metric, column.level))
            columns.append(column.values)
    return names, np.stack(columns, axis=1)
