"""`Guarantee`: the guarantee of the regions for new rows, its conditions, and what weakens it."""

import functools
from collections.abc import Iterator, Sequence

from confml.measures.guarantees import RegionPromise, joined, region_promise
from confml.predictions.model import Model

MORE = "confml describe guarantee"


class Guarantee:
    """The guarantee of p-values at ``levels``. All outputs ask this class.

    The bound of p-values holds for any number of rows if new and training rows are exchangeable and are
    treated alike. It is approximate if a step is fitted to the training rows, or a parameter is selected with
    their labels, and p-values are counted among the same rows. A conformal method fits its steps and selects
    its parameters without the calibration rows.
    """

    def __init__(self, model: Model, levels: tuple[float, ...]):
        self.facts, self.levels = model.facts, levels
        self.classes = len(model.none.classes)

    def lines(self, fit: str, tests: str) -> list[str]:
        """Return the bound in one line and its conditions in the next, then lines for fits with exceptions.

        fit, tests: the method with its rows, and the result of the tests of exchangeability, as text.
        """
        bound = self.bound or "no coverage is guaranteed at these levels"
        if self.broken is not None:
            bound = f"no coverage is guaranteed, because {self.broken}"
        elif self.bound and self.approximate:
            bound += f" (approximate: {', and '.join(self.approximate)})"
        lines = [f"{fit}: {bound}.", f"Condition: {self.condition}.{tests} ({MORE})"]
        return [*lines, *self._other_classes(), *self._exceptions()]

    def error_bound(self, level: float) -> float:
        """Return the bound on the probability that a region at a level misses a label of a training class."""
        facts = self.facts
        if facts.params.get("conformal") != "cross":
            return level
        folds = int(facts.params.get("conformal__folds", 5))
        rows = min(facts.class_counts.values()) if facts.is_label_conditional else facts.counted_rows
        return 2 * (level + (1 - level) * (folds - 1) / (rows + folds))

    @functools.cached_property
    def _promise(self) -> RegionPromise:
        facts = self.facts
        breaking = [step.name for step in facts.steps if step.breaks_exchangeability]
        fitted = [step.name for step in facts.steps if step.learns]
        selected: Sequence[str] = facts.selected
        if facts.selection_rows:  # other rows than those that p-values are counted among
            fitted, selected = [], ()
        return region_promise(facts.params.get("conformal"), breaking, fitted, selected, facts.noise)

    @property
    def broken(self) -> str | None:
        """The reason why there is no bound, None if there is one."""
        return self._promise.broken

    @property
    def approximate(self) -> list[str]:
        """The reasons why the bound is approximate, none if it holds for any number of rows."""
        return self._promise.approximate

    @property
    def other_class_rate(self) -> float:
        """An upper estimate of the probability that a new row is of no training class, (s + 1) / (m + 1).

        s of m training rows are the only ones of their class. Of m + 1 exchangeable rows, s' are the only
        ones, the last one is one of them with probability E(s') / (m + 1), and s' is at most s + 1.
        """
        return (self.facts.single_rows + 1) / (self.facts.fitted_rows + 1)

    # ---- sentences

    @property
    def condition(self) -> str:
        """The assumption about new rows."""
        if self.facts.shift:
            return (
                "the new rows differ from the training rows only in the frequencies of the "
                f"{self.classes} classes, which are estimated without error from the new rows"
            )
        return (
            "new rows are exchangeable with the training rows and the label is one of the "
            f"{self.classes} training classes"
        )

    @property
    def bound(self) -> str | None:
        """The bound at each level that has one, None without any."""
        facts, shares = self.facts, []
        for level in self.levels:
            bound = 1 - self.error_bound(level)
            if bound > 0:
                shares.append(f"{digits(100 * bound)} % at level {level!r}")
        if not shares:
            return None
        per = ", for each class" if facts.is_label_conditional else ""
        if facts.groups_of:
            per = f", in each group of {joined([f'({name})' for name in facts.groups_of])}"
        about = "about" if self.approximate and self.broken is None else "at least"
        return f"a region contains the true label with probability {about} {', '.join(shares)}{per}"

    def _exceptions(self) -> Iterator[str]:
        """Yield sentences on rows that the bound is not for."""
        if self.facts.groups and self.broken is None:
            yield (
                "Rows of new groups are not exchangeable with the training rows if rows of one "
                "group are alike."
            )

    def _other_classes(self) -> Iterator[str]:
        s, m = self.facts.single_rows, self.facts.fitted_rows
        if not s:
            return
        yield (
            f"{s} of {m} training rows {are(s)} the only {'one' if s == 1 else 'ones'} of "
            f"{'its' if s == 1 else 'their'} class. About {s}/{m} = {percent(s, m)} of new rows may "
            f"therefore be of another class (Good and Turing; at most {s + 1}/{m + 1} in expectation). No "
            "region contains such a label."
        )


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
    """Return a number with three digits, without zeros at the end."""
    return f"{value:.3g}" if abs(value) < 99.95 else f"{value:.5g}"
