"""Errors and sizes of regions in the groups of ``by``, and errors of each class: values over names."""

from collections.abc import Sequence

import numpy as np

from confml.plugins.parameters import Integer, Number
from confml.report.figures import Figure, NotApplicable, Subject
from confml.report.figures.style import BLACK, BLUE, COLUMN, PAGE, VERMILION, Panels
from confml.report.numbers.outcomes import ClassConfusions, GroupErrorLines, level_of
from confml.report.run.cells import with_details

METHODS, CLASSES = 6, 40


def name_ticks(axes, names: Sequence[str], width: float) -> None:
    """Write names on the horizontal axis, vertical ones if they do not fit into a width in inches."""
    length = max(map(len, names), default=0)
    crowded = len(names) * (0.07 * length + 0.1) > width
    axes.set_xticks(range(len(names)), names, rotation=90 * crowded, fontsize=6)
    axes.set_xlim(-0.6, len(names) - 0.4)


def draw_groups(subject: Subject):
    level = level_of(subject.results, subject.options)
    found: dict[str, list] = {}
    for line in (line for one in subject.numbers(GroupErrorLines).values() for line in one.lines):
        _, label, view = line.view
        name = with_details(label, view)
        found.setdefault(name if name in subject.variants else label, []).append(line)
    if not found:
        raise NotApplicable("no method has groups (by)")
    shown, title = subject.some_of(found, METHODS)
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
    numbers=(GroupErrorLines,),
    caption="Above: error rate of the regions in each group of by, with Clopper-Pearson intervals at 95 % for"
    " one group; the line is the significance level. Below: mean number of labels of a region. Each test row "
    "counts once. At most six methods are drawn.",
    options={"level": Number("significance level; default the smallest of the config", low=0, high=1)},
)


def draw_classes(subject: Subject):
    found = {label: one.errors for label, one in subject.numbers(ClassConfusions).items()}
    shown, title = subject.some_of(found, int(subject.option("panels", 12)))
    if not shown:
        raise NotApplicable("no cell is finished")
    classes = len(next(iter(shown.values())))
    if classes > CLASSES:
        raise NotApplicable(f"{classes} classes are too many for bars")
    widths = (PAGE,) if classes > 15 else (PAGE, PAGE, PAGE)
    panels = Panels(len(shown), height=2.0, widths=widths, sharey=True)
    bars = (("false positives", -0.2, BLUE), ("false negatives", 0.2, VERMILION))
    for axes, (label, errors) in zip(panels.axes, shown.items(), strict=True):
        for part, (name, offset, colour) in enumerate(bars):
            heights = [pair[part] for pair in errors.values()]
            places = np.arange(len(errors)) + offset
            panels.handles[name] = axes.bar(places, heights, width=0.38, color=colour)
        if not any(map(any, errors.values())):
            axes.text(0.5, 0.5, "no errors", transform=axes.transAxes, ha="center", color="0.4")
        name_ticks(axes, list(map(str, errors)), PAGE / panels.columns)
        axes.set_title(label, loc="left")
    panels.label_x("class")
    panels.label_y("test examples")
    return panels.finish(f"{title}, means over splits")


CLASS_ERRORS = Figure(
    name="class-errors",
    about="false positives and false negatives of each class on the test examples, means over the splits",
    draw=draw_classes,
    numbers=(ClassConfusions,),
    caption="False positives and false negatives of each class on the test examples, means over the splits.",
    options={"panels": Integer("largest number of variants; default 12", low=1)},
)
