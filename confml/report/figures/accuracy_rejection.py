"""Risk-coverage curves: errors of the accepted predictions over all thresholds.

The selective risk (error of the accepted) against the coverage (share of accepted predictions); or, as in
section 4.1 of Krzanowski et al. (2006), sure incorrect against unsure. The lowest curve is the best.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from confml.measures.rejection import RejectionCurve, band
from confml.plugins.parameters import Choice, Flag, Parameter
from confml.published import known_tables
from confml.report.figures.curves import Word
from confml.report.figures.figure import DatasetResults, Figure, NotApplicable, of_views
from confml.report.figures.style import PAGE, Panels, rate_band
from confml.report.numbers.outcomes import (
    MACHINES,
    VOLUMES,
    ThresholdCurve,
    limit_machines,
    rejection_curves,
    threshold_curves,
)

LINES, PANELS = 28, 40  # the most that are drawn
RATES = np.linspace(0.0, 1.0, 201)
LABELS = {
    "risk": ("risk", "coverage (%)", "selective risk (%)"),
    "sure-incorrect": ("sure_incorrect", "unsure (%)", "sure incorrect (%)"),
}
BAND = "± 1 sd over splits"
KRZANOWSKI = "bayesian-knn-table2"
_VIEWS = {"envelope": "env", "reject": "rej", "posterior": "post"}


class Words(Parameter):
    """A list of names."""

    def expected(self) -> str:
        return "a list of names"

    def accepts(self, value: Any) -> bool:
        return (
            isinstance(value, list | tuple) and bool(value) and all(isinstance(name, str) for name in value)
        )


def draw(
    data: DatasetResults,
    *,
    form: str = "risk",
    views: Sequence[str] = (),
    together: bool = False,
    by: str = "",
    without: str = "",
):
    """Errors of the accepted predictions over all thresholds on the confidence; lower is better. A line is
    one view of a method, the mean over the splits. In each panel the line with the smallest AUGRC has a band
    of ± 1 sd. Bars, if shown, are ± 1 standard error.
    """
    if by == "threshold":
        return draw_thresholds(data)
    names = dict.fromkeys(cell.dataset for cell in data.run.cells) if together else (data.name,)
    curves: dict[tuple[str, str], dict[str, list[RejectionCurve]]] = {}
    for name in names:
        of_dataset = DatasetResults(data.run, name) if together else data
        for label, splits in of_dataset.collected(rejection_curves).items():
            view = of_dataset.views[label]
            if (not views or view.name in views) and not (without and without in view.label):
                curves.setdefault((name, view.name), {})[view.label] = splits
    rows = list(dict.fromkeys(name for name, _ in curves))
    columns = list(dict.fromkeys(panel for _, panel in curves))
    if views:
        columns = [view for view in views if view in columns]
    keys = list(product(rows, columns))
    if not keys:
        raise NotApplicable("no finished fit has such a view")
    if len(keys) > PANELS:
        raise NotApplicable(f"{len(keys)} panels are too many: name views")
    wide = len(columns) if together and len(columns) > 1 else 0
    height = 2.5 if len(keys) == 1 else 2.1 if len(keys) <= 12 else 1.35
    width = PAGE * (0.55 if len(keys) == 1 else 1)
    grid = Panels(len(keys), height, columns=wide, width=width, sharey="row")
    lines, note = data.shown(dict.fromkeys(line for drawn in curves.values() for line in drawn), LINES)
    for axes, key in zip(grid.axes, keys, strict=True):
        drawn = {line: splits for line, splits in curves.get(key, {}).items() if line in lines}
        axes.set_visible(bool(drawn))
        looks = {line: data.look(line) for line in drawn}
        for line, handle in _draw_panel(axes, drawn, looks, form).items():
            grid.handles.setdefault(line, handle)
        if form == "sure-incorrect" and (points := rejections_of(*key)):
            x, y = 100 * np.array(points).T
            look = {"color": "black", "markersize": 6, "markerfacecolor": "none", "markeredgewidth": 0.7}
            (stars,) = axes.plot(x, y, "*", **look, zorder=5, clip_on=False)
            grid.handles.setdefault("paper (Krzanowski et al. 2006)", stars)
        axes.set_title(key[1] if not together else key[0] if len(columns) == 1 else ", ".join(key))
    for axes in grid.axes:  # after all are drawn: it fixes the common scale of a row
        axes.margins(x=0)
        axes.set(ylim=(0, None), xlim=(0, None if together and len(columns) == 1 else 100))
    title = [note if not together else columns[0] if len(columns) == 1 else ""]
    if len({cell.split for cell in data.run.cells}) > 1:
        title.append(f"band of the best line: {BAND}")
    return grid.finish("; ".join(filter(None, title)), *LABELS[form][1:])


def rejections_of(dataset: str, view: str) -> list[tuple[float, float]]:
    """Return the points (unsure, sure incorrect) that Krzanowski et al. print for a view of Bayesian k-NN."""
    if view not in _VIEWS:
        return []
    table, columns = known_tables()[KRZANOWSKI], [f"{_VIEWS[view]}_{name}" for name in ("u", "si")]
    rows = [row for row in table.rows() if dataset in table.names(row["dataset"])]
    return sorted({(float(row[columns[0]]), float(row[columns[1]])) for row in rows if row[columns[0]]})


def _draw_panel(axes, curves, looks, form: str) -> dict[str, Any]:
    """Draw the mean of each line over the splits, and the band of the one with the smallest area.

    curves: of the splits by line. Returns the lines by name.
    """
    areas = {line: np.mean([curve.augrc() for curve in splits]) for line, splits in curves.items()}
    best, handles = min(areas, key=areas.__getitem__, default=None), {}
    for line, splits in curves.items():
        means = band(splits, RATES, what=LABELS[form][0])
        x = 100 * (1 - means.grid if form == "risk" else means.grid)
        if line == best and len(splits) > 1:
            low, high = rate_band(100 * means.mean, 100 * means.sd)
            axes.fill_between(x, low, high, color=looks[line]["color"], alpha=0.13, linewidth=0)
        is_defined = ~np.isnan(means.mean)
        width = 1.8 if line == best and len(curves) > 1 else 1.0
        (handles[line],) = axes.plot(
            *(x[is_defined], 100 * means.mean[is_defined]),
            **looks[line] | {"linewidth": width, "markevery": max(1, is_defined.sum() // 9)},
        )
    return handles


def volumes_and_machines(
    data: DatasetResults,
) -> tuple[dict[str, ThresholdCurve], dict[str, ThresholdCurve]]:
    """Return the curves of Bayesian transduction, and of SVMs up to their theta_max, by label."""
    volumes, machines = {}, {}
    for label, curve in data.collected(threshold_curves).items():
        view = data.views[label]
        if (view.method, view.name) == (VOLUMES, "probability"):
            volumes[view.label] = curve
        elif (view.method, view.name) == (MACHINES, "margin"):
            machines[label] = curve
    limit_machines(volumes, machines)
    return volumes, machines


def draw_thresholds(data: DatasetResults):
    volumes, machines = volumes_and_machines(data)
    if not volumes or not machines:
        raise NotApplicable("it needs bayes-transduction and kernel-svm on the same splits")
    panels = Panels(1, height=2.5)
    (axes,) = panels.axes
    for label, curve in {**machines, **volumes}.items():
        x, y, x_error, y_error = 100 * curve.points.T
        bars = {"elinewidth": 0.6, "capsize": 1.0, "linewidth": 0.9, "markersize": 2}
        panels.handles[label] = axes.errorbar(x, y, xerr=x_error, yerr=y_error, **data.look(label), **bars)
    axes.set(xlim=(0, None), ylim=(0, None))
    return panels.finish(data.name, "rejection rate (%)", "selective risk (%)")


ACCURACY_REJECTION = Figure(
    draw,
    collects=of_views(rejection_curves, threshold_curves),
    options={
        "form": Choice(
            "risk: errors as a share of the accepted predictions, against the coverage; sure-incorrect: "
            "accepted errors as a share of all predictions, against the unsure ones. Default risk",
            tuple(LABELS),
        ),
        "views": Words("views to show; all by default"),
        "together": Flag("one figure of all data sets: one row per data set, one column per view"),
        "by": Choice(
            "threshold: error against rejection rate at common thresholds of Bayesian transduction and SVM",
            ("threshold",),
        ),
        "without": Word("omit methods whose label contains this text"),
    },
)
