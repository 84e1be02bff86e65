"""`Guarantee`: the guarantee of the regions for new rows, its conditions, and what weakens it."""

import functools
from collections.abc import Sequence

from confml.measures.guarantees import RegionPromise, joined, region_promise
from confml.predictions.model import Model

MORE = "confml describe guarantee"
_LISTED = 5  # features that one sentence names


class Guarantee:
    """The guarantee of p-values at ``levels``. All outputs ask this class.

    The bound of p-values holds for any number of rows if new and training rows are exchangeable and are
    treated alike. It is approximate if a step is fitted to the training rows, or a parameter is selected with
    their labels, and p-values are computed from the same rows. A conformal method fits its steps and selects
    its parameters without the calibration rows.
    """

    def __init__(self, model: Model, levels: tuple[float, ...]):
        self.facts, self.levels = model.facts, levels
        self.classes = len(model.none.classes)

    def lines(self, fit: str, tests: str) -> list[str]:
        """Return a line with the bound, a line with its condition, and lines for exceptions.

        fit, tests: the method with its rows, and the result of the tests of exchangeability, as text.
        """
        facts, promise, bound = self.facts, self.promise, self._bound()
        has_bound = promise.broken is None and bound is not None
        if promise.broken is not None:
            bound = f"no coverage is guaranteed, because {promise.broken}"
        elif bound is None:
            bound = "no coverage is guaranteed at these levels"
        elif promise.approximate:
            bound += f". The probability is approximate, because {', and '.join(promise.approximate)}"
        condition = (
            "new rows are exchangeable with the training rows and the label is one of the "
            f"{self.classes} training classes"
        )
        if facts.shift:
            condition = (
                "the new rows differ from the training rows only in the frequencies of the "
                f"{self.classes} classes, which are estimated without error from the new rows"
            )
        if has_bound:
            tests = f"Condition: {condition}.{tests}"
        lines = [f"{fit}: {bound}.", f"{tests} ({MORE})".strip()]
        if s := facts.single_rows:
            m, noun, their = facts.fitted_rows, "one" if s == 1 else "ones", "its" if s == 1 else "their"
            lines.append(
                f"{s} of {m} training rows {are(s)} the only {noun} of {their} class. About {s}/{m} = "
                f"{percent(s, m)} of new rows may therefore be of another class (Good and Turing; at most "
                f"{s + 1}/{m + 1} in expectation). No region contains such a label."
            )
        if facts.groups and promise.broken is None:
            lines.append(
                "Rows of new groups are not exchangeable with the training rows if rows of one group are "
                "alike."
            )
        return lines

    def error_bound(self, level: float) -> float:
        """Return the bound on the probability that a region at a level misses a label of a training class."""
        facts = self.facts
        if facts.params.get("conformal") != "cross":
            return level
        folds = int(facts.params.get("conformal__folds", 5))
        rows = min(facts.class_counts.values()) if facts.is_label_conditional else facts.counted_rows
        return 2 * (level + (1 - level) * (folds - 1) / (rows + folds))

    @functools.cached_property
    def promise(self) -> RegionPromise:
        """Whether there is a bound, and whether it holds for any number of rows."""
        facts = self.facts
        fitted, selected = facts.learning_steps, facts.selected
        if facts.selection_rows:  # other rows than those that p-values are computed from
            fitted = selected = ()
        return region_promise(
            facts.params.get("conformal"), facts.breaking_steps, fitted, selected, facts.noise
        )

    @property
    def other_class_rate(self) -> float:
        """An upper estimate of the probability that a new row is of no training class, (s + 1) / (m + 1).

        s of m training rows are the only ones of their class. Of m + 1 exchangeable rows, s' are the only
        ones, the last one is one of them with probability E(s') / (m + 1), and s' is at most s + 1.
        """
        return (self.facts.single_rows + 1) / (self.facts.fitted_rows + 1)

    def _bound(self) -> str | None:
        """Return the bound at each level that has one, None without any."""
        facts, promise, shares = self.facts, self.promise, []
        for level in self.levels:
            bound = 1 - self.error_bound(level)
            if bound > 0:
                shares.append(f"{digits(100 * bound)} % at level {level!r}")
        if not shares:
            return None
        per = ", for each class" if facts.is_label_conditional else ""
        if facts.groups_of:
            per = f", in each group of {joined([f'({name})' for name in facts.groups_of])}"
        about = "about" if promise.approximate and promise.broken is None else "at least"
        return f"a region contains the true label with probability {about} {', '.join(shares)}{per}"


def row_count(rows: int) -> str:
    """Return ``1 row``, ``2 rows``."""
    return f"{rows} row" if rows == 1 else f"{rows} rows"


def have(rows: int) -> str:
    return "has" if rows == 1 else "have"


def are(rows: int) -> str:
    return "is" if rows == 1 else "are"


def percent(part: float, whole: float) -> str:
    """Return a share as ``12.3 %``."""
    return f"{digits(100 * part / whole)} %"


def digits(value: float) -> str:
    """Return a number with three digits, without zeros at the end; just below 100 it has more digits."""
    text = f"{value:.3g}" if abs(value) < 99.95 else f"{value:.5g}"
    return f"{value:.12g}" if value < 100 == float(text) else text


def listed(features: Sequence[str]) -> str:
    """Return the texts of the first features, and the number of features if there are more."""
    rest = [f"... ({len(features)} features)"] if len(features) > _LISTED else []
    return ", ".join([*features[:_LISTED], *rest])
