"""Which steps and selections of a config weaken the bound of p-values, and regions without a bound."""

from typing import Any, NamedTuple

from confml.errors import ConfmlError
from confml.measures.guarantees import approximations
from confml.methods.registry import method_class, views_of
from confml.report.answers.standings import Standings
from confml.report.answers.text import listed
from confml.steps.base import Step
from confml.steps.registry import step_class


class StepFacts(NamedTuple):
    """Names of the steps of a config that break exchangeability, that are fitted to rows (empty if some
    break it), and that cannot be imported here."""

    breaking: list[str]
    fitted: list[str]
    unknown: list[str]

    @classmethod
    def of(cls, config: Any) -> "StepFacts":
        steps = [(step.name, _step_class(step.name)) for step in config.steps]
        breaking = [name for name, one in steps if one is not None and one.breaks_exchangeability]
        fitted = [name for name, one in steps if one is not None and one.learns and not breaking]
        return cls(breaking, fitted, [name for name, one in steps if one is None])

    def reasons(self, entry: Any) -> list[str]:
        """Return why the bound of the p-values of a method is approximate; none for ``conformal``.

        Steps learn from the examples that a ``conformal`` classifier is fitted to, not from its calibration
        part.
        """
        if entry.conformal is not None:
            return []
        return approximations(list(entry.tune or ()), self.fitted)


def unpromised(standings: Standings, level: float) -> str:
    """Return a sentence on the regions that promise no coverage at a level; "" without such regions."""
    views: dict[str, dict[str, None]] = {}
    several = {line.method for line in standings.lines if standings.label(line) != line.method}
    for line in standings.lines:
        found = [
            evidence.coverage(one.cell, line.view, level) is not None
            and evidence.promise(one.cell, line.view) is None
            for one, evidence in standings.cells_of(line)
        ]
        if any(found):
            views.setdefault(line.method, {})[line.view] = None
    names = [f"{one} ({listed(list(own))})" if one in several else one for one, own in views.items()]
    return f"No coverage of 1 - level is promised for the regions of {listed(names, 8)}." if names else ""


def has_only_p_values(method: str) -> bool:
    """Return whether a method has p-values and no other view; False if it cannot be imported here."""
    try:
        return views_of(method_class(method)) == ["p-value"]
    except ConfmlError:
        return False


def _step_class(step: str) -> type[Step] | None:
    """Return the class of a step; None if it cannot be imported here."""
    try:
        return step_class(step)
    except ConfmlError:
        return None
