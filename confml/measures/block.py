"""`Block`: the cases of one view whose arrays and metrics are computed together, one or several.

A run of many small cells spends its time in calls on short arrays. A block joins the test examples of its
cases, computes each array once, and gives every case its part. A number of a case has the same bits in every
block: values of rows do not depend on other rows, sums of whole numbers are exact, and sums of other numbers
are made from the same numbers in the same order (`sums_of`).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from confml.measures.case import BLOCK, Case, columns_of
from confml.measures.confusion_matrix import Confusion
from confml.measures.p_values import counted_examples, has_counts, required_smoothed_p_values, taus_of
from confml.measures.prediction import Prediction
from confml.measures.rejection import RejectionCurve

MOST_ROWS = 10_000
"""Largest number of rows of a case that shares a block: joining longer arrays takes more time than calls."""


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
        return totals_from(weights[self.order].astype(np.int64), self.first)

    def totals(self, values: np.ndarray) -> np.ndarray:
        """Return the (s,) sums over the groups (g,) of each case, of numbers whose sums are exact."""
        return totals_from(values, self.first_group)


class Block:
    """Cases of one kind with the same classes: any single case, or several (see `blocks_of`).

    whole: a case of all rows (N,), in the order of the cases. starts, ends: (s,) places of the rows of each
    case. sizes: (s,) number of rows. of_case: (N,) case of each row. Only a block of one case may be without
    rows, or have NaN, absent classes or p-values of an online pass.
    """

    def __init__(self, cases: Sequence[Case], levels: Sequence[float], thresholds: Sequence[float]):
        self.cases, self.levels, self.thresholds = cases, tuple(levels), tuple(thresholds)
        if len(cases) == 1:
            self.whole = replace(cases[0], levels=self.levels, thresholds=self.thresholds)
        else:
            prediction = Prediction.concatenate([case.prediction for case in cases])
            truth = np.concatenate([case.truth for case in cases])
            self.whole = Case(prediction, truth, self.levels, self.thresholds, cases[0].context)
        self.sizes = np.array([len(case.truth) for case in cases])
        self.ends = np.cumsum(self.sizes)
        self.starts = self.ends - self.sizes
        self._has_rows = bool(self.sizes.all())
        self.of_case = np.repeat(np.arange(len(cases)), self.sizes)

    @classmethod
    def of(cls, case: Case) -> "Block":
        """Return the block of one case, with its levels and thresholds."""
        return cls([case], case.levels, case.thresholds)

    def __len__(self) -> int:
        return len(self.cases)

    # ---- numbers of each case

    def parts(self, values: Any) -> list[Any]:
        """Return the rows of each case of an array (N, ...) or a list."""
        return [values[a:b] for a, b in zip(self.starts.tolist(), self.ends.tolist(), strict=True)]

    def totals(self, values: np.ndarray) -> np.ndarray:
        """Return the (s,) sums of whole numbers or truth values (N,)."""
        return totals_from(values.astype(np.int64), self.starts)

    def shares(self, chosen: np.ndarray) -> np.ndarray:
        """Return the (s,) fraction of the rows that a mask (N,) selects, NaN without rows."""
        return self.per_row(self.totals(chosen))

    def per_row(self, sums: np.ndarray | list[float]) -> np.ndarray:
        """Return sums (s,) divided by the number of rows of each case, NaN without rows."""
        return np.asarray(sums) / self.sizes if self._has_rows else np.full(len(self), np.nan)

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Return the (s,) sums of numbers (N,)."""
        return sums_of(values, self.starts, self.ends)

    def means(self, values: np.ndarray) -> np.ndarray:
        """Return the (s,) means of numbers (N,), NaN without rows."""
        return self.per_row(self.sums(values))

    def ranked(self, values: np.ndarray) -> Ranked:
        """Return values (N,) sorted within each case."""
        order = np.argsort(values) if len(self) == 1 else np.lexsort((values, self.of_case))
        placed = values[order]
        begins = np.ones(len(placed), dtype=bool)
        begins[1:] = placed[1:] != placed[:-1]
        begins[self.starts[self.sizes > 0]] = True
        first = np.flatnonzero(begins)
        of_case = self.of_case[first]
        first_group = np.searchsorted(of_case, np.arange(len(self)))
        return Ranked(order, placed, first, np.append(first[1:], len(placed)), of_case, first_group)

    @cached_property
    def is_defined(self) -> bool:
        """Whether there are rows, and no score is NaN."""
        return bool(len(self.of_case)) and not np.isnan(self.whole.prediction.scores).any()

    @cached_property
    def labels(self) -> np.ndarray:
        """(l,) the classes and every other true or predicted label, sorted."""
        whole, classes = self.whole, self.whole.prediction.classes
        inside = np.minimum(whole.predicted_columns, len(classes) - 1)
        if whole.known.all() and (classes[inside] == whole.prediction.labels).all():
            return classes
        return np.unique(np.concatenate([classes, whole.truth, whole.prediction.labels]))

    @cached_property
    def true_codes(self) -> np.ndarray:
        """(N,) place of each true label in `labels`."""
        if self.labels is self.whole.prediction.classes:
            return self.whole.true_columns
        return columns_of(self.whole.truth, self.labels)

    @cached_property
    def label_counts(self) -> np.ndarray:
        """(s, l) number of rows of each label."""
        return self._by_label(None)

    def _by_label(self, weights: np.ndarray | None) -> np.ndarray:
        k = len(self.labels)
        places = self.of_case * k + self.true_codes
        return np.bincount(places, weights, minlength=len(self) * k).reshape(len(self), k)

    def covered_by_label(self, level: float) -> np.ndarray:
        """Return the (s, l) number of rows of each label whose region contains it."""
        key = "covered by label", level
        return self.whole.once(key, lambda: self._by_label(self.whole.covered(level)).astype(np.int64))

    @cached_property
    def smoothed(self) -> np.ndarray:
        """(N,) smoothed p-values of the true labels, with the random numbers of each case alone."""
        if "tau" not in self.whole.prediction.extra:
            self.whole.once("taus", lambda: np.concatenate([taus_of(case) for case in self.cases]))
        return required_smoothed_p_values(self.whole)

    @cached_property
    def confusion(self) -> np.ndarray:
        """(s, l, l) confusion matrices of true and predicted labels."""
        k, labels = len(self.labels), self.whole.prediction.labels
        if self.labels is self.whole.prediction.classes:
            columns = self.whole.predicted_columns
        else:
            columns = columns_of(labels, self.labels)
        places = (self.of_case * k + self.true_codes) * k + columns
        return np.bincount(places, minlength=len(self) * k * k).reshape(len(self), k, k)

    @cached_property
    def curve_groups(self) -> Ranked:
        """Groups of equal certainty, the most certain first."""
        return self.ranked(-self.whole.certainty)

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
        """Let every case take its rows from the arrays of the block, and give it other values.

        A case alone computes them when they are used.
        """
        if len(self) == 1:
            return
        whole = self.whole
        places = map(slice, self.starts.tolist(), self.ends.tolist())
        for case, rows in zip(self.cases, places, strict=True):
            case.kept[BLOCK] = whole, rows
        whole.correct, whole.known, whole.predicted_columns, whole.confidence  # noqa: B018  they are kept
        if has_counts(whole.prediction):
            self.smoothed  # noqa: B018
        if {"n_greater", "n_equal"} <= set(whole.prediction.extra):
            counted = counted_examples(whole)
            if counted is not None:
                for case, part in zip(self.cases, self.parts(counted), strict=True):
                    case.kept["counted"] = part
        self._fill_labels()
        self._fill_curves()

    def _fill_labels(self) -> None:
        """Fill labels, coverage of classes, and confusion matrices."""
        labels = self.labels
        used = np.greater(self.label_counts, 0)
        codes = self.parts((np.cumsum(used, axis=1) - 1)[self.of_case, self.true_codes])
        all_used = used.all(axis=1).tolist()
        for number, case in enumerate(self.cases):
            case.kept["labels"] = labels if all_used[number] else labels[used[number]], codes[number]
        names = [labels[here].tolist() for here in used]
        for level in self.levels if self.whole.prediction.has_regions else ():
            covered = self.covered_by_label(level)
            for number, case in enumerate(self.cases):
                here = used[number]
                pairs = zip(
                    self.label_counts[number, here].tolist(), covered[number, here].tolist(), strict=True
                )
                case.kept["class coverage", level] = dict(zip(names[number], pairs, strict=True))
        occurs = np.greater(self.confusion.sum(axis=1) + self.confusion.sum(axis=2), 0)
        every = occurs.all(axis=1).tolist()
        for number, case in enumerate(self.cases):
            counts, here = self.confusion[number], labels
            if not every[number]:
                places = np.flatnonzero(occurs[number])
                counts, here = counts[np.ix_(places, places)], labels[places]
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


