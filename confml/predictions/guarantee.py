"""`Guarantee`: the guarantee of the regions for new rows, its conditions, and what weakens it."""

import functools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from confml.measures.guarantees import RegionPromise, joined, region_promise
from confml.predictions.model import Model


class Remedies(NamedTuple):
    """Names of options of a fit as the caller gives them (command, Python, config), or for a new fit.

    in_python: of `confml.predict`. in_config: the data set is one of a config. stored: the model comes from a
    file, so every option needs a new fit.
    """

    in_python: bool = False
    in_config: bool = False
    stored: bool = False

    def option(self, name: str, value: str | None = None) -> str:
        """Return an option as text, such as ``--conformal split`` or ``conformal="split"``."""
        if self.in_python:
            text = f"{name}={value!r}".replace("'", '"') if value else name
            text = "mondrian=True" if name == "mondrian" else text
        else:
            text = " ".join(filter(None, [f"--{name.replace('_', '-')}", value]))
        return f"a new fit with {text}" if self.stored else text

    def fill_in(self) -> str:
        """Return the remedy for new rows with missing values."""
        if self.in_config and not self.stored:
            return "missing: mean of the data set in the config fills in training means"
        verb = "fills in training means"
        return f"{self.option('missing', 'mean')} {verb}"


AT_COMMAND = Remedies()


MORE = "confml describe guarantee"


class Guarantee:
    """The guarantee of p-values at ``levels``. All outputs ask this class.

    The bound of p-values holds for any number of rows if new and training rows are exchangeable and are
    treated alike. It is approximate if a step is fitted to the training rows, or a parameter is selected with
    their labels, and p-values are counted among the same rows. A conformal method fits its steps and selects
    its parameters without the calibration rows.
    """

    def __init__(self, model: Model, levels: tuple[float, ...], remedies: Remedies = AT_COMMAND):
        self.facts, self.levels, self.remedies = model.facts, levels, remedies
        self.classes = len(model.none.classes)

    def sentences(self) -> list[str]:
        """Return the bound and its conditions, for p-values."""
        sentences = [f"If {self.condition}, {self.bound or 'no coverage is guaranteed at these levels'}."]
        sentences += [*self._weakened(), *self._exceptions(), *self._other_classes()]
        return sentences if self.facts.shift else [*sentences, self._limits(), self._smallest()]

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

    def _weakened(self) -> Iterator[str]:
        """Yield sentences on steps, selected parameters and groups that weaken the guarantee."""
        facts = self.facts
        if self.broken is not None:
            split = self.remedies.option("conformal", "split")
            alternative = "" if facts.noise else f" (the bound holds for a classifier with {split})"
            yield f"That does not hold here: {self.broken}{alternative}."
            return
        if self.approximate:
            other = f"for a classifier with {self.remedies.option('conformal', 'split')}"
            if not facts.is_conformal:
                other = f"with {self.remedies.option('selection_part')}, and {other}"
            yield f"This is approximate, because {', and '.join(self.approximate)}. A bound holds {other}."
        elif facts.selection_rows and not facts.is_conformal:
            steps = [step.name for step in facts.steps if step.learns]
            done = [f"select {joined(facts.selected)}"] if facts.selected else []
            done += [f"fit {joined(steps)}"] if steps else []
            yield (
                f"{row_count(facts.selection_rows)} {are(facts.selection_rows)} used only to "
                f"{' and to '.join(done)}, so the bound holds for any number of rows."
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

    def _limits(self) -> str:
        single = "a single row"
        if self.facts.groups_of:
            single += ", for other groups"
        elif not self.facts.is_label_conditional:
            mondrian = self.remedies.option("mondrian")
            remedy = f"{mondrian} gives" if self.remedies.stored else f"add {mondrian} for"
            single += f", for a single class ({remedy} this guarantee)"
        return (
            "This is an average over training sets and new rows. It is not guaranteed for "
            f"{single} or for rows that are not exchangeable with the training rows."
        )

    def _smallest(self) -> str:
        facts = self.facts
        of, rows = "", facts.counted_rows
        if facts.groups_of:
            of = " in the smallest group"
        elif facts.is_label_conditional:
            label, rows = min(facts.class_counts.items(), key=lambda item: item[1])
            of = f" for the smallest class, {label}"
        return f"The smallest possible p-value is 1/{rows + 1} = {1 / (rows + 1):.2g}{of}."


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
