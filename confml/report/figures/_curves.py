"""Curves of a metric against a number, with bands: what several figures draw alike."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from confml.report.figures.style import COLUMN, legend_below, legend_beside, lines_of, new_figure, power

SHARES = {"error", "accuracy", "training_error", "converged", "coverage"}  # shown in per cent


class Point(NamedTuple):
    """One point of a curve; sd is NaN where there is one value only."""

    x: float
    mean: float
    sd: float
    n: int


def draw_curves(
    curves: Mapping[str, Sequence[Point]],
    *,
    x_label: str,
    metric: str,
    title: str,
    log: bool = False,
    log_y: bool = False,
    band: str = "± 1 sd over splits",
):
    """A figure of curves by label, each in the order of x."""
    figure = new_figure(COLUMN * 1.15, 2.6)
    axes = figure.add_subplot()
    scale = 100.0 if metric.rpartition(".")[2] in SHARES else 1.0
    handles = []
    banded = False
    for points, line in zip(curves.values(), lines_of(len(curves)), strict=True):
        x = [point.x for point in points]
        mean = [scale * point.mean for point in points]
        handles += axes.plot(x, mean, **line)
        if len(points) > 1 and not all(math.isnan(point.sd) for point in points):
            banded = True
            low, high = ([scale * (p.mean + sign * p.sd) for p in points] for sign in (-1, 1))
            high = [min(one, 100.0) if scale == 100 else one for one in high]
            if log_y:
                low = [max(one, min(mean) / 2) for one in low]
            axes.fill_between(x, low, high, color=line["color"], alpha=0.15, linewidth=0)
    places = sorted({point.x for points in curves.values() for point in points})
    if log:
        axes.set_xscale("log")
        _plain_ticks(axes.xaxis, places)
    if log_y:
        axes.set_yscale("log")
        _plain_ticks(axes.yaxis)
    else:
        axes.set_ylim(bottom=0)
    if not log and len(places) <= 8 and all(float(place).is_integer() for place in places):
        axes.set_xticks(places)
    axes.set_xlabel(x_label)
    axes.set_ylabel(f"{metric} (%)" if scale == 100 else metric)
    axes.set_title(title, loc="left")
    if banded:
        axes.set_title(band, loc="right", fontsize=6, color="0.4")
    (legend_below if len(curves) <= 12 else legend_beside)(figure, handles, list(curves))
    return figure


def _plain_ticks(axis, places: Sequence[float] = ()) -> None:
    """Plain ticks of a logarithmic axis: at the places if they are few, else at powers of 10."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

    if 0 < len(places) <= 8:
        axis.set_major_locator(FixedLocator(places))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    else:
        axis.set_major_locator(LogLocator(10, numticks=8))
        axis.set_major_formatter(FuncFormatter(lambda value, _: power(10, math.log10(value))))
    axis.set_minor_locator(NullLocator())
