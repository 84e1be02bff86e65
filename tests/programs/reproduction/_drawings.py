"""Figures of the pages: published numbers against those of confml, and outcomes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill

from programs.reproduction._numbers import OUTCOMES, Number

from confml.published import PublishedTable
from confml.report.figures import style as styles

_LINE = 40  # characters of a line below or above the axes
_MOST_LABELS = 6


def draw_numbers(table: PublishedTable, numbers: Sequence[Number], folder: Path) -> bool:
    """Draw the numbers of a table as points (paper, confml) with ± 1 sd, one panel for each unit.

    Sizes of data sets are not drawn. Return False if fewer than three numbers are computed.
    """
    computed = [
        number
        for number in numbers
        if number.ours is not None and number.outcome != "time, lower bound" and number.role != "size"
    ]
    if len(computed) < 3:
        return False
    series = _series(computed, table)
    indices = {label: index for index, label in enumerate(series)}
    units: dict[str, dict[str, list[Number]]] = {}
    for label, numbers in series.items():
        for number in numbers:
            names = (number.column, *number.keys)
            unit = next((table.units[name] for name in names if name in table.units), None)
            panel = units.setdefault(unit or table.unit.partition(";")[0], {})
            panel.setdefault(label, []).append(number)
    with styles.style():
        figure = styles.new_figure(0.6 + 3.0 * len(units), 3.4)
        panels = figure.subplots(1, len(units), squeeze=False).flat
        for axes, (unit, drawn) in zip(panels, units.items(), strict=True):
            for label, points in drawn.items():
                # With more series than colours, a colour that comes again has another marker.
                index, colour_count = indices[label], len(styles.PALETTE)
                axes.errorbar(
                    [float(number.paper) for number in points],
                    [number.ours for number in points],
                    yerr=[number.sd or 0.0 for number in points],
                    fmt=styles.MARKERS[(index + index // colour_count) % len(styles.MARKERS)],
                    color=styles.PALETTE[index % colour_count],
                    elinewidth=0.5,
                    label=label,
                )
            points = [number for numbers in drawn.values() for number in numbers]
            values = [float(number.paper) for number in points] + [number.ours or 0.0 for number in points]
            if table.grid:  # times, which span decades
                values = [value for value in values if value > 0]
                axes.set(xscale="log", yscale="log")
                for axis in (axes.xaxis, axes.yaxis):
                    styles.log_ticks(axis)
            ends = [min(values), max(values)]
            axes.plot(ends, ends, color=styles.GREY, linewidth=0.8, zorder=0)
            axes.set_xlabel(fill(f"published ({unit})", _LINE))
        figure.axes[0].set_ylabel("confml, mean ± sd over splits")
        figure.suptitle(table.title, x=0.01, ha="left", fontsize=8)
        if len(series) > 1:
            handles = {}
            for axes in figure.axes:
                artists, labels = axes.get_legend_handles_labels()
                handles |= dict(zip(labels, artists, strict=True))
            styles.add_legend(figure, handles)
        styles.save(figure, folder / table.name, formats=())
    return True


def _series(numbers: Sequence[Number], table: PublishedTable) -> dict[str, list[Number]]:
    """Return the numbers by label: the column, or in a table with one column the second key of few values."""
    names = {number.column: table.columns.get(number.column, number.column) for number in numbers}
    labels = [names[number.column] for number in numbers]
    if len(names) == 1 and len(numbers[0].keys) > 1:
        seconds = [number.keys[1] for number in numbers]
        labels = seconds if len(set(seconds)) <= _MOST_LABELS else labels
    series: dict[str, list[Number]] = {label: [] for label in labels}
    for label, number in zip(labels, numbers, strict=True):
        series[label].append(number)
    return series


def draw_outcomes(numbers: Mapping[str, Sequence[Number]], path: Path) -> None:
    """Draw the shares of the outcomes of each source as a stacked bar."""
    all_outcomes = {number.outcome for results in numbers.values() for number in results}
    shown = [outcome for outcome in OUTCOMES if outcome in all_outcomes]
    with styles.style():
        figure = styles.new_figure(6.4, 0.9 + 0.35 * len(numbers))
        axes = figure.subplots()
        for line, results in enumerate(numbers.values()):
            left = 0.0
            for outcome, colour in zip(shown, (*styles.PALETTE, styles.GREY), strict=False):
                count = sum(number.outcome == outcome for number in results)
                share = 100 * count / len(results)
                axes.barh(line, share, left=left, color=colour, label=None if line else outcome)
                if share >= 4:
                    axes.annotate(str(count), (left + share / 2, line), ha="center", va="center", fontsize=7)
                left += share
        axes.set_yticks(
            range(len(numbers)), [f"{name} ({len(results)})" for name, results in numbers.items()]
        )
        axes.invert_yaxis()
        axes.set_xlim(0, 100)
        axes.set_xlabel("results of the source, per cent; numbers of results in the bars")
        artists, labels = axes.get_legend_handles_labels()
        styles.add_legend(figure, dict(zip(labels, artists, strict=True)))
        styles.save(figure, path.with_suffix(""), formats=())
