"""`FewRows`: TCM-NN p-values of a few new rows, by direct differences, with NumPy alone.

A stored model answers with it when there are only a few new rows: the import of scikit-learn and of compiled
kernels takes longer than the computation.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from confml.measures.prediction import Prediction, columns_of_p_values
from confml.neighbours.scaling import SafeScale


@dataclass(frozen=True)
class FewRows:
    """A fitted TCM-NN for few new rows; its counts and alphas have the bits of `TCMNN`.

    classes: (c,) labels. X: (m, d) training rows on the ``scale``, sorted by class. codes: (m,) classes of
    the rows. same, other: (m, k) ascending distances of each row to its own and to other classes. mondrian,
    smoothed: as in `TCMNN`. random_state: seed of smoothed p-values where no generator is given.
    """

    classes: np.ndarray
    X: np.ndarray
    codes: np.ndarray
    same: np.ndarray
    other: np.ndarray
    scale: SafeScale
    mondrian: bool
    smoothed: bool
    random_state: int | None = None

    version = 3  # that of TCMNN
    stored = {
        "classes": "labels(c)",
        "X": "real(m, d)",
        "codes": "i8(m) in 0..c",
        "same": "f8(m, k)",
        "other": "f8(m, k)",
        "scale": "SafeScale",
        "mondrian": "bool",
        "smoothed": "bool",
        "random_state": "int | None",
    }

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the view ``p-value`` of new rows X (n, d)."""
        T = self.scale.apply(np.ascontiguousarray(X, dtype=np.float64))
        shape = len(T), len(self.classes)
        greater, equal, alpha = np.empty(shape, np.int64), np.empty(shape, np.int64), np.empty(shape)
        for row, x in enumerate(T):
            greater[row], equal[row], alpha[row] = self._counts(self._distances(x))
        sizes = np.bincount(self.codes, minlength=len(self.classes))
        counted = (sizes if self.mondrian else sizes.sum()) + 1
        tau = (rng or np.random.default_rng(self.random_state)).random(len(T)) if self.smoothed else None
        counts = greater, equal, alpha, counted
        return {"p-value": prediction_of_counts(self.classes, *counts, tau, self.mondrian)}

    @cached_property
    def _columns(self) -> np.ndarray:
        return np.ascontiguousarray(self.X.T)

    @cached_property
    def _ends(self) -> np.ndarray:
        """(c + 1,) the first row of each class, and the number of rows."""
        return np.searchsorted(self.codes, np.arange(len(self.classes) + 1))

    @cached_property
    def _alphas(self) -> np.ndarray:
        """(m,) strangeness of the training rows."""
        return _strangeness(_sums(self.same), _sums(self.other))

    @cached_property
    def _ranked(self) -> list[np.ndarray]:
        """The sorted strangeness of the rows that count for each class."""
        if not self.mondrian:
            return [np.sort(self._alphas)] * len(self.classes)
        return [np.sort(self._alphas[self.codes == code]) for code in range(len(self.classes))]

    def _distances(self, x: np.ndarray) -> np.ndarray:
        """Return (m,) distances of a new row; squares are added in the order of the features."""
        total = np.zeros(len(self.X))
        difference = np.empty(len(self.X))
        for column, value in zip(self._columns, x, strict=True):
            np.subtract(column, value, out=difference)
            np.multiply(difference, difference, out=difference)
            total += difference
        return np.sqrt(total)

    def _counts(self, distances: np.ndarray) -> tuple[list[int], list[int], list[float]]:
        """Return the numbers of alphas above and equal to that of the new row, and its alpha, under each
        label.
        """
        k = self.same.shape[1]
        ends = self._ends
        nearest = [_smallest(distances[ends[z] : ends[z + 1]], k) for z in range(len(self.classes))]
        in_same, in_other = (np.flatnonzero(distances < lists[:, -1]) for lists in (self.same, self.other))
        n_greater: list[int] = []
        n_equal: list[int] = []
        new_alphas: list[float] = []
        for code in range(len(self.classes)):
            others = [part for z, part in enumerate(nearest) if z != code] or [np.empty(0)]
            same, other = _sums(nearest[code][None]), _sums(_smallest(np.concatenate(others), k)[None])
            alpha = _strangeness(same, other)[0]
            ranked = self._ranked[code]
            first, last = np.searchsorted(ranked, alpha, "left"), np.searchsorted(ranked, alpha, "right")
            greater, equal = len(ranked) - last, last - first + 1
            # Rows that have the new one among their k nearest get another alpha.
            changed = [(in_same[self.codes[in_same] == code], self.same, 0)]
            if not self.mondrian:
                changed.append((in_other[self.codes[in_other] != code], self.other, 1))
            for rows, lists, place in changed:
                longer = np.sort(np.column_stack([lists[rows], distances[rows]]), axis=1)[:, :k]
                sums = [_sums(self.same[rows]), _sums(self.other[rows])]
                sums[place] = _sums(longer)
                for alphas, sign in ((self._alphas[rows], -1), (_strangeness(*sums), 1)):
                    greater += sign * np.count_nonzero(alphas > alpha)
                    equal += sign * np.count_nonzero(alphas == alpha)
            n_greater.append(int(greater))
            n_equal.append(int(equal))
            new_alphas.append(float(alpha))
        return n_greater, n_equal, new_alphas


def prediction_of_counts(
    classes: np.ndarray,
    greater: np.ndarray,
    equal: np.ndarray,
    alpha: np.ndarray,
    counted: np.ndarray | int,
    tau: np.ndarray | None,
    label_conditional: bool,
    more: dict[str, np.ndarray] | None = None,
) -> Prediction:
    """Return the view ``p-value`` from the counts (r, c) of r new examples.

    counted: denominators of the p-values, of a shape that fits (r, c). tau: (r,) for smoothed p-values.
    label_conditional: whether each label counts its own examples only. more: further arrays of ``extra``.
    """
    extra = {"n_greater": greater, "n_equal": equal, "alpha": alpha}
    if tau is None:
        scores = (greater + equal) / counted
    else:
        scores = (greater + tau[:, None] * equal) / counted
        extra["tau"] = tau
    columns = columns_of_p_values(scores, alpha, label_conditional)
    return Prediction(classes, scores, "p-value", classes[columns], extra | (more or {}))


def _smallest(distances: np.ndarray, k: int) -> np.ndarray:
    """Return (k,) the smallest distances, ascending; +inf where there are fewer."""
    if len(distances) > k:
        distances = np.partition(distances, k - 1)[:k]
    return np.append(np.sort(distances), np.full(k - len(distances), np.inf))


def _sums(lists: np.ndarray) -> np.ndarray:
    """Return (n,) sums of ascending lists (n, k), added in their order."""
    total = np.zeros(len(lists))
    for column in lists.T:
        total = total + column
    return total


def _strangeness(same: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return (n,) same / other: +inf where same is, x/0 = +inf and 0/0 = 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = same / other
    ratio[(other == 0) & (same == 0)] = 1.0
    ratio[np.isinf(same)] = np.inf
    return ratio
