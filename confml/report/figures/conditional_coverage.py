"""Coverage of classes, region sizes and groups of columns, with intervals and the band of valid p-values."""

import math
from collections.abc import Sequence

from confml.plugins.parameters import Number
from confml.report.figures import Figure, NotApplicable, Subject
from confml.report.figures.error_against import Word
from confml.report.figures.groups import name_ticks
from confml.report.figures.style import BLACK, BLUE, GREY, PAGE, SKY, Panels
from confml.report.numbers.group_coverage import CLASS, SIZE, GroupLine
from confml.report.numbers.outcomes import GroupLines, level_of

PANELS = 6
GROUPS = 40  # of one panel


def _wanted(lines: Sequence[GroupLine], by: str | None) -> list[GroupLine]:
    """Return the groups of ``by``, or all of them: classes, or those of lowest coverage, sizes, columns."""
    kept = []
    for one in dict.fromkeys(line.by for line in lines):
        mine = [line for line in lines if line.by == one]
        if by in (None, one):
            kept += sorted(mine, key=lambda line: line.coverage)[:GROUPS] if len(mine) > GROUPS else mine
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


def draw(subject: Subject):
    if not subject.results.config.levels and "level" not in subject.options:
        raise NotApplicable("the config has no significance levels")
    level = level_of(subject.results, subject.options)
    found = {
        label: _wanted(one.lines, subject.option("by", None))
        for label, one in subject.numbers(GroupLines).items()
    }
    shown, title = subject.some_of({label: lines for label, lines in found.items() if lines}, PANELS)
    if not shown:
        raise NotApplicable("no method has regions")
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


FIGURE = Figure(
    name="conditional-coverage",
    about="coverage of classes, region sizes and groups of columns, with the band of valid p-values",
    draw=draw,
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
