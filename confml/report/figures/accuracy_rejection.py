"""Risk-coverage curves: errors of the accepted predictions over all thresholds.

The selective risk (error of the accepted) against the coverage (share of accepted predictions); or, as in
section 4.1 of Krzanowski et al. (2006), sure incorrect against unsure. The lowest curve is the best.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from confml.measures.rejection import RejectionCurve, band
from confml.plugins.parameters import Choice, Flag, Integer, Parameter
from confml.report.figures import Figure, NotApplicable, Subject, numbers_of
from confml.report.figures.curves import Word
from confml.report.figures.style import (
    BLACK,
    COLUMN,
    DASHES,
    PAGE,
    Panels,
    add_legend,
    new_figure,
    panel_columns,
    rate_band,
)
from confml.report.numbers.outcomes import (
    MACHINES,
    VOLUMES,
    ThresholdCurve,
    limit_machines,
    rejection_curves,
    threshold_curves,
)
from confml.report.numbers.published_points import rejections_of

MOST = 28  # lines that differ in colour, dashes or marker
RATES = np.linspace(0.0, 1.0, 201)
FEW_PANELS = 4  # more panels are small, and show every second rate
LABELS = {
    "risk": ("risk", "selective risk (%)", "coverage (%)"),
    "sure-incorrect": ("sure_incorrect", "sure incorrect (%)", "unsure (%)"),
}
BANDS = {"sd": "± 1 sd over splits", "range": "smallest to largest of the splits"}


class Words(Parameter):
    """A list of names."""

    def expected(self) -> str:
        return "a list of names"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, list | tuple) and bool(value) and all(isinstance(one, str) for one in value)


Curves = dict[str, dict[str, list[RejectionCurve]]]  # by panel, then by line: one curve per split


def curves_of(subject: Subject) -> Curves:
    """Return the curves of one data set: one panel per view and one line per method, or the reverse."""
    views = subject.option("views", None)
    without = subject.option("without", None)
    by_method = subject.option("panels", "view") == "method"
    found: Curves = {}
    for name, curves in subject.numbers(rejection_curves).items():
        variant = subject.variants[name]
        if views is not None and variant.view not in views:
            continue
        label = subject.results.label(variant.cells[0])
        if without is not None and without in label:
            continue
        panel, line = (label, variant.view) if by_method else (variant.view, label)
        found.setdefault(panel, {})[line] = curves
    if views is not None and not by_method:
        found = {view: found[view] for view in views if view in found}
    return found


def draw(subject: Subject):
    if subject.option("by", "") == "threshold":
        return draw_thresholds(subject)
    if subject.option("together", False):
        return draw_together(subject)
    found = curves_of(subject)
    if not found:
        raise NotApplicable("no finished cell has such a view")
    if len(found) > 12:
        raise NotApplicable(f"{len(found)} panels are too many: name views, or panels: view")
    panels = _panels(len(found), panel_columns(len(found)), sharey="row")
    places = [(subject.dataset, name) for name in found]
    chosen = _draw_grid(panels, list(found.values()), list(found), subject, places)
    return panels.finish(_title(subject, subject.dataset, chosen))


def draw_together(subject: Subject):
    """Draw one row per data set and one column per view; with one view, one panel per data set."""
    results = subject.results
    found = {
        name: curves_of(subject.of_dataset(name, panels="view"))
        for name in dict.fromkeys(cell.dataset for cell in results.cells)
    }
    found = {name: curves for name, curves in found.items() if curves}
    views = list(dict.fromkeys(view for curves in found.values() for view in curves))
    if not found:
        raise NotApplicable("no finished cell has such a view")
    if len(found) * len(views) > 40:
        raise NotApplicable(f"{len(found)} data sets with {len(views)} views are too many: name views")
    places = [(name, view) for name in found for view in views]
    cells = [found[name].get(view, {}) for name, view in places]
    if len(views) == 1:
        panels = _panels(len(found), panel_columns(len(found)))
        chosen = _draw_grid(panels, cells, list(found), subject, places, whole=False)
        return panels.finish(_title(subject, views[0], chosen))
    panels = _panels(len(cells), len(views), sharey="row")
    chosen = _draw_grid(panels, cells, list(map(", ".join, places)), subject, places)
    return panels.finish(_title(subject, "", chosen))


def _panels(count: int, columns: int, sharey: str | bool = False) -> Panels:
    height = 2.5 if columns == 1 else 2.1 if count <= 4 * columns else 1.35
    widths = [PAGE * 0.55, *[PAGE] * (columns - 1)]
    return Panels(count, height=height, widths=widths, columns=columns, sharey=sharey)


def _title(subject: Subject, name: str, chosen: str) -> str:
    kind = subject.option("band", "sd")
    several = len({cell.split for cell in subject.results.cells}) > 1
    words = f"band of the best line: {BANDS[kind]}" if kind in BANDS and several else ""
    return "; ".join(part for part in (name, words, chosen) if part)


def _draw_grid(
    panels: Panels,
    cells: Sequence[Mapping[str, list[RejectionCurve]]],
    titles: Sequence[str],
    subject: Subject,
    places: Sequence[tuple[str, str]],
    whole: bool = True,
) -> str:
    """Fill the panels in order, hide those without curves, and set the handles of the legend.

    places: data set and view of each panel, for the paper's points. whole: show rejection rates up to 100 %
    for all curves. Returns the number of lines that are shown if some are not, as text.
    """
    limit = int(subject.option("lines", MOST))
    names = list(dict.fromkeys(name for cell in cells for name in cell))
    shown = _chosen(names, cells, limit)
    by_method = subject.option("panels", "view") == "method"
    what, y_label, x_label = LABELS[subject.option("form", "risk")]
    rates = RATES if len(cells) <= FEW_PANELS else RATES[::2]
    handles: dict[str, Any] = {}
    for place, one in enumerate(panels.axes):
        if not cells[place]:
            one.set_visible(False)
            continue
        areas = {
            name: float(np.mean([curve.augrc() for curve in curves]))
            for name, curves in cells[place].items()
            if name in shown
        }
        best = min(areas, key=areas.__getitem__, default="")
        for name, curves in cells[place].items():
            if name in shown:
                line = subject.look(places[place][1] if by_method else name)
                if by_method:
                    line |= {"linestyle": DASHES[names.index(name) % len(DASHES)], "marker": ""}
                    handles.setdefault(name, one.plot([], **line | {"color": BLACK})[0])
                kind = subject.option("band", "sd") if name == best else "none"
                line["linewidth"] = 1.8 if name == best and len(areas) > 1 else 1.0
                handle = _draw_line(one, curves, what, line, kind, rates)
                handles.setdefault(name, handle)
        if what == "sure_incorrect":
            _draw_paper(one, *places[place], handles)
        one.set_title(titles[place], loc="left", fontsize=7)
        one.set_xlim(0, 100 if whole else None)
    panels.label_y(y_label)
    panels.label_x(x_label)
    for one in panels.axes:  # after all are drawn: it fixes the common scale of a row
        one.set_ylim(bottom=0)
    order = list(dict.fromkeys(name for name in (*shown, *handles) if name in handles))
    panels.handles = {f"{name}{_splits_of(name, cells)}": handles[name] for name in order}
    return f"{len(shown)} of {len(names)} lines (option lines)" if len(shown) < len(names) else ""


def _chosen(names: Sequence[str], cells: Sequence[Mapping[str, Any]], limit: int) -> list[str]:
    """Return at most ``limit`` names, taken evenly, and at least one of each panel."""
    if len(names) <= limit:
        return list(names)
    kept = {names[place * (len(names) - 1) // (limit - 1)] for place in range(limit)}
    kept |= {next(iter(cell)) for cell in cells if cell and not kept & set(cell)}
    return [name for name in names if name in kept]


def _draw_paper(axes, dataset: str, view: str, handles: dict[str, Any]) -> None:
    """Draw the points of a paper over the curves of a view."""
    points = rejections_of(dataset, view)
    if points:
        look = {"marker": "*", "linestyle": "", "markersize": 6, "zorder": 5, "clip_on": False}
        x, y = ([100 * value for value in values] for values in list(zip(*points, strict=True))[:2])
        (handle,) = axes.plot(x, y, color=BLACK, markerfacecolor="none", markeredgewidth=0.7, **look)
        handles.setdefault(f"paper ({points[0].source})", handle)


def _splits_of(name: str, cells: Sequence[Mapping[str, list[RejectionCurve]]]) -> str:
    """Return the number of splits of a line if another line of the panel has more, as text."""
    fewer = [
        len(cell[name]) for cell in cells if name in cell and len(cell[name]) < max(map(len, cell.values()))
    ]
    return f" ({max(fewer)} splits)" if fewer else ""


def _draw_line(
    axes,
    curves: Sequence[RejectionCurve],
    what: str,
    line: Mapping[str, Any],
    kind: str,
    rates: np.ndarray,
):
    """Draw a mean with its band over rejection rates, from all splits; return the handle of the line."""
    shown = (lambda rejected: 100 - 100 * rejected) if what == "risk" else (lambda rejected: 100 * rejected)
    found = band(curves, rates, what=what)
    x, y = shown(found.grid), found.mean
    if kind != "none" and len(curves) > 1:
        low, high = (found.low, found.high) if kind == "range" else rate_band(y, found.sd, scale=1.0)
        axes.fill_between(x, 100 * low, 100 * high, color=line["color"], alpha=0.13, linewidth=0)
    known = ~np.isnan(y)
    every = max(1, math.ceil(known.sum() / 9))
    (handle,) = axes.plot(x[known], 100 * y[known], **line, markevery=every)
    return handle


def volumes_and_machines(
    subject: Subject,
) -> tuple[dict[str, ThresholdCurve], dict[str, ThresholdCurve]]:
    """Return the curves of Bayesian transduction, and of SVMs up to their theta_max, by label."""
    volumes, machines = {}, {}
    for label, curve in subject.numbers(threshold_curves).items():
        variant = subject.variants[label]
        if (variant.method, variant.view) == (VOLUMES, "probability"):
            volumes[label.removesuffix(" (probability)")] = curve
        elif (variant.method, variant.view) == (MACHINES, "margin"):
            machines[label] = curve
    limit_machines(volumes, machines)
    return volumes, machines


def draw_thresholds(subject: Subject):
    volumes, machines = volumes_and_machines(subject)
    if not volumes or not machines:
        raise NotApplicable("it needs bayes-transduction and kernel-svm on the same splits")
    everything = {**machines, **volumes}
    figure = new_figure(COLUMN * 1.2, 2.8)
    axes = figure.add_subplot()
    handles = []
    for name, curve in everything.items():
        x, y, x_error, y_error = 100 * curve.points.T
        bars = {"elinewidth": 0.6, "capsize": 1.0, "linewidth": 0.9, "markersize": 2}
        handles.append(axes.errorbar(x, y, xerr=x_error, yerr=y_error, **subject.look(name), **bars))
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("rejection rate (%)")
    axes.set_ylabel("selective risk (%)")
    axes.set_title(subject.dataset, loc="left")
    add_legend(figure, handles, list(everything))
    return figure


def caption(subject: Subject) -> str:
    """Return content and band of the figure."""
    if subject.option("by", "") == "threshold":
        return (
            "Error of the accepted test examples against the rejection rate over common thresholds, means "
            "over the splits; bars: ± 1 standard error of both means. threshold-curves.csv has the numbers. "
            "A run of 1000 chords has the effective sample size of a few independent draws, so that too many "
            "examples have confidence 1 and its curve ends early."
        )
    what = "Sure incorrect (accepted errors) against unsure (rejected) predictions"
    if subject.option("form", "risk") == "risk":
        what = "Selective risk (error of the accepted predictions) against coverage (share of them)"
    words = BANDS.get(subject.option("band", "sd"))
    return (
        f"{what}, over all thresholds on the confidence; lower is better. Each line is a method in one view "
        "of confidence, the mean over the splits"
        + (f". The thick line has the smallest AUGRC; its band: {words}." if words else ".")
    )


ACCURACY_REJECTION = Figure(
    name="accuracy-rejection",
    about="risk-coverage curves: errors of the accepted predictions over all thresholds",
    draw=draw,
    collects=numbers_of(rejection_curves, threshold_curves),
    caption=caption,
    options={
        "form": Choice(
            "risk: errors as a share of the accepted predictions, against the coverage; sure-incorrect: "
            "accepted errors as a share of all predictions, against the unsure ones. Default risk",
            tuple(LABELS),
        ),
        "views": Words("views to show; all by default"),
        "panels": Choice(
            "view: one panel per view and one line per method; method: one panel per method",
            ("view", "method"),
        ),
        "together": Flag("one figure of all data sets: one row per data set, one column per view"),
        "by": Choice(
            "threshold: error against rejection rate at common thresholds of Bayesian transduction and SVM",
            ("threshold",),
        ),
        "band": Choice("band around the mean over splits; default sd", ("sd", "range", "none")),
        "without": Word("omit methods whose label contains this text"),
        "lines": Integer("largest number of lines; default 28", low=2, high=28),
    },
)
