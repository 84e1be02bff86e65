"""The figures that a config can name: each module of this package draws one or two of them.

To add a figure, write ``report/figures/mine.py`` with a `Figure`, and add it to `FIGURES`. Its function draws
the figure of one data set and raises `NotApplicable`, with the reason, if there is nothing to draw. A figure
draws metrics and the values that it collects of each variant (`of_views`), never cells.
"""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from confml.errors import ConfigError
from confml.plugins.parameters import check_parameters, parameters_text
from confml.report.captions import figure_file_name, setting_text
from confml.report.figures import (
    absent_classes,
    accuracy_rejection,
    chain_traces,
    class_tree,
    curves,
    decision_boundary,
    groups,
    online,
    ranks,
    regions,
    reliability,
    version_space,
)
from confml.report.figures.figure import DatasetResults, Figure
from confml.report.files import digest, safe_name, safe_names
from confml.report.report import Picture
from confml.report.run.results import RunResults

FIGURES: dict[str, Figure] = {
    "absent-classes": absent_classes.ABSENT_CLASSES,
    "accuracy-rejection": accuracy_rejection.ACCURACY_REJECTION,
    "chain-traces": chain_traces.CHAIN_TRACES,
    "class-tree": class_tree.CLASS_TREE,
    "coverage-by-level": regions.COVERAGE_BY_LEVEL,
    "decision-boundary": decision_boundary.DECISION_BOUNDARY,
    "efficiency": regions.EFFICIENCY,
    "error-against": curves.ERROR_AGAINST,
    "exchangeability": online.EXCHANGEABILITY,
    "groups": groups.GROUPS,
    "joint-labelling": version_space.JOINT_LABELLING,
    "online-errors": online.ONLINE_ERRORS,
    "ranks": ranks.RANKS,
    "reliability": reliability.RELIABILITY,
    "version-space": version_space.VERSION_SPACE,
}
"""Every kind of figure by its name in a config."""


def find_figure(name: str, options: Mapping[str, Any]) -> Figure:
    """Return the figure of this name; ConfigError for an unknown name or a wrong option."""
    if name not in FIGURES:
        raise ConfigError(f"unknown figure '{name}'", near=(name, FIGURES))
    check_parameters(f"figure '{name}'", FIGURES[name].options, options)
    return FIGURES[name]


def check_figure(name: str, options: Mapping[str, Any]) -> Figure:
    """Return the figure of a config as `find_figure` does, after calling the figure's own ``check``."""
    figure = find_figure(name, options)
    if figure.check is not None:
        figure.check(options)
    return figure


def figure_functions(run: RunResults) -> list[Callable]:
    """Return the functions of a variant whose values the config's figures draw."""
    functions: list[Callable] = []
    for spec in run.config.figures:
        functions += find_figure(spec.name, spec.options).collects(run, spec.options)
    return functions


def pictures(run: RunResults) -> Iterator[Picture]:
    """Yield the config's figures of every data set without drawing them.

    Drawing one raises `NotApplicable`, with the reason, if there is nothing to show.
    """
    stems = safe_names(cell.dataset for cell in run.cells)
    of_dataset = functools.cache(functools.partial(DatasetResults, run))
    files: set[str] = set()
    for spec in run.config.figures:
        figure, options = find_figure(spec.name, spec.options), dict(spec.options)
        alike = [entry.options for entry in run.config.figures if entry.name == spec.name]
        parts = [spec.name, *_differences(options, alike)]
        name = figure_file_name(safe_name("-".join(parts).replace("_", "-")))
        is_across = figure.across or options.get("together", False)
        for dataset, stem in ({"all data sets": ""} if is_across else stems).items():
            file = f"{name}-{figure_file_name(stem)}" if stem else name
            if file in files:
                file = f"{file}-{digest(parameters_text(options) + str(len(files)))}"
            files.add(file)
            yield Picture(
                f"figures/{file}",
                functools.partial(figure.draw, of_dataset(dataset), **options),
                f"{spec.name} of {dataset}",
                caption_of(figure, run, dataset if stem else None),
                formats=run.config.figure_formats,
                dataset=dataset if stem else "",
            )


def caption_of(figure: Figure, run: RunResults, dataset: str | None) -> str:
    """Return the caption of a figure: content, meaning of bands, data set, protocol, number of splits.

    dataset: None for all of them.
    """
    return f"{figure.caption} {setting_text(run, dataset)}"


def _differences(options: Mapping[str, Any], same_figure: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the options in which a figure differs from others, for its file name: a name by itself, a number
    with its key."""
    for key, value in options.items():
        if value is False or all(options_of_other.get(key) == value for options_of_other in same_figure):
            continue
        if isinstance(value, list | tuple):
            yield "-".join(map(str, value))
        elif value is True:
            yield key
        else:
            is_named = isinstance(value, str) and key not in ("without", "skip")
            yield str(value) if is_named else f"{key}-{value}"
