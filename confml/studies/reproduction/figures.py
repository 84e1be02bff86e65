"""Figures of the page: each published number against that of confml, one figure per table."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill

from confml.published import PublishedTable, known_tables
from confml.report.figures.style import GREY, MARKERS, PALETTE, legend_below, new_figure, style
from confml.report.files import write_file
from confml.studies.reproduction.numbers import Number, Outcome

_LINE = 45  # characters of a line below or above the axes
_MOST_LABELS = 6
_LOGARITHMIC = ("seconds", "smartsvm-table1")  # parts of table names whose numbers span decades


def draw_numbers(table: str, numbers: Sequence[Number], folder: Path) -> Path | None:
    """Draw the numbers of a table as points (paper, confml) with ± 1 sd, and write ``<table>.svg``.

    Returns None if fewer than three numbers are computed.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator

    computed = [one for one in numbers if one.ours is not None and one.outcome is not Outcome.BOUND]
    if len(computed) < 3:
        return None
    published = known_tables()[table]
    series = _series(computed, published)
    logarithmic = any(part in table for part in _LOGARITHMIC)
    with style():
        figure = new_figure(5.2, 3.6)
        axes = figure.subplots()
        for place, (label, own) in enumerate(series.items()):
            # With more series than colours, a colour that comes again has another marker.
            marker = MARKERS[(place + place // len(PALETTE)) % len(MARKERS)]
            axes.errorbar(
                [float(number.paper) for number in own],
                [number.ours for number in own],
                yerr=[number.sd or 0.0 for number in own],
                fmt=marker,
                color=PALETTE[place % len(PALETTE)],
                elinewidth=0.5,
                label=label,
            )
        if logarithmic:
            axes.set(xscale="log", yscale="log")
            axes.minorticks_off()
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_locator(LogLocator(10, numticks=7))
                axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        low, high = _limits(computed, logarithmic)
        axes.plot([low, high], [low, high], color=GREY, linewidth=0.8, zorder=0)
        axes.set_xlabel(fill(f"published ({published.unit})", _LINE))
        axes.set_ylabel("confml, mean ± sd over splits")
        axes.set_title(fill(published.title, _LINE), loc="left")
        if len(series) > 1:
            figure.legend(loc="outside right upper")
        return write_svg(figure, folder / f"{table}.svg")


def draw_outcomes(numbers: Mapping[str, Sequence[Number]], path: Path) -> Path:
    """Draw the shares of the outcomes of each source as a stacked bar, and write an SVG file."""
    found = {number.outcome for own in numbers.values() for number in own}
    shown = [one for one in Outcome if one in found]
    with style():
        figure = new_figure(6.4, 0.9 + 0.35 * len(numbers))
        axes = figure.subplots()
        for line, own in enumerate(numbers.values()):
            left = 0.0
            for one, colour in zip(shown, (*PALETTE, GREY), strict=False):
                count = sum(number.outcome is one for number in own)
                share = 100 * count / len(own)
                axes.barh(line, share, left=left, color=colour, label=None if line else str(one))
                if share >= 4:
                    axes.annotate(str(count), (left + share / 2, line), ha="center", va="center", fontsize=7)
                left += share
        axes.set_yticks(range(len(numbers)), [f"{name} ({len(own)})" for name, own in numbers.items()])
        axes.invert_yaxis()
        axes.set_xlim(0, 100)
        axes.set_xlabel("results of the source, per cent; numbers of results in the bars")
        legend_below(figure, *axes.get_legend_handles_labels())
        return write_svg(figure, path)


def _series(numbers: Sequence[Number], published: PublishedTable) -> dict[str, list[Number]]:
    """Return the numbers by label: the column, or in a table with one column the second key of few values."""
    names = {number.column: published.columns.get(number.column, number.column) for number in numbers}
    labels = [names[number.column] for number in numbers]
    if len(names) == 1 and len(numbers[0].keys) > 1:
        seconds = [number.keys[1] for number in numbers]
        labels = seconds if len(set(seconds)) <= _MOST_LABELS else labels
    found: dict[str, list[Number]] = {label: [] for label in labels}
    for label, number in zip(labels, numbers, strict=True):
        found[label].append(number)
    return found


def _limits(numbers: Sequence[Number], logarithmic: bool) -> tuple[float, float]:
    values = [float(number.paper) for number in numbers] + [number.ours or 0.0 for number in numbers]
    if logarithmic:
        values = [value for value in values if value > 0]
    return min(values), max(values)


def write_svg(figure, path: Path) -> Path:
    """Write a figure as SVG, the same bytes for the same figure."""
    import io

    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    return write_file(path, buffer.getvalue())
