"""Classes and groups of test examples: errors, coverage, absent classes, and single predictions."""

import math
from collections.abc import Sequence

import numpy as np

from confml.plugins.parameters import Integer, Number
from confml.report.figures import Figure, NotApplicable, Subject
from confml.report.figures.curves import Word
from confml.report.figures.style import BLACK, BLUE, COLUMN, GREY, PAGE, SKY, VERMILION, Panels, lines_of
from confml.report.numbers.groups import CLASS, SIZE, GroupLine
from confml.report.numbers.outcomes import (
    AbsentClasses,
    ClassConfusions,
    Clouds,
    GroupErrorLines,
    GroupLines,
    level_of,
)
from confml.report.run.cells import with_details

METHODS, MOST_BARS = 6, 40


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
    numbers=(GroupErrorLines,),
    caption="Above: error rate of the regions in each group of by, with Clopper-Pearson intervals at 95 % for"
    " one group; the line is the significance level. Below: mean number of labels of a region. Each test row "
    "counts once. At most six methods are drawn.",
    options={"level": Number("significance level; default the smallest of the config", low=0, high=1)},
)


def draw_classes(subject: Subject):
    found = {label: one.errors for label, one in subject.numbers(ClassConfusions).items()}
    shown, title = subject.some_of(found, int(subject.option("panels", 12)))
    classes = len(next(iter(shown.values())))
    if classes > MOST_BARS:
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


COVERAGE_PANELS = 6
MOST_GROUPS = 40  # of one panel


def _wanted(lines: Sequence[GroupLine], by: str | None) -> list[GroupLine]:
    """Return the groups of ``by``, or all of them: classes, or those of lowest coverage, sizes, columns."""
    kept = []
    for one in dict.fromkeys(line.by for line in lines):
        mine = [line for line in lines if line.by == one]
        if by in (None, one):
            kept += (
                sorted(mine, key=lambda line: line.coverage)[:MOST_GROUPS]
                if len(mine) > MOST_GROUPS
                else mine
            )
    return kept


def _kind(line: GroupLine) -> tuple[str, str, str]:
    """Return marker, name in the legend and label on the axis of a group."""
    if line.by == CLASS:
        return "o", "class", str(line.group)
    if line.by == SIZE:
        return "s", "region size", f"size {line.group}"
    return "^", "group of a column", f"{line.by} {line.group}"


def _lowest(lines: Sequence[GroupLine], level: float) -> float:
    """Return the smallest coverage that the figure shows: intervals of groups with few rows, which may begin
    at 0, are cut."""
    ends = [line.coverage if line.few else line.low for line in lines]
    # An absent class has a band of NaN.
    ends += [low for low in (line.band_low for line in lines) if low is not None and not math.isnan(low)]
    return max(min([*ends, 1 - 2 * level]), 0.0)


def draw_coverage(subject: Subject):
    if not subject.results.config.levels and "level" not in subject.options:
        raise NotApplicable("the config has no significance levels")
    level = level_of(subject.results, subject.options)
    found = {
        label: _wanted(one.lines, subject.option("by", None))
        for label, one in subject.numbers(GroupLines).items()
    }
    shown, title = subject.some_of(
        {label: lines for label, lines in found.items() if lines}, COVERAGE_PANELS, "no method has regions"
    )
    widths = (PAGE,) if max(map(len, shown.values())) > 16 else (PAGE, PAGE)
    panels = Panels(len(shown), height=2.0, widths=widths, sharey=True)
    for axes, (name, lines) in zip(panels.axes, shown.items(), strict=True):
        for place, line in enumerate(lines):
            if line.band_low is not None:
                band = axes.fill_between(
                    [place - 0.4, place + 0.4], 100 * line.band_low, 100 * (line.band_high or 0.0),
                    color=GREY, alpha=0.35, linewidth=0,
                )  # fmt: skip
                panels.handles.setdefault("95 % band of p-values that are valid for the group", band)
            marker, about, _ = _kind(line)
            bars = axes.errorbar(
                [place], [100 * line.coverage],
                [[100 * (line.coverage - line.low)], [100 * (line.high - line.coverage)]],
                fmt=marker, color=SKY if line.few else BLUE,
                markersize=3, elinewidth=0.7,
            )  # fmt: skip
            panels.handles.setdefault(f"{about}{', few rows' if line.few else ''}", bars)
        axes.axhline(100 * (1 - level), color=BLACK, linewidth=0.5)
        wanted = subject.option("by", None)
        names = [_kind(line)[2] if wanted is None else str(line.group) for line in lines]
        name_ticks(axes, names, PAGE / panels.columns - 0.5)
        axes.set_xlabel(wanted or "", fontsize=7)
        axes.set_title(name, loc="left", fontsize=7)
    if any(name.get_rotation() for axes in panels.axes for name in axes.get_xticklabels()):
        for axes in panels.axes:
            axes.tick_params("x", rotation=90)
    drawn = [line for lines in shown.values() for line in lines]
    bottom = 100 * _lowest(drawn, level) - 2
    panels.axes[0].set_ylim(bottom, 100 + 0.05 * (100 - bottom))
    return panels.finish(f"{title}, significance level {level:g}", "regions with the true label (%)")


