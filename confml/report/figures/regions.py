"""Prediction regions by significance level: shares, errors with bands, validity per class, and efficiency.

Valid regions are below the diagonal of error against significance level, and above that of coverage against
confidence level, as papers draw it.
"""

import math
import statistics

import numpy as np

from confml.measures.coverage_band import coverage_band
from confml.plugins.parameters import Flag, Integer, Number
from confml.report.figures import Figure, Subject, Variant, numbers_of
from confml.report.figures.style import (
    BLACK,
    COLUMN,
    GREY,
    PAGE,
    add_legend,
    log_ticks,
    new_figure,
)
from confml.report.numbers.region_levels import region_errors, region_sizes

MOST_LINES = 20  # lines that are distinguishable


def draw_errors(subject: Subject):
    curves, title = subject.some_of(
        subject.numbers(region_errors), MOST_LINES, "no method has prediction regions"
    )
    figure = new_figure(COLUMN, 3.1)
    axes = figure.add_subplot()
    levels = next(iter(curves.values())).levels
    n = max(one.rows for one in curves.values())
    sizes = [one.counted for one in curves.values() if one.counted is not None]
    weighted = 0 in sizes
    counted = min((size for size in sizes if size), default=0 if weighted else None)
    if subject.results.has_groups(subject.dataset):
        counted = 0  # the rows are not independent
    ends = [coverage_band([(n, counted)], level) for level in levels.tolist()]
    high, low = 1 - np.array(ends).T
    right = bool(subject.option("confidence", False))
    turned = (lambda share: 100 - 100 * share) if right else (lambda share: 100 * share)
    x = turned(levels)
    band = axes.fill_between(x, turned(low), turned(high), color=GREY, alpha=0.3, linewidth=0)
    (diagonal,) = axes.plot(x[[0, -1]], x[[0, -1]], color=BLACK, linewidth=0.6)
    handles, labels = [diagonal], ["exact validity"]
    if counted != 0:
        text = f"95 % binomial band, n = {n}" if counted is None else f"95 % band of valid p-values, {n} rows"
        handles, labels = [diagonal, band], [*labels, text]
    for label, one in curves.items():
        look = {"marker": ""} if one.conformal else {"marker": "", "linestyle": ":", "linewidth": 1.0}
        handles += axes.plot(x, turned(one.errors), **(subject.look(label) | look))
        labels.append(label if one.conformal else f"{label} (no p-values)")
    axes.set_xlim(x.min(), x.max())
    axes.set_ylim(x.min(), x.max())
    axes.set_xlabel("confidence level (%)" if right else "significance level (%)")
    axes.set_ylabel("regions with the true label (%)" if right else "regions without the true label (%)")
    if subject.option("instances", None) is not None:
        title = f"{title}, {n} random instances"
    axes.set_title(title, loc="left")
    add_legend(figure, handles, labels)
    return figure


COVERAGE_BY_LEVEL = Figure(
    name="coverage-by-level",
    about="empirical error of regions against significance level, with the diagonal and the 95 % band of "
    "valid p-values on one split. The band is exact for split conformal prediction; TCM-NN with k = 1 "
    "leaves it in 6 to 11 % of the splits. It is binomial where no method has p-values",
    draw=draw_errors,
    collects=numbers_of(region_errors),
    caption="Share of regions without (or with) the true label against the level, mean over the splits. "
    "Other lines: views with p-values, which are valid if the examples are exchangeable; dotted "
    "lines: other views, without a guarantee. Grey band: pointwise 95 % range of valid p-values, as if all "
    "different test rows were one test part; a line is a mean over the splits.",
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


MOST_CURVES = 14
CRITERIA = {
    "observed_fuzziness": "observed fuzziness (OF)",
    "observed_unconfidence": "observed unconfidence (OU)",
    "fuzziness": "fuzziness (F)",
    "unconfidence": "unconfidence (U)",
    "sum_of_p": "sum of p-values (S)",
}


def criteria(subject: Subject, variant: Variant) -> dict[str, float]:
    """Return the mean over the splits of each of `CRITERIA`."""
    found = {}
    for metric in CRITERIA:
        values = [value for value in subject.values(variant, metric) if not math.isnan(value)]
        found[metric] = statistics.fmean(values) if values else math.nan
    return found


def draw_efficiency(subject: Subject):
    from matplotlib.lines import Line2D

    found, title = subject.some_of(subject.numbers(region_sizes), MOST_CURVES, "no method has p-values")
    levels = next(iter(found.values())).levels
    curves = {label: one.sizes for label, one in found.items()}
    figure = new_figure(PAGE, 2.9)
    left, right = figure.subplots(1, 2)
    left.axhline(1, color=GREY, linewidth=0.6)
    handles = []
    places = np.arange(len(CRITERIA))
    for number, (label, sizes) in enumerate(curves.items()):
        line = subject.look(label)
        left.plot(100 * levels[1:], sizes[1:], **(line | {"marker": ""}))
        handles.append(Line2D([], [], **line))  # the line of the left and the marker of the right
        values = list(criteria(subject, subject.variants[label]).values())
        shift = 0.6 * ((number + 0.5) / len(curves) - 0.5)
        style = {"color": line["color"], "marker": line["marker"], "linestyle": ""}
        right.plot(values, places - shift, **style)
    least, most = (bound(bound(sizes[1:]) for sizes in curves.values()) for bound in (min, max))
    if most > 4 * max(least, 0.25):
        left.set_yscale("log")
        log_ticks(left.yaxis)
    right.set_xscale("log")
    log_ticks(right.xaxis)
    left.set_xlim(0, 100 * levels[-1])
    left.set_xlabel("significance level (%)")
    left.set_ylabel("mean set size (labels)")
    left.set_title(title, loc="left")
    right.set_yticks(places, list(CRITERIA.values()))
    right.set_xlabel("mean (smaller is better)")
    right.set_title("criteria without a level", loc="left")
    add_legend(figure, handles, list(curves))
    return figure


EFFICIENCY = Figure(
    name="efficiency",
    about="mean set size against significance level, and the criteria S, U, F, OU, OF (Vovk et al.)",
    draw=draw_efficiency,
    collects=numbers_of(region_sizes),
    caption="Left: mean set size (criterion N) against significance level. Right: the criteria S (sum of "
    "p-values), U (unconfidence), F (fuzziness), OU (observed unconfidence) and OF (observed "
    "fuzziness) of Vovk et al. 2016; smaller is better. Means over the splits.",
    options={"max_level": Number("largest significance level shown", low=0, high=1, low_open=True)},
)
