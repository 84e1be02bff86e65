"""Prediction regions by significance level: errors with the band of valid p-values, and efficiency.

Valid regions are below the diagonal of error against significance level, and above that of coverage against
confidence level, as papers draw it.
"""

import math

import numpy as np

from confml.measures.coverage_band import coverage_band
from confml.plugins.parameters import Flag, Integer, Number
from confml.report.figures.figure import DatasetResults, Figure, of_views
from confml.report.figures.style import PAGE, Panels, add_legend, log_ticks, new_figure
from confml.report.numbers.region_levels import region_errors, region_sizes

LINES = 20  # that are distinguishable
CURVES = 14


def draw_errors(
    data: DatasetResults, *, max_level: float = 1.0, confidence: bool = False, instances: int | None = None
):
    """Share of regions without (or with) the true label, mean over the splits. Dotted: views without
    p-values, which have no guarantee. Grey: pointwise 95 % range of valid p-values, as if all different test
    rows were one test part.
    """
    given = {"max_level": max_level} if max_level < 1 else {}
    given |= {"instances": instances} if instances else {}
    views = data.collected(region_errors, **given)
    shown, title = data.shown(views, LINES, "no method has prediction regions")
    levels = next(iter(shown.values())).levels
    turn = (lambda share: 100 - 100 * share) if confidence else (lambda share: 100 * share)
    x = turn(levels)
    panels = Panels(1, height=2.8)
    (axes,), handles = panels.axes, panels.handles
    (handles["exact validity"],) = axes.plot(x[[0, -1]], x[[0, -1]], color="black", linewidth=0.6)
    n = max(view.rows for view in shown.values())
    counted = [view.counted for view in shown.values() if view.counted is not None]
    smallest = min(
        filter(None, counted), default=0 if counted else None
    )  # 0: weighted p-values, without a band
    if smallest != 0 and not data.run.has_groups(data.name):  # rows of a group are not independent
        low, high = np.array([coverage_band([(n, smallest)], level) for level in levels.tolist()]).T
        text = f"95 % band of valid p-values, {n} rows" if smallest else f"95 % binomial band, n = {n}"
        band = axes.fill_between(x, turn(1 - high), turn(1 - low), color="0.6", alpha=0.3, linewidth=0)
        handles[text] = band
    for label, view in shown.items():
        look = {"marker": ""} if view.conformal else {"marker": "", "linestyle": ":", "linewidth": 1.0}
        text = label if view.conformal else f"{label} (no p-values)"
        (handles[text],) = axes.plot(x, turn(view.errors), **data.look(label) | look)
    axes.set(xlim=(x.min(), x.max()), ylim=(x.min(), x.max()))
    title += f", {n} random instances" if instances else ""
    x_label, y_label = ("confidence", "with") if confidence else ("significance", "without")
    return panels.finish(title, f"{x_label} level (%)", f"regions {y_label} the true label (%)")


COVERAGE_BY_LEVEL = Figure(
    about="empirical error of regions against significance level, with the diagonal and the 95 % band of "
    "valid p-values on one split. The band is exact for split conformal prediction; TCM-NN with k = 1 "
    "leaves it in 6 to 11 % of the splits. It is binomial where no method has p-values",
    draw=draw_errors,
    collects=of_views(region_errors),
    options={
        "max_level": Number("largest significance level shown", low=0, high=1, low_open=True),
        "confidence": Flag(
            "draw coverage against confidence level instead of error against significance level"
        ),
        "instances": Integer(
            "number of test examples per split, drawn by the run's seed; all by default", low=1
        ),
    },
)

CRITERIA = {
    "observed_fuzziness": "observed fuzziness (OF)",
    "observed_unconfidence": "observed unconfidence (OU)",
    "fuzziness": "fuzziness (F)",
    "unconfidence": "unconfidence (U)",
    "sum_of_p": "sum of p-values (S)",
}


def draw_efficiency(data: DatasetResults, **options: float):
    """Left: mean set size (criterion N). Right: sum of p-values, unconfidence and fuzziness, and those of the
    observed labels (Vovk et al. 2016). Smaller is better; means over the splits.
    """
    from matplotlib.lines import Line2D

    shown, title = data.shown(data.collected(region_sizes, **options), CURVES, "no method has p-values")
    figure = new_figure(PAGE, 2.9)
    left, right = figure.subplots(1, 2)
    left.axhline(1, color="0.6", linewidth=0.6)
    handles, smallest, largest = {}, math.inf, 0.25
    lines = np.arange(len(CRITERIA))
    for number, (label, (levels, sizes)) in enumerate(shown.items()):
        look = data.look(label)
        handles[label] = Line2D([], [], **look)  # the line of the left and the marker of the right
        left.plot(100 * levels[1:], sizes[1:], **look | {"marker": ""})
        smallest, largest = min(smallest, sizes[1:].min()), max(largest, sizes[1:].max())
        means = [np.nanmean(data.values(data.views[label], metric) or [math.nan]) for metric in CRITERIA]
        shift = 0.6 * ((number + 0.5) / len(shown) - 0.5)
        right.plot(means, lines - shift, **look | {"linestyle": ""})
    if largest > 4 * max(smallest, 0.25):
        left.set_yscale("log")
        log_ticks(left.yaxis)
    right.set_xscale("log")
    log_ticks(right.xaxis)
    left.set(xlim=(0, 100 * levels[-1]), xlabel="significance level (%)", ylabel="mean set size (labels)")
    left.set_title(title)
    right.set_yticks(lines, list(CRITERIA.values()))
    right.set_xlabel("mean (smaller is better)")
    right.set_title("criteria without a level")
    add_legend(figure, handles)
    return figure


EFFICIENCY = Figure(
    about="mean set size against significance level, and the criteria S, U, F, OU, OF (Vovk et al.)",
    draw=draw_efficiency,
    collects=of_views(region_sizes),
    options={"max_level": Number("largest significance level shown", low=0, high=1, low_open=True)},
)