CONDITIONAL_COVERAGE = Figure(
    name="conditional-coverage",
    about="coverage of classes, region sizes and groups of columns, with the band of valid p-values",
    draw=draw_coverage,
    numbers=(GroupLines,),
    caption="Coverage of the regions of each class (circles), of each region size (squares) and of each "
    "group of the columns in coverage-by (triangles), with Clopper-Pearson intervals at 95 % for all "
    "classes, sizes, or groups of a column, together. Each test row counts once. Grey band: 95 % of "
    "p-values that are valid for the group. Light: groups with fewer than 5 / level rows, whose intervals "
    "may be cut. Of more than 40 classes, or groups of a column, those of lowest coverage.",
    options={
        "by": Word("class, size or a column of coverage-by; default all of them"),
        "level": Number("significance level; default the smallest of the config", low=0, high=1),
    },
)


PANELS = 12
CLASSES = 6  # absent classes with a line each


def draw_absent(subject: Subject):
    found = {label: one for label, one in subject.numbers(AbsentClasses).items() if len(one.values) > 1}
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
    numbers=(AbsentClasses,),
    caption="Share of test examples with at most this credibility (confidence for views without "
    "p-values), "
    "all splits pooled, per absent class (at most 6) and for the classes in training together. The "
    "dashed line "
    "is that of uniform p-values.",
)


def draw_cloud(subject: Subject):
    from matplotlib.ticker import FuncFormatter, LogLocator

    clouds = {label: one.points for label, one in subject.numbers(Clouds).items()}
    shown, title = subject.some_of(
        clouds,
        int(subject.option("panels", 12)),
        "no method has p-values, and only p-values have a credibility",
    )
    widths = COLUMN, PAGE, PAGE
    panels = Panels(len(shown), height=2.2, top=0.35, widths=widths, sharex=True, sharey=True)
    lowest = min(cloud[:, 1].min() for cloud in shown.values())
    for axes, (label, cloud) in zip(panels.axes, shown.items(), strict=True):
        right, wrong = cloud[cloud[:, 2] == 0], cloud[cloud[:, 2] == 1]
        look = {"rasterized": True, "linewidths": 0}
        dots = axes.scatter(*right[:, :2].T, s=4, color=BLUE, alpha=0.3, **look)
        hollow = {"facecolors": "none", "edgecolors": VERMILION, "linewidths": 0.6, "alpha": 0.8}
        circles = axes.scatter(*wrong[:, :2].T, s=10, marker="o", rasterized=True, **hollow)
        axes.set_yscale("log")
        axes.set_ylim(1.2, lowest / 1.3)
        axes.set_xlim(-0.02, 1.02)
        axes.yaxis.set_major_locator(LogLocator(10, numticks=6))
        axes.yaxis.set_major_formatter(
            FuncFormatter(lambda second, _: f"{1 - second:.10f}".rstrip("0").rstrip("."))
        )
        axes.minorticks_off()
        axes.set_title(label, loc="left")
        panels.handles = {"correct prediction": dots, "wrong prediction": circles}
    panels.label_y("confidence")
    panels.label_x("credibility")
    return panels.finish(title, markerscale=1.5)


CONFIDENCE_CREDIBILITY = Figure(
    name="confidence-credibility",
    about="confidence against credibility of each test example, for correct and wrong predictions",
    draw=draw_cloud,
    numbers=(Clouds,),
    caption="Confidence (1 minus the second largest p-value) against credibility (the largest p-value), one "
    "mark per test example of all splits: dots for correct predictions, circles for wrong ones.",
    options={"panels": Integer("largest number of variants; default 12", low=1)},
)
