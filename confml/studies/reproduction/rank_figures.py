"""Figures of the page: mean ranks of confml and of the published numbers."""

from pathlib import Path

from confml.report.answers.datasets import Ranking
from confml.report.figures.style import BLACK, BLUE, GREY, legend_below, new_figure, style
from confml.report.sections.ranks import PublishedRanks, words_of
from confml.studies.reproduction.figures import write_svg


def draw_ranks(found: Ranking, printed: PublishedRanks, path: Path, fits: str = "") -> Path:
    """Draw the mean ranks of methods, the best above, and those of a paper's numbers; write an SVG file.

    A bar joins methods that do not differ by Nemenyi's test in the ranks of confml. fits: kind of the fits
    behind times, for the title.
    """
    outcome, k = found.comparison, len(found.labels)
    order = sorted(range(k), key=lambda place: (outcome.mean_ranks[place], place))
    groups = outcome.groups()
    step = 0.025 * k  # between the bars
    with style():
        figure = new_figure(5.2, 0.9 + 0.24 * k)
        axes = figure.subplots()
        for line, place in enumerate(order):
            ours, theirs = float(outcome.mean_ranks[place]), printed.mean_ranks[found.labels[place]]
            axes.plot([ours, theirs], [line, line], color=GREY, linewidth=0.6, zorder=1)
            (mine,) = axes.plot(ours, line, "o", color=BLUE, markersize=4, zorder=3)
            (paper,) = axes.plot(
                theirs, line, "*", color=BLACK, markerfacecolor="none", markersize=6, zorder=4
            )
            words = f"{ours:.2f} ({theirs:.2f})"
            axes.annotate(words, (k + 0.25, line), va="center", fontsize=7, annotation_clip=False)
        handles, labels = [mine, paper], ["confml", f"numbers of the paper, {printed.datasets} data sets"]
        for number, group in enumerate(groups):
            lines = sorted(order.index(place) for place in group.tolist())
            x = 0.9 - step * (number + 1)
            ends = [lines[0] - 0.25, lines[-1] + 0.25]
            (bar,) = axes.plot([x, x], ends, color=BLUE, linewidth=2.5, solid_capstyle="butt")
        if groups:
            handles.append(bar)
            words = (
                f"mean ranks of confml that differ by less than {outcome.critical_difference:.2f} (Nemenyi)"
            )
            labels.append(words)
        axes.set_xlim(0.9 - step * (len(groups) + 1), k + 0.15)
        axes.set_ylim(k - 0.5, -0.5)
        axes.set_xticks(range(1, k + 1))
        axes.set_yticks(range(k), [found.labels[place] for place in order])
        axes.set_xlabel("mean rank, 1 for the best")
        axes.set_title(
            ", ".join(filter(None, (words_of(found.metric), fits, f"{len(found.datasets)} data sets"))),
            loc="left",
        )
        axes.annotate("confml (paper)", (k + 0.25, -0.6), va="bottom", fontsize=7, annotation_clip=False)
        legend_below(figure, handles, labels)
        return write_svg(figure, path)
