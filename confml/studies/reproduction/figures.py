"""Figures of the page: each published number against that of confml, one figure per table."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill

from confml.published import PublishedTable, known_tables
from confml.report.figures.style import (
    GREY,
    MARKERS,
    PALETTE,
    add_legend,
    legend_below,
    log_ticks,
    new_figure,
    style,
)
from confml.report.files import write_file
from confml.studies.reproduction.numbers import Number, Outcome, Role

_LINE = 40  # characters of a line below or above the axes
_MOST_LABELS = 6
_LOGARITHMIC = ("seconds",)  # parts of table names whose numbers span decades


def draw_numbers(table: str, numbers: Sequence[Number], folder: Path) -> Path | None:
    """Draw the numbers of a table as points (paper, confml) with ± 1 sd, and write ``<table>.svg``.

    Each unit has a panel. Sizes of data sets are not drawn. Returns None if fewer than three numbers are
    computed.
    """
    computed = [
        one
        for one in numbers
        if one.ours is not None and one.outcome is not Outcome.BOUND and one.role is not Role.SIZE
    ]
    if len(computed) < 3:
        return None
    published = known_tables()[table]
    series = _series(computed, published)
    colours = {label: place for place, label in enumerate(series)}
    units: dict[str, dict[str, list[Number]]] = {}
    for label, own in series.items():
        for number in own:
            units.setdefault(_unit(number, published), {}).setdefault(label, []).append(number)
    logarithmic = any(part in table for part in _LOGARITHMIC)
    with style():
        figure = new_figure(0.6 + 3.0 * len(units), 3.4)
        for axes, (unit, drawn) in zip(
            figure.subplots(1, len(units), squeeze=False).flat, units.items(), strict=True
        ):
            for label, own in drawn.items():
                # With more series than colours, a colour that comes again has another marker.
                place = colours[label]
                axes.errorbar(
                    [float(number.paper) for number in own],
                    [number.ours for number in own],
                    yerr=[number.sd or 0.0 for number in own],
                    fmt=MARKERS[(place + place // len(PALETTE)) % len(MARKERS)],
                    color=PALETTE[place % len(PALETTE)],
                    elinewidth=0.5,
                    label=label,
                )
            if logarithmic:
                axes.set(xscale="log", yscale="log")
                for axis in (axes.xaxis, axes.yaxis):
                    log_ticks(axis)
            low, high = _limits([number for own in drawn.values() for number in own], logarithmic)
            axes.plot([low, high], [low, high], color=GREY, linewidth=0.8, zorder=0)
            axes.set_xlabel(fill(f"published ({unit})", _LINE))
        figure.axes[0].set_ylabel("confml, mean ± sd over splits")
        figure.suptitle(published.title, x=0.01, ha="left", fontsize=8)
        if len(series) > 1:
            found = [axes.get_legend_handles_labels() for axes in figure.axes]
            add_legend(figure, *([one for own in part for one in own] for part in zip(*found, strict=True)))
        return write_svg(figure, folder / f"{table}.svg")


def _unit(number: Number, published: PublishedTable) -> str:
    """Return the unit of a number: by its column or its quantity, or that of the table."""
    return next(
        (published.units[name] for name in (number.column, *number.keys) if name in published.units),
        published.unit.partition(";")[0],
    )


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
