"""Figures of the page: each published number against that of confml, one figure per table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from confml.report.figures.style import GREY, MARKERS, PALETTE, new_figure, style
from confml.report.files import write_file
from confml.report.published import known_tables
from confml.report.reproduction.numbers import Number

_LOGARITHMIC = ("seconds", "smartsvm-table1")  # parts of table names whose numbers span decades


def draw_numbers(table: str, numbers: Sequence[Number], folder: Path) -> Path | None:
    """Draw the numbers of a table as points (paper, confml) with ± 1 sd, and write ``<table>.svg``.

    Returns None if fewer than three numbers are computed.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator

    computed = [number for number in numbers if number.ours is not None]
    if len(computed) < 3:
        return None
    published = known_tables()[table]
    columns = list(dict.fromkeys(number.column for number in computed))
    logarithmic = any(part in table for part in _LOGARITHMIC)
    with style():
        figure = new_figure(5.2, 3.6)
        axes = figure.subplots()
        for place, column in enumerate(columns):
            own = [number for number in computed if number.column == column]
            axes.errorbar(
                [float(number.paper) for number in own],
                [number.ours for number in own],
                yerr=[number.sd or 0.0 for number in own],
                fmt=MARKERS[place % len(MARKERS)],
                color=PALETTE[place % len(PALETTE)],
                elinewidth=0.5,
                label=published.columns.get(column, column),
            )
        if logarithmic:
            axes.set(xscale="log", yscale="log")
            axes.minorticks_off()
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_locator(LogLocator(10, numticks=7))
                axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        low, high = _limits(computed, logarithmic)
        axes.plot([low, high], [low, high], color=GREY, linewidth=0.8, zorder=0)
        axes.set_xlabel(f"published ({published.unit})")
        axes.set_ylabel("confml, mean ± sd over splits")
        axes.set_title(published.title)
        figure.legend(loc="outside right upper")
        return write_svg(figure, folder / f"{table}.svg")


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