def blocks_of(
    cases: Sequence[Case], levels: Sequence[float] = (), thresholds: Sequence[float] = ()
) -> list[Block]:
    """Return the blocks of cases that can be computed together; each other case is a block of one.

    Only alone: cases without rows or with many, of an online pass, with NaN or with an absent class.
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
    together = {id(case) for block in blocks for case in block.cases}
    return [*blocks, *(Block([case], levels, thresholds) for case in cases if id(case) not in together)]


def _usable(block: Block) -> Block | None:
    whole = block.whole
    bad = np.isnan(whole.prediction.scores).any(axis=1) | np.isnan(whole.certainty) | ~whole.known
    if not bad.any():
        return block
    usable = block.totals(bad) == 0
    kept = [case for case, good in zip(block.cases, usable.tolist(), strict=True) if good]
    return Block(kept, block.levels, block.thresholds) if len(kept) > 1 else None


def sums_of(values: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the sums of ``values[start:end]``, each as `numpy.sum` computes it, in its order."""
    lengths = ends - starts
    sums = np.zeros(len(starts))
    for length in np.unique(lengths).tolist():
        rows = np.flatnonzero(lengths == length)
        sums[rows] = values[starts[rows][:, None] + np.arange(length)].sum(axis=1)
    return sums


def totals_from(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the sums of values from each start to the next one; zeros without values."""
    if not len(values):
        return np.zeros(len(starts), dtype=values.dtype)
    return np.add.reduceat(values, starts)


def fractions(part: np.ndarray | list[float], whole: np.ndarray) -> np.ndarray:
    """Return part / whole of numbers (s,), NaN for 0 / 0."""
    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole != 0)
