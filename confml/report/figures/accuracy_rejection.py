"""Accuracy-rejection curves: errors against rejection rate over all thresholds.

Krzanowski et al. (2006), section 4.1: sure incorrect against unsure over all thresholds, where the lowest
curve is the best; or the selective risk (error of the accepted) against the rejection rate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from confml.measures.rejection import RejectionCurve, band, curve_of
from confml.plugins.parameters import Choice, Integer, Parameter
from confml.report.figures import Figure, NotApplicable, Subject
from confml.report.figures.error_against import Word
from confml.report.figures.style import PAGE, legend_below, lines_of, new_figure

RATES = np.linspace(0.0, 1.0, 201)
LABELS = {
    "sure-incorrect": ("sure_incorrect", "sure incorrect (%)", "unsure (%)"),
    "risk": ("risk", "error of the accepted (%)", "rejected (%)"),
}
BANDS = {"sd": "± 1 sd over splits", "range": "smallest to largest of the splits"}


class Words(Parameter):
    """A list of names."""

    def expected(self) -> str:
        return "a list of names"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, list | tuple) and bool(value) and all(isinstance(one, str) for one in value)


Panels = dict[str, dict[str, list[RejectionCurve]]]  # by panel, then by line: one curve per split


def panels_of(subject: Subject) -> Panels:
    """Return the curves of one data set: one panel per view and one line per method, or the reverse."""
    views = subject.option("views", None)
    without = subject.option("without", None)
    by_method = subject.option("panels", "view") == "method"
    found: Panels = {}
    for variant in subject.variants.values():
        if views is not None and variant.view not in views:
            continue
        label = subject.results.label(variant.cells[0])
        if without is not None and without in label:
            continue
        panel, line = (label, variant.view) if by_method else (variant.view, label)
        curves = [
            curve_of(prediction, truth)
            for prediction, truth, _ in subject.predictions(variant)
            if len(prediction) and not np.isnan(prediction.certainty).any()
        ]
        if curves:
            found.setdefault(panel, {})[line] = curves
    if views is not None and not by_method:
        found = {view: found[view] for view in views if view in found}
    return found


def draw(subject: Subject):
    panels = panels_of(subject)
    if not panels:
        raise NotApplicable("no finished cell has such a view")
    if len(panels) > 12:
        raise NotApplicable(f"{len(panels)} panels are too many: name views, or panels: view")
    columns = min(len(panels), 3)
    rows = -(-len(panels) // columns)
    grid = [(panels[name], name) for name in panels]
    figure, axes = _figure(rows, columns, share=True)
    _draw_grid(figure, axes, [curves for curves, _ in grid], [name for _, name in grid], subject)
    figure.suptitle(_title(subject, subject.dataset), x=0.01, ha="left", fontsize=8)
    return figure


def draw_all(subject: Subject):
    """Draw one row per data set and one column per view; with one view, one panel per data set."""
    results = subject.results
    found = {
        name: panels_of(Subject(results, name, {**subject.options, "panels": "view"}))
        for name in dict.fromkeys(cell.dataset for cell in results.cells)
    }
    found = {name: panels for name, panels in found.items() if panels}
    views = list(dict.fromkeys(view for panels in found.values() for view in panels))
    if not found:
        raise NotApplicable("no finished cell has such a view")
    if len(found) * len(views) > 40:
        raise NotApplicable(f"{len(found)} data sets with {len(views)} views are too many: name views")
    if len(views) == 1:
        columns = min(len(found), 3)
        figure, axes = _figure(-(-len(found) // columns), columns)
        _draw_grid(
            figure, axes, [panels[views[0]] for panels in found.values()], list(found), subject, whole=False
        )
        title = _title(subject, f"{views[0]}")
    else:
        figure, axes = _figure(len(found), len(views), share=True)
        cells = [panels.get(view, {}) for panels in found.values() for view in views]
        _draw_grid(figure, axes, cells, [f"{name}, {view}" for name in found for view in views], subject)
        title = _title(subject, "")
    figure.suptitle(title, x=0.01, ha="left", fontsize=8)
    return figure


def _figure(rows: int, columns: int, share: bool = False):
    """Return a figure and its axes (rows, columns); share: panels of a row have the same vertical scale."""
    height = 2.5 if columns == 1 else 2.1 if rows < 5 else 1.35
    figure = new_figure(PAGE if columns > 1 else PAGE * 0.55, 0.3 + height * rows)
    return figure, figure.subplots(rows, columns, squeeze=False, sharey="row" if share else False)


def _title(subject: Subject, name: str) -> str:
    chosen = subject.option("band", "sd")
    several = len({cell.split for cell in subject.results.cells}) > 1
    words = f"band: {BANDS[chosen]}" if chosen in BANDS and several else ""
    return "; ".join(part for part in (name, words) if part)


def _draw_grid(
    figure,
    axes,
    cells: Sequence[Mapping[str, list[RejectionCurve]]],
    titles: Sequence[str],
    subject: Subject,
    whole: bool = True,
) -> None:
    """Fill the axes (rows, columns) in order, hide the unused ones, and add one legend below.

    whole: show rejection rates up to 100 % for all curves.
    """
    limit = int(subject.option("lines", 7))
    names = list(dict.fromkeys(name for cell in cells for name in cell))
    shown = (
        names if len(names) <= limit else [names[i * (len(names) - 1) // (limit - 1)] for i in range(limit)]
    )
    lines = dict(zip(shown, lines_of(len(shown)), strict=True))
    what, y_label, x_label = LABELS[subject.option("form", "sure-incorrect")]
    handles: dict[str, Any] = {}
    rows, columns = axes.shape
    for place, one in enumerate(axes.flat):
        if place >= len(cells) or not cells[place]:
            one.set_visible(False)
            continue
        for name, curves in cells[place].items():
            if name in lines:
                handle = _draw_line(one, curves, what, lines[name], subject.option("band", "sd"))
                handles.setdefault(name, handle)
        one.set_title(titles[place], loc="left", fontsize=7)
        one.set_xlim(0, 100 if whole else None)
        one.set_ylim(bottom=0)
        if place % columns == 0:
            one.set_ylabel(y_label)
        if place + columns >= len(cells):
            one.set_xlabel(x_label)
    order = [name for name in shown if name in handles]
    words = [f"{name}{_splits_of(name, cells)}" for name in order]
    legend_below(figure, [handles[name] for name in order], words)


def _splits_of(name: str, cells: Sequence[Mapping[str, list[RejectionCurve]]]) -> str:
    """Return the number of splits of a line if another line of the panel has more, as text."""
    fewer = [
        len(cell[name]) for cell in cells if name in cell and len(cell[name]) < max(map(len, cell.values()))
    ]
    return f" ({max(fewer)} splits)" if fewer else ""


def _draw_line(axes, curves: Sequence[RejectionCurve], what: str, line: Mapping[str, str], kind: str):
    """Draw a mean with its band over the rejection rates of all splits; return the handle of the line.

    A single split is drawn at its attainable points.
    """
    if len(curves) == 1:
        points = curves[0].points()
        y = points[what] if what == "risk" else points["sure_incorrect"]
        x = points["unsure"]
    else:
        found = band(curves, RATES, what=what)
        x, y = found.grid, found.mean
        if kind != "none":
            low, high = (
                (found.low, found.high)
                if kind == "range"
                else (np.maximum(found.mean - found.sd, 0.0), found.mean + found.sd)
            )
            axes.fill_between(100 * x, 100 * low, 100 * high, color=line["color"], alpha=0.13, linewidth=0)
    known = ~np.isnan(y)
    every = max(1, math.ceil(known.sum() / 9))
    (handle,) = axes.plot(100 * x[known], 100 * y[known], **line, markevery=every, linewidth=1.0)
    return handle


OPTIONS: Mapping[str, Parameter] = {
    "form": Choice(
        "sure-incorrect: errors accepted, of all, against rejected; risk: of the accepted", tuple(LABELS)
    ),
    "views": Words("views to show; all by default"),
    "band": Choice("band around the mean over splits; default sd", ("sd", "range", "none")),
    "without": Word("omit methods whose label contains this text"),
    "lines": Integer("largest number of lines; default 7", low=2, high=28),
}

FIGURE = Figure(
    name="accuracy-rejection",
    about="errors against rejection rate over all thresholds, of every method with a view of confidence",
    draw=draw,
    options={
        **OPTIONS,
        "panels": Choice(
            "view: one panel per view, one line per method; method: the reverse", ("view", "method")
        ),
    },
)

ALL = Figure(
    name="accuracy-rejection-all",
    about="accuracy-rejection curves of all data sets: one row per data set, one column per view",
    draw=draw_all,
    options=OPTIONS,
    across=True,
)
