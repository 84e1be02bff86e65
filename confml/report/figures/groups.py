"""Errors and sizes of regions in the groups of ``by``, one colour for each method."""

from confml.plugins.parameters import Number
from confml.report.figures import Figure, NotApplicable, Subject
from confml.report.figures.style import BLACK, COLUMN, PALETTE, Panels
from confml.report.numbers.outcomes import GroupErrorLines, level_of

METHODS = 6


def draw(subject: Subject):
    level = level_of(subject.results, subject.options)
    lines = [line for one in subject.numbers(GroupErrorLines).values() for line in one.lines]
    if not lines:
        raise NotApplicable("no method has groups (by)")
    methods = list(dict.fromkeys(line.view for line in lines))[:METHODS]
    names = list(dict.fromkeys((line.by, line.group) for line in lines))
    panels = Panels(2, height=2.4, widths=(COLUMN * 1.6,), sharex=True)
    width = 0.8 / len(methods)
    for number, view in enumerate(methods):
        mine = [line for line in lines if line.view == view]
        places = [names.index((line.by, line.group)) - 0.4 + width * (number + 0.5) for line in mine]
        style = PALETTE[number % len(PALETTE)]
        errors = [100 * line.error for line in mine]
        bounds = [
            [100 * (line.error - line.low) for line in mine],
            [100 * (line.high - line.error) for line in mine],
        ]
        bars = panels.axes[0].errorbar(
            places, errors, bounds, fmt="o", color=style, markersize=3, elinewidth=0.7
        )
        panels.axes[1].plot(places, [line.size for line in mine], "o", color=style, markersize=3)
        panels.handles[", ".join(dict.fromkeys(view[1:]))] = bars
    panels.axes[0].axhline(100 * level, color=BLACK, linewidth=0.5)
    panels.axes[0].set_ylabel("error (%)")
    panels.axes[1].set_ylabel("mean region size")
    panels.axes[1].set_xticks(range(len(names)), [group for _, group in names], rotation=90, fontsize=6)
    return panels.finish(f"{subject.dataset}, significance level {level:g}")


FIGURE = Figure(
    name="groups",
    about="errors and sizes of regions in the groups of by, for each method",
    draw=draw,
    numbers=(GroupErrorLines,),
    caption="Above: error rate of the regions in each group of by, with Clopper-Pearson intervals at 95 % for"
    " one group; the line is the significance level. Below: mean number of labels of a region. Each test row "
    "counts once. At most six methods are drawn.",
    options={"level": Number("significance level; default the smallest of the config", low=0, high=1)},
)
