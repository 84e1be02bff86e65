"""The figures that a config can name: each module of this package defines one or more `Figure` objects.

To add a figure, write ``report/figures/mine.py`` with a `Figure`; its function draws the figure of one data
set and raises `NotApplicable`, with the reason, if there is nothing to draw. A figure draws metrics and the
values that it collects of each variant (`numbers_of`), never cells.
"""

import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from confml.errors import ConfigError
from confml.plugins.parameters import Parameter, check_parameters, parameters_text
from confml.report.captions import figure_file_name, sentence, setting_text
from confml.report.figures.style import line_of
from confml.report.files import digest, safe_name, safe_names
from confml.report.numbers.outcomes import ViewNumbers
from confml.report.report import NotApplicable as NotApplicable
from confml.report.report import Picture
from confml.report.run.cells import with_details
from confml.report.run.results import RunResults, ViewKey
from confml.runner.plan import Cell


@dataclass(frozen=True)
class Figure:
    """One kind of figure.

    name: in a config. about: one line on its content. draw: makes a matplotlib figure out of a `Subject`,
    raising `NotApplicable`. options: parameters that a config may give. across: whether it is always drawn
    once for all data sets together. refits: whether it fits models again, which needs the data. check:
    called with the options of a config before anything runs; raises ConfmlError. caption: sentences on
    content and bands of the figure; ``about`` by default. `caption_of` adds data set, protocol and number of
    splits. collects: returns the functions of a variant whose values it draws, from a run and the options;
    the one pass over the cells calls them.
    """

    name: str
    about: str
    draw: "Callable[[Subject], Any]"
    options: Mapping[str, Parameter] = field(default_factory=dict)
    across: bool = False
    refits: bool = False
    check: Callable[[Mapping[str, Any]], None] | None = None
    caption: "str | Callable[[Subject], str]" = ""
    collects: Callable[[RunResults, Mapping[str, Any]], Sequence[Callable]] = lambda run, options: ()

    def is_across(self, options: Mapping[str, Any]) -> bool:
        """Return whether it is drawn once for all data sets: always, or by its option ``together``."""
        return self.across or bool(options.get("together", False))


def numbers_of(*functions: Callable[..., dict[str, Any]]) -> Callable[..., list[ViewNumbers]]:
    """Return what a `Figure` collects that draws what functions return for the views of a variant."""
    return lambda run, options: [ViewNumbers.of(function, options) for function in functions]


