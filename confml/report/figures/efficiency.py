"""Efficiency of p-values: set size against significance level, and the criteria without a level."""

import math
import statistics

import numpy as np

from confml.plugins.parameters import Number
from confml.report.figures import Figure, NotApplicable, Subject, Variant
from confml.report.figures.style import GREY, PAGE, add_legend, log_ticks, new_figure
from confml.report.numbers.region_levels import RegionSizes

MOST = 14
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


def draw(subject: Subject):
    from matplotlib.lines import Line2D

    found, title = subject.some_of(subject.numbers(RegionSizes), MOST)
    if not found:
        raise NotApplicable("no method has p-values")
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
    right.set_xlabel("mean over test examples (smaller is better)")
    right.set_title("criteria without a level", loc="left")
    add_legend(figure, handles, list(curves))
    return figure


FIGURE = Figure(
    name="efficiency",
    about="mean set size against significance level, and the criteria S, U, F, OU, OF (Vovk et al.)",
    draw=draw,
    numbers=(RegionSizes,),
    caption="Left: mean set size (criterion N) against significance level. Right: the criteria S (sum of "
    "p-values), U (unconfidence), F (fuzziness), OU (observed unconfidence) and OF (observed "
    "fuzziness) of Vovk et al. 2016; smaller is better. Means over the splits.",
    options={"max_level": Number("largest significance level shown", low=0, high=1, low_open=True)},
)
