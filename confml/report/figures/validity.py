"""Validity per class: error of regions against significance level, and distance from uniform."""

import math
import statistics

import numpy as np

from confml.measures.coverage_band import coverage_band
from confml.plugins.parameters import Integer, Number
from confml.report.figures import Figure, NotApplicable, Subject
from confml.report.figures.style import BLACK, GREY, Panels, lines_of
from confml.report.numbers.region_levels import ClassErrors

PANELS = 12
CLASSES = 6  # lines that are distinguishable in a small panel


def distance_text(values: list[float]) -> str:
    """Return the Kolmogorov-Smirnov distances of the splits as a caption."""
    values = [value for value in values if not math.isnan(value)]
    if not values:
        return "KS distance: not computed without counts"
    shown = f"KS distance {statistics.median(values):.3f}"
    return shown if len(values) == 1 else f"{shown} (median of {len(values)})"


def draw(subject: Subject):
    most = int(subject.option("classes", CLASSES))
    shown, title = subject.some_of(subject.numbers(ClassErrors), PANELS)
    if not shown:
        raise NotApplicable("no method has p-values")
    levels = next(iter(shown.values())).levels
    top = float(levels[-1])
    chosen: list = []
    for one in shown.values():
        chosen += [label for label in one.farthest(most) if label not in chosen]
    if len(chosen) > most:  # the same classes in every panel, for one legend
        sums = {label: sum(label in one.farthest(most) for one in shown.values()) for label in chosen}
        chosen = sorted(sorted(chosen), key=lambda label: -sums[label])[:most]
    chosen.sort()
    panels = Panels(len(shown), height=2.4, sharex=True, sharey=True)
    for axes, (name, one) in zip(panels.axes, shown.items(), strict=True):
        variant = subject.variants[name]
        own_parts = [] if subject.results.has_groups(subject.dataset) else one.parts.all_classes()
        ends = [coverage_band(own_parts, level, one.parts.smoothed) for level in levels.tolist()]
        high, low = 1 - np.array(ends).T
        band = axes.fill_between(100 * levels, 100 * low, 100 * high, color=GREY, alpha=0.35, linewidth=0)
        axes.plot([0, 100 * top], [0, 100 * top], color=BLACK, linewidth=0.5)
        for label, style in zip(chosen, lines_of(len(chosen)), strict=True):
            if label in one.errors:
                options = style | {"marker": "", "linewidth": 0.9}
                (line,) = axes.plot(100 * levels, 100 * one.errors[label], **options)
                panels.handles.setdefault(f"class {label}", line)
        (line,) = axes.plot(100 * levels, 100 * one.errors[None], color=BLACK, linewidth=1.6)
        own = {"all classes": line}
        if np.isfinite(low).any():  # weighted p-values have no band
            own = {"95 % band of all classes": band, **own}
        panels.handles = {**own, **panels.handles}
        distance = distance_text(subject.values(variant, "ks_statistic"))
        axes.set_title(f"{name}\n{distance}", loc="left", fontsize=7)
        axes.set_xlim(0, 100 * top)
        axes.set_ylim(0, 100 * top)
    labels = {label for one in shown.values() for label in one.errors if label is not None}
    if len(labels) > len(chosen):
        title += f"; {len(chosen)} of {len(labels)} classes with the largest deviation"
    panels.label_x("significance level (%)")
    return panels.finish(title, "regions without the true label (%)")


FIGURE = Figure(
    name="validity",
    about="error of regions against significance level by class, with the distance of smoothed p-values "
    "from uniform. All classes together have the pointwise 95 % band of valid p-values, which is "
    "exact for split conformal prediction; TCM-NN with k = 1 leaves it in 6 to 11 % of the splits",
    draw=draw,
    numbers=(ClassErrors,),
    caption="Share of regions without the true label against significance level, per class (at most 6, "
    "those that deviate most) and for all classes together. The curves pool the p-values of all splits; "
    "valid p-values are at or below the diagonal. Grey band: pointwise 95 % band of valid p-values, all "
    "classes together, as if all different test rows were one test part.",
    options={
        "max_level": Number(
            "largest significance level shown; default twice the largest of the config",
            low=0,
            high=1,
            low_open=True,
        ),
        "classes": Integer("number of classes with a line each", low=0, high=28),
    },
)