@dataclass(frozen=True)
class Subject:
    """The input of one figure: one data set of a run, and the options of the config."""

    results: RunResults
    dataset: str
    options: Mapping[str, Any]

    def option(self, name: str, default: Any) -> Any:
        return self.options.get(name, default)

    @functools.cached_property
    def variants(self) -> "dict[str, Variant]":
        """Views of the data set's finished cells, over the splits, by label, in the order of the config."""
        views: dict[str, list[str]] = {}
        for one in self.results.metrics:
            if one.cell.dataset == self.dataset:
                views[one.cell.key] = one.views
        found: dict[str, Variant] = {}
        for cell in self.results.cells:
            for view in views.get(cell.key, ()):
                label = self.results.label(cell)
                label = with_details(label, view if len(views[cell.key]) > 1 else "")
                found.setdefault(label, Variant(cell.method, cell.params, view, [])).cells.append(cell)
        return found

    def look(self, name: str, view: int = 0) -> dict[str, Any]:
        """Return colour, dashes and marker of a variant or a method by its label, the same as on the page."""
        places = self.results.method_places
        if name in places:
            return line_of(places[name], view)
        variant = self.variants[name]
        label = self.results.label(variant.cells[0])
        views = [one.view for one in self.variants.values() if self.results.label(one.cells[0]) == label]
        return line_of(places[label], views.index(variant.view))

    def some_of(
        self, named: Mapping[str, Any], limit: int, none: str = "no cell is finished"
    ) -> tuple[dict[str, Any], str]:
        """Return at most ``limit`` entries of a mapping by variant, and a title with their number.

        If there are more, each method has its share, taken evenly from its variants in order, and the first
        of the others fill the rest. Raises NotApplicable with the text ``none`` without entries.
        """
        if not named:
            raise NotApplicable(none)
        if len(named) <= limit:
            return dict(named), self.dataset
        methods: dict[str, list[str]] = {}
        for name in named:
            methods.setdefault(self.variants[name].method, []).append(name)
        share = max(limit // len(methods), 1)
        kept = set()
        for names in list(methods.values())[:limit]:
            count = min(share, len(names))
            kept |= {names[place * (len(names) - 1) // max(count - 1, 1)] for place in range(count)}
        kept |= set([name for name in named if name not in kept][: max(limit - len(kept), 0)])
        title = f"{self.dataset} ({len(kept)} of {len(named)} variants)"
        return {name: value for name, value in named.items() if name in kept}, title

    def values(self, variant: "Variant", metric: str, level: float | None = None) -> list[float]:
        """Return a metric of a variant on each of its splits."""
        name = (variant.view, metric, level)
        metrics = (self._metrics[cell.key] for cell in variant.cells)
        return [values[name] for values in metrics if name in values]

    @functools.cached_property
    def _metrics(self) -> dict[str, Mapping]:
        return {cell.key: values for cell, values in self.results.metrics if cell.dataset == self.dataset}

    def numbers(self, function: Callable[..., dict[str, Any]]) -> dict[str, Any]:
        """Return what a function of `numbers_of` returned for the views that have numbers, by label."""
        found = self.results.by_view(ViewNumbers.of(function, self.options))
        keys = {label: variant.key for label, variant in self.variants.items()}
        return {label: found[key] for label, key in keys.items() if key in found}

    def of_dataset(self, dataset: str, **options: Any) -> "Subject":
        """Return the subject of another data set, with some options changed."""
        return Subject(self.results, dataset, {**self.options, **options})


@dataclass(frozen=True)
class Variant:
    """One view of one method variant on one data set; ``cells`` has one cell per split."""

    method: str
    params: Mapping[str, Any]
    view: str
    cells: list[Cell]

    @property
    def key(self) -> ViewKey:
        """Data set, method, variant and view."""
        first = self.cells[0]
        return first.dataset, first.method, first.variant, self.view


@functools.cache
def known_figures() -> dict[str, Figure]:
    """Return every figure by name."""
    found = {}
    for module in sorted(info.name for info in pkgutil.iter_modules(__path__)):
        for value in vars(importlib.import_module(f"{__name__}.{module}")).values():
            if isinstance(value, Figure):
                found[value.name] = value
    return dict(sorted(found.items()))


def check_figure(name: str, options: Mapping[str, Any]) -> Figure:
    """Return the figure of a config as `find_figure` does, after calling the figure's own ``check``."""
    figure = find_figure(name, options)
    if figure.check is not None:
        figure.check(options)
    return figure


def find_figure(name: str, options: Mapping[str, Any]) -> Figure:
    """Return the figure of this name; ConfigError for an unknown name or a wrong option."""
    figures = known_figures()
    if name not in figures:
        raise ConfigError(f"unknown figure '{name}'", near=(name, figures))
    check_parameters(f"figure '{name}'", figures[name].options, options)
    return figures[name]


def figure_functions(results: RunResults) -> list[Callable]:
    """Return the functions of a variant whose values the config's figures draw."""
    functions: list[Callable] = []
    for spec in results.config.figures:
        options = dict(spec.options)
        functions += find_figure(spec.name, options).collects(results, options)
    return functions


def pictures(results: RunResults) -> Iterator[Picture]:
    """Yield the config's figures of every data set without drawing them.

    Drawing one raises `NotApplicable`, with the reason, if there is nothing to show.
    """
    datasets = safe_names(cell.dataset for cell in results.cells)
    given: dict[str, list[Mapping[str, Any]]] = {}
    for spec in results.config.figures:
        given.setdefault(spec.name, []).append(spec.options)
    taken: set[str] = set()
    for spec in results.config.figures:
        options = dict(spec.options)
        figure = find_figure(spec.name, options)
        name = figure_file_name(
            safe_name("-".join([spec.name, *_told(options, given[spec.name])]).replace("_", "-"))
        )
        for dataset, stem in ({"all data sets": ""} if figure.is_across(options) else datasets).items():
            file = f"{name}-{figure_file_name(stem)}" if stem else name
            if file in taken:
                file = f"{file}-{digest(parameters_text(options) + str(2 * len(taken)))}"
            subject = Subject(results, dataset, options)
            yield Picture(
                f"figures/{file}",
                functools.partial(figure.draw, subject),
                f"{spec.name} of {dataset}",
                caption_of(figure, subject),
                formats=results.config.figure_formats,
                dataset="" if figure.is_across(options) else dataset,
            )
            taken.add(file)


def caption_of(figure: Figure, subject: Subject) -> str:
    """Return the caption of a figure: content, data set, protocol, number of splits, meaning of bands."""
    text = figure.caption(subject) if callable(figure.caption) else figure.caption
    setting = setting_text(subject.results, None if figure.is_across(subject.options) else subject.dataset)
    return f"{sentence(text or figure.about)} {setting}"


def _told(options: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the options in which a figure differs from others, for its file name: a name by itself, a number
    with its key."""
    for key, value in options.items():
        if value is False or all(other.get(key) == value for other in others):
            continue
        if isinstance(value, list | tuple):
            yield "-".join(map(str, value))
        elif value is True:
            yield key
        else:
            named = isinstance(value, str) and key not in ("without", "skip")
            yield str(value) if named else f"{key}-{value}"
