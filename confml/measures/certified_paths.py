"""Thresholds that are certified together over methods, views, classes and thresholds.

`confml.measures.certified` certifies the thresholds of one method. If several methods are certified like that
and the best one is chosen, the guarantee is lost: with ten equal methods, one of them has a false certificate
in 17 to 26 % of all calibration parts at delta = 5 %. Here, all hypotheses are tested together (Learn then
Test, Angelopoulos et al. 2021, with the graphical procedure of Bretz et al. 2009), so any choice among the
certified thresholds keeps the guarantee.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from confml.measures.certified import counts_at
from confml.measures.risk_p_values import betting_p_value, binomial_p_value


@dataclass(frozen=True, eq=False)
class Path:
    """Thresholds (t,) of one candidate in the order in which they are tested, with their p-values (t,).

    name: identifies the candidate. accepted: (t,) number of calibration rows with confidence >= threshold.
    loss: (t,) number of errors among these, or the mean loss. The thresholds and their order must not depend
    on the calibration part.
    """

    name: Hashable
    thresholds: np.ndarray
    p_values: np.ndarray
    accepted: np.ndarray
    loss: np.ndarray

    @classmethod
    def of_errors(cls, name: Hashable, confidence, correct, thresholds, risk: float) -> "Path":
        """Test at each threshold whether the error rate of the accepted rows is above ``risk``.

        confidence, correct: (n,) of the calibration rows, or of those predicted as one class.
        """
        return cls.of_every_class(name, confidence, correct, thresholds, risk, np.zeros(len(correct), int), 1)

    @classmethod
    def of_every_class(
        cls, name: Hashable, confidence, correct, thresholds, risk: float, codes, classes: int
    ) -> "Path":
        """Test at each threshold whether the error rate of any of several classes is above ``risk``.

        codes: (n,) class of each calibration row, from 0 to ``classes`` - 1; rows with another code are
        not used. The p-value is the largest of the classes, which needs no correction (intersection-union).
        Raises ValueError for NaN, or arrays of different lengths.
        """
        confidence, correct = np.asarray(confidence, dtype=np.float64), np.asarray(correct, dtype=bool)
        thresholds, codes = np.asarray(thresholds, dtype=np.float64), np.asarray(codes)
        if confidence.ndim != 1 or confidence.shape != correct.shape or np.isnan(confidence).any():
            raise ValueError("confidence and correct must both have shape (n,), without NaN")
        given = confidence[None], correct[None], thresholds[None]
        return cls.of_parts(*given, risk, codes[None], classes, name)[0]

    @classmethod
    def of_parts(
        cls, confidence, correct, thresholds, risk: float, codes=None, classes: int = 1, name: Hashable = None
    ) -> "list[Path]":
        """Return `of_every_class` of s calibration parts (s, n) with thresholds (s, t), computed together.

        Of several equal thresholds of a part, its path has the first one.
        """
        accepted, errors = counts_at(confidence, correct, thresholds, codes, classes)
        p = binomial_p_value(errors, accepted, risk).max(axis=1)
        different = np.ones(thresholds.shape, dtype=bool)
        different[:, 1:] = thresholds[:, 1:] != thresholds[:, :-1]
        columns = [one[different] for one in (thresholds, p, accepted.sum(axis=1), errors.sum(axis=1))]
        ends = np.cumsum(different.sum(axis=1)).tolist()
        places = map(slice, [0, *ends[:-1]], ends)
        return [cls(name, *(one[place] for one in columns)) for place in places]

    @classmethod
    def of_costs(
        cls, name: Hashable, confidence, cost, thresholds, abstain: float, bound: float, delta: float
    ) -> "Path":
        """Test at each threshold whether the expected cost per row is above ``bound``.

        cost: (n,) cost of the prediction of each calibration row, if it is accepted; abstain: cost of a row
        that is not accepted; both from 0 to 1, as from `CostTable.scaled`. The rows must be in random order
        (`betting_p_value`).
        """
        thresholds = np.asarray(thresholds, dtype=np.float64)
        confidence, cost = np.asarray(confidence, dtype=np.float64), np.asarray(cost, dtype=np.float64)
        accepts = confidence[:, None] >= thresholds
        losses = np.where(accepts, cost[:, None], abstain)
        p = np.asarray(betting_p_value(losses, bound, delta))
        return cls(name, thresholds, p, accepts.sum(axis=0), losses.mean(axis=0))

    def __len__(self) -> int:
        return len(self.thresholds)


@dataclass(frozen=True)
class CostTable:
    """Cost of each prediction: ``matrix`` (c, c), true class by predicted class, and of abstaining.

    Costs are scaled to [0, 1] for the tests: minus the smallest, divided by the range.
    """

    matrix: np.ndarray
    abstain: float

    @classmethod
    def of_config(cls, costs: Mapping[str, Any], classes: np.ndarray) -> "CostTable | None":
        """Return the ``costs`` of a config for the classes of a data set; None if they do not fit these.

        They need the cost of every wrong prediction, and a price of abstaining above the smallest cost.
        """
        matrix, abstain = costs.get("matrix"), costs.get("abstain")
        names = [str(label) for label in np.asarray(classes).tolist()]
        rows = {
            str(true): {str(name): cost for name, cost in row.items()} for true, row in (matrix or {}).items()
        }
        known = all(name in rows.get(true, ()) for true in names for name in names if name != true)
        if not known or isinstance(abstain, bool) or not isinstance(abstain, int | float):
            return None
        table = np.array([[rows[true].get(name, 0.0) for name in names] for true in names], dtype=np.float64)
        return cls(table, float(abstain)) if abstain > table.min() >= 0.0 else None

    def scaled(self, cost):
        """Return costs on the scale of the tests."""
        low, high = self._ends
        return (np.asarray(cost, dtype=np.float64) - low) / (high - low)

    def of_rows(self, true_codes, predicted_codes) -> np.ndarray:
        """Return (n,) costs of accepted predictions. The cost for a true code of -1 is the largest one."""
        true_codes = np.asarray(true_codes)
        cost = np.asarray(self.matrix, dtype=np.float64)[true_codes, predicted_codes]
        return np.where(true_codes < 0, self._ends[1], cost)

    @property
    def _ends(self) -> tuple[float, float]:
        every = np.append(np.ravel(self.matrix), self.abstain).astype(np.float64)
        return float(every.min()), float(every.max())


def certify_paths(paths: Sequence[Path], delta: float = 0.05) -> list[int]:
    """Return the number of certified thresholds of each path: the first ones in its order.

    Each path has an equal part of ``delta`` as its budget. Its next threshold is certified if its p-value is
    at most the budget; a path whose thresholds are all certified gives its budget in equal parts to the paths
    that are not finished. Paths without thresholds get no budget.

    With probability at least 1 - ``delta`` over calibration parts, no certified threshold is above its limit.
    So any choice among them keeps the guarantee, whatever the dependence between methods. Raises ValueError
    unless 0 < delta < 1.
    """
    if not 0.0 < delta < 1.0:
        raise ValueError(f"delta must be above 0 and below 1, got {delta}")
    certified = [0] * len(paths)
    going = [number for number, path in enumerate(paths) if len(path)]
    budget = delta / max(len(going), 1)  # equal for all paths that are not finished, at every moment
    while True:
        for number in going:
            p = paths[number].p_values
            while certified[number] < len(p) and p[certified[number]] <= budget:
                certified[number] += 1
        left = [number for number in going if certified[number] < len(paths[number])]
        if len(left) in (0, len(going)):
            return certified
        going, budget = left, delta / len(left)


def most_accepting(paths: Sequence[Path], certified: Sequence[int]) -> tuple[int, int] | None:
    """Return the certified (path, threshold) that accepts most calibration rows; None without one.

    The first path of several, and its first threshold.
    """
    best: tuple[int, int] | None = None
    most = -1
    for number, (path, count) in enumerate(zip(paths, certified, strict=True)):
        if count:
            place = int(np.argmax(path.accepted[:count]))
            if path.accepted[place] > most:
                best, most = (number, place), int(path.accepted[place])
    return best


def least_loss(paths: Sequence[Path], certified: Sequence[int]) -> tuple[int, int] | None:
    """Return the certified (path, threshold) with the smallest mean loss; None without one."""
    best: tuple[int, int] | None = None
    least = np.inf
    for number, (path, count) in enumerate(zip(paths, certified, strict=True)):
        if count:
            place = int(np.argmin(path.loss[:count]))
            if path.loss[place] < least:
                best, least = (number, place), float(path.loss[place])
    return best
