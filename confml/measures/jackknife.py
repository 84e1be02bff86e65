"""Jackknife values of metrics that are no means over rows, as losses of the rows.

The value of row i is n f - (n - 1) f(without i), moved so that the mean of the values is f. Tests of row
means then apply to areas under rejection curves, and to points of these curves.
"""

from typing import NamedTuple

import numpy as np

from confml.measures.rejection import RejectionCurve


class CurveRows(NamedTuple):
    """A rejection curve and its rows: group (n,) of equal confidence, wrong (n,) 0 or 1."""

    curve: RejectionCurve
    group: np.ndarray
    wrong: np.ndarray

    @classmethod
    def of(cls, curve: RejectionCurve, certainty: np.ndarray, correct: np.ndarray) -> "CurveRows":
        """Return the rows of a curve from the confidences that it was made of."""
        group = np.searchsorted(-curve.confidences, -np.asarray(certainty, dtype=np.float64))
        return cls(curve, group, (~np.asarray(correct, dtype=bool)).astype(np.float64))

    def augrc(self) -> np.ndarray:
        """Return the (n,) values of the area under the generalised risk-coverage curve."""
        n, before, size, errors, end = self._groups()
        half = before + 0.5 * errors
        total = float(size @ half)
        g, w = self.group, self.wrong
        without = total - size[g] * half[g] + (size[g] - 1) * (half[g] - 0.5 * w) - w * (n - end[g])
        return _centred(without / max(n - 1, 1) ** 2, total / n**2)

    def aurc(self) -> np.ndarray:
        """Return the (n,) values of the area under the risk-coverage curve."""
        n, before, size, errors, end = self._groups()
        start = end - size
        harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, n + 1))])
        own = harmonic[end] - harmonic[start]
        areas = before * own + errors / size * (size - start * own)
        # Groups after the removed row: one place earlier.
        earlier = harmonic[end - 1] - harmonic[np.maximum(start - 1, 0)]
        moved = before * earlier + errors / size * (size - (start - 1) * earlier)
        after, after_own = (_after(values) for values in (moved, earlier))
        g, w = self.group, self.wrong
        left = harmonic[end[g] - 1] - harmonic[start[g]]
        rest = np.maximum(size[g] - 1, 1)
        inside = before[g] * left + (errors[g] - w) / rest * ((size[g] - 1) - start[g] * left)
        inside = np.where(size[g] > 1, inside, 0.0)
        without = (np.cumsum(areas) - areas)[g] + inside + after[g] - w * after_own[g]
        return _centred(without / max(n - 1, 1), float(areas.sum()) / n)

    def auroc(self) -> np.ndarray:
        """Return the (n,) values of the AUROC of correctness; NaN if it is undefined."""
        _, before, size, errors, end = self._groups()
        wrong, right = float(errors.sum()), float((size - errors).sum())
        if wrong == 0 or right == 0:
            return np.full(len(self.wrong), np.nan)
        rights, right_before = size - errors, end - size - before
        wrongs_below = wrong - before - 0.5 * errors
        rights_above = right_before + 0.5 * rights
        total = float(rights @ wrongs_below)
        value = total / (right * wrong)
        g, is_wrong = self.group, self.wrong > 0
        pairs = np.where(is_wrong, right * (wrong - 1), (right - 1) * wrong)
        rest = total - np.where(is_wrong, rights_above[g], wrongs_below[g])
        without = np.divide(rest, pairs, out=np.full(len(rest), value), where=pairs > 0)
        return _centred(without, value)

    def sure_incorrect(self, rates: np.ndarray) -> np.ndarray:
        """Return the (r, n) values of the sure-incorrect proportion at rejection rates (r,)."""
        n, before, size, errors, end = self._groups()
        start = end - size
        accepted, curve_errors = self.curve.accepted, self.curve.errors
        g, w = self.group, self.wrong
        shares = np.empty((len(rates), n))
        for place, rate in enumerate(np.asarray(rates, dtype=np.float64).tolist()):
            target = (1 - rate) * (n - 1)
            same = np.interp(target, accepted, curve_errors)
            later = np.interp(target + 1, accepted, curve_errors) - w
            inside = before[g] + (errors[g] - w) * (target - start[g]) / np.maximum(size[g] - 1, 1)
            without = np.where(target <= start[g], same, np.where(target >= end[g] - 1, later, inside))
            value = float(np.interp((1 - rate) * n, accepted, curve_errors)) / n
            shares[place] = _centred(without / max(n - 1, 1), value)
        return shares

    def _groups(self) -> tuple[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return n, and for each group errors before it, its size, its errors, and its end."""
        accepted, errors = self.curve.accepted, self.curve.errors
        return self.curve.n, errors[:-1], np.diff(accepted), np.diff(errors), accepted[1:]


def _after(values: np.ndarray) -> np.ndarray:
    """Return the sums of the values after each one."""
    return np.cumsum(values[::-1])[::-1] - values


def _centred(without: np.ndarray, value: float) -> np.ndarray:
    """Return the values of the rows from the metric without each of them."""
    return value + (len(without) - 1) * (without.mean() - without)
