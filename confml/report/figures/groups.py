"""Classes and groups of test examples: errors, coverage, absent classes, and single predictions."""

from collections.abc import Sequence

import numpy as np

from confml.plugins.parameters import Number
from confml.report.figures import Figure, Subject, numbers_of
from confml.report.figures.style import BLACK, COLUMN, GREY, Panels, lines_of
from confml.report.numbers.groups import UNSEEN, ErrorLine, RegionsByGroup, error_lines
from confml.report.numbers.outcomes import absent_classes, level_of
from confml.report.run.cells import with_details

METHODS = 6


def name_ticks(axes, names: Sequence[str], width: float) -> None:
    """Write names on the horizontal axis, vertical ones if they do not fit into a width in inches."""
    length = max(map(len, names), default=0)
    crowded = len(names) * (0.07 * length + 0.1) > width
    axes.set_xticks(range(len(names)), names, rotation=90 * crowded, fontsize=6)
    axes.set_xlim(-0.6, len(names) - 0.4)


def draw_groups(subject: Subject):
    level = level_of(subject.results, subject.options)
    found: dict[str, list[ErrorLine]] = {}
    lines = error_lines(subject.results, (level,)).get(subject.dataset, [])
    for line in (line for line in lines if line.group != UNSEEN):
        _, label, view = line.view
        name = with_details(label, view)
        found.setdefault(name if name in subject.variants else label, []).append(line)
    shown, title = subject.some_of(found, METHODS, "no method has groups (by)")
    names = list(dict.fromkeys((line.by, line.group) for lines in shown.values() for line in lines))
    panels = Panels(2, height=2.0, widths=(COLUMN * 1.6,), sharex=True)
    for number, (name, lines) in enumerate(shown.items()):
        shift = 0.8 * ((number + 0.5) / len(shown) - 0.5)
        places = [names.index((line.by, line.group)) + shift for line in lines]
        look = {"color": subject.look(name)["color"], "markersize": 3}
        error, low, high = 100 * np.array([(line.error, line.low, line.high) for line in lines]).T
        ends = np.maximum([error - low, high - error], 0.0)
        panels.handles[name] = panels.axes[0].errorbar(places, error, ends, fmt="o", elinewidth=0.7, **look)
        panels.axes[1].plot(places, [line.size for line in lines], "o", **look)
    panels.axes[0].axhline(100 * level, color=BLACK, linewidth=0.5)
    for axes, label in zip(panels.axes, ("error (%)", "mean set size"), strict=True):
        axes.set_ylabel(label)
        axes.set_ylim(bottom=0)
    name_ticks(panels.axes[1], [group for _, group in names], COLUMN * 1.5)
    return panels.finish(f"{title}, significance level {level:g}")


GROUPS = Figure(
    name="groups",
    about="errors and sizes of regions in the groups of by, for each method",
    draw=draw_groups,
    collects=lambda run, options: (RegionsByGroup((level_of(run, options),)),),
    caption="Above: error rate of the regions in each group of by, with Clopper-Pearson intervals at 95 % for"
    " one group; the line is the significance level. Below: mean number of labels of a region. Each test row "
    "counts once. At most six methods are drawn.",
    options={"level": Number("significance level; default the smallest of the config", low=0, high=1)},
)


PANELS = 12
CLASSES = 6  # absent classes with a line each


def draw_absent(subject: Subject):
    found = {label: one for label, one in subject.numbers(absent_classes).items() if len(one.values) > 1}
    shown, title = subject.some_of(
        found, PANELS, "no test example is of a class that is absent from training (protocol: absent)"
    )
    absent = sorted({label for one in shown.values() for label in one.values if label is not None}, key=str)
    panels = Panels(len(shown), height=2.2, top=0.35, sharey=True)
    looks = dict(zip(absent[:CLASSES], lines_of(len(absent[:CLASSES])), strict=True))
    for axes, (name, one) in zip(panels.axes, shown.items(), strict=True):
        for label in [None, *looks]:
            if label not in one.values:
                continue
            x = one.values[label]
            y = np.arange(1, len(x) + 1) / len(x)
            look = {"color": BLACK, "linewidth": 1.5}
            if label is not None:
                look = looks[label] | {"marker": "", "linewidth": 1.1}
            (line,) = axes.plot(np.r_[min(0.0, x[0]), x, max(1.0, x[-1])], 100 * np.r_[0, y, 1],
                                drawstyle="steps-post", **look)  # fmt: skip
            text = "classes in training" if label is None else f"class {label}, absent"
            panels.handles.setdefault(text, line)
        axes.set_title(name, loc="left", fontsize=7)
        if one.kind == "p-value":
            (diagonal,) = axes.plot([0, 1], [0, 100], color=GREY, linewidth=0.8, linestyle="--")
            panels.handles.setdefault("uniform p-values", diagonal)
            axes.set_xlabel("credibility")
        else:
            axes.set_xlabel(f"confidence ({one.kind})")
        axes.set_ylim(0, 101)
        if one.kind != "margin":
            axes.set_xlim(0, 1)
    if len(absent) > CLASSES:
        title += f"; {CLASSES} of {len(absent)} absent classes"
    return panels.finish(title, "test examples at or below (%)")


ABSENT_CLASSES = Figure(
    name="absent-classes",
    about="credibility (or confidence) of test examples of absent classes and of known classes",
    draw=draw_absent,
    collects=numbers_of(absent_classes),
    caption="Share of test examples with at most this credibility (confidence for views without "
    "p-values), "
    "all splits pooled, per absent class (at most 6) and for the classes in training together. The "
    "dashed line "
    "is that of uniform p-values.",
)
