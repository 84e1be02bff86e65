"""`Figure`, one kind of figure, and `DatasetResults`, what a figure draws."""

import inspect
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from confml.methods import BASELINE
from confml.plugins.parameters import Parameter
from confml.report.figures.style import line_of
from confml.report.numbers.outcomes import ViewNumbers
from confml.report.report import NotApplicable as NotApplicable
from confml.report.run.cells import with_details
from confml.report.run.results import RunResults
from confml.runner.plan import Cell


@dataclass(frozen=True)
class Figure:
    """One kind of figure.

    draw: makes a matplotlib figure of `DatasetResults` and the options as keywords, raising `NotApplicable`;
    its docstring is the caption, whose first sentence describes it. options: parameters that a config may
    give. across: whether it is always drawn once for all data sets; others are by their option ``together``.
    refits: whether it fits models again, which needs the data. check: called with the options of a config
    before anything runs; raises ConfmlError. collects: returns the functions of a variant whose values it
    draws, from a run and the options; the one pass over the cells calls them.
    """

    draw: Callable[..., Any]
    options: Mapping[str, Parameter] = field(default_factory=dict)
    across: bool = False
    refits: bool = False
    check: Callable[[Mapping[str, Any]], None] | None = None
    collects: Callable[[RunResults, Mapping[str, Any]], Sequence[Callable]] = lambda run, options: ()

    @property
    def caption(self) -> str:
        """Content of the figure and meaning of its bands."""
        return " ".join((inspect.getdoc(self.draw) or "").split())

    @property
    def about(self) -> str:
        """First sentence of the caption."""
        return re.split(r"(?<=\.) (?=[A-Z])", self.caption)[0]


def of_views(*functions: Callable[..., Any]) -> Callable[..., list[ViewNumbers]]:
    """Return what a `Figure` collects that draws what functions of the views of a variant return."""
    return lambda run, options: [ViewNumbers.of(function, options) for function in functions]


class View(NamedTuple):
    """One view of one method variant on one data set. label: of the variant; cells: one per split."""

    label: str
    method: str
    params: Mapping[str, Any]
    name: str
    cells: list[Cell]

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Data set, method, packed parameters and view."""
        return self.cells[0].dataset, self.method, self.cells[0].variant, self.name


class DatasetResults:
    """The results of one data set of a run, as figures draw them.

    run: all results. name: of the data set. views: of the finished cells by label, in the config's order,
    without the method `BASELINE`.
    """

    def __init__(self, run: RunResults, name: str):
        self.run, self.name = run, name
        self._metrics = {split.cell.key: split for split in run.metrics if split.cell.dataset == name}
        self.views: dict[str, View] = {}
        for cell in run.cells:
            if cell.method == BASELINE or cell.key not in self._metrics:
                continue  # errors of the baseline would set the scale
            names = self._metrics[cell.key].views
            for view in names:
                label = with_details(run.label(cell), view if len(names) > 1 else "")
                new = View(run.label(cell), cell.method, cell.params, view, [])
                self.views.setdefault(label, new).cells.append(cell)

    def values(self, view: View, metric: str) -> list[float]:
        """Return a metric of a view, or of its fits, on each of its splits."""
        splits = [self._metrics[cell.key].values for cell in view.cells]
        keys = (view.name, metric, None), ("", metric, None)
        return [values[key] for values in splits for key in keys if key in values]

    def collected(self, function: Callable[..., Any], **options: Any) -> dict[str, Any]:
        """Return what a function of `of_views` returned for the views that have some of it, by label."""
        by_view = self.run.by_view(ViewNumbers.of(function, options))
        keys = {label: view.key for label, view in self.views.items()}
        return {label: by_view[key] for label, key in keys.items() if key in by_view}

    def look(self, label: str) -> dict[str, Any]:
        """Return colour, dashes and marker of a view or a method variant, the same as on the page."""
        numbers = self.run.method_places
        if label in numbers:
            return line_of(numbers[label])
        variant = self.views[label].label
        alike = [name for name, view in self.views.items() if view.label == variant]
        return line_of(numbers[variant], alike.index(label))

    def shown(
        self, named: Mapping[str, Any], limit: int, empty: str = "no fit is finished"
    ) -> tuple[dict[str, Any], str]:
        """Return at most ``limit`` entries of a mapping by label, and a title with their number.

        If there are more, they are the first ones of each method. Raises NotApplicable with the text
        ``empty`` without entries.
        """
        if not named:
            raise NotApplicable(empty)
        if len(named) <= limit:
            return dict(named), self.name
        methods = {view.label: view.method for view in self.views.values()}
        methods |= {label: view.method for label, view in self.views.items()}
        count: Counter[str] = Counter()
        turns = {}
        for label in named:
            method = methods.get(label, label)
            turns[label] = count[method]
            count[method] += 1
        chosen = sorted(named, key=turns.__getitem__)[:limit]
        title = f"{self.name} ({limit} of {len(named)} variants)"
        return {label: value for label, value in named.items() if label in chosen}, title
