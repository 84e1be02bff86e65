"""Curves of a metric against a number, with bands, for several figures."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from confml.measures.metric import SHARE, Metric
from confml.report.declared import shown_metric
from confml.report.figures.style import (
    BLACK,
    COLUMN,
    DASHES,
    legend_below,
    legend_beside,
    lines_of,
    log_ticks,
    new_figure,
    rate_band,
)

# Labels and scales of the horizontal axis.
_KEYS = {
    "k": ("number of neighbours k", 1),
    "rate": ("learning rate", 1),
    "order": ("order of the polynomial", 1),
    "noise.labels": ("label noise (%)", 100),
    "noise.attributes": ("feature noise (%)", 100),
    "irrelevant": ("irrelevant features", 1),
    "classes": ("classes", 1),
    "bayes-error": ("Bayes error (%)", 100),
    "train-rows": ("training examples", 1),
}


class Point(NamedTuple):
    """One point of a curve; sd is NaN for a single value; n is 0 for theoretical values."""

    x: float
    mean: float
    sd: float
    n: int


def draw_curves(
    curves: Mapping[tuple[str, ...], Sequence[Point]],
    *,
    key: str,
    metric: str,
    title: str,
    log: bool = False,
    log_y: bool = False,
    band: str = "± 1 sd over splits",
):
    """Return a figure of curves, by the parts of their labels, each in the order of x.

    key: a parameter's name, or the dotted key of a config.
    """
    figure = new_figure(COLUMN * 1.15, 2.6)
    axes = figure.add_subplot()
    x_label, x_scale = axis_words(key)
    shown = shown_metric(metric)
    scale = shown.factor
    handles = []
    banded = False
    for line, (label, points) in zip(_styles(curves), curves.items(), strict=True):
        x = [x_scale * point.x for point in points]
        mean = [scale * point.mean for point in points]
        handles += axes.plot(x, mean, label=", ".join(label), zorder=3, clip_on=log_y, **line)
        if len(points) > 1 and not all(math.isnan(point.sd) for point in points):
            banded = True
            low, high = _band([point.mean for point in points], [point.sd for point in points], shown)
            if log_y:
                low = np.maximum(low, min(mean) / 2)
            axes.fill_between(x, low, high, color=line["color"], alpha=0.15, linewidth=0)
    places = sorted({x_scale * point.x for points in curves.values() for point in points})
    if log:
        axes.set_xscale("log")
        log_ticks(axes.xaxis, places)
    if log_y:
        axes.set_yscale("log")
        log_ticks(axes.yaxis)
    else:
        axes.set_ylim(bottom=0)
    gaps = [high - low for low, high in zip(places, places[1:], strict=False)]
    whole = all(abs(place - round(place)) < 1e-9 for place in places)
    if not log and whole and len(places) <= 9 and min(gaps, default=1) >= (places[-1] - places[0]) / 25:
        axes.set_xticks([round(place) for place in places])
    axes.set_xlabel(x_label)
    axes.set_ylabel(shown.label)
    axes.set_title(title, loc="left")
    if banded:
        axes.set_title(f"band: {band}", loc="right", fontsize=6, color="0.4")
    words = [handle.get_label() for handle in handles]
    (legend_below if len(curves) <= 14 else legend_beside)(figure, handles, words)
    return figure


def _band(mean: Sequence[float], sd: Sequence[float], metric: Metric) -> tuple[np.ndarray, np.ndarray]:
    """Return mean ± sd, in per cent and between 0 and 100 for a share."""
    means, deviations = np.array(mean), np.array(sd)
    if metric.unit == SHARE:
        return rate_band(metric.factor * means, metric.factor * deviations)
    return means - deviations, means + deviations


def axis_words(key: str) -> tuple[str, float]:
    """Return the label of the horizontal axis of a parameter or a dotted key, and the factor of its
    values."""
    if key in _KEYS:
        return _KEYS[key]
    *way, last = key.split(".")
    return _KEYS.get(last, (last.replace("_", " "), 1)) if way[:1] in (["noise"], ["datasets"]) else (key, 1)


def _styles(curves: Mapping[tuple[str, ...], Sequence[Point]]) -> list[dict]:
    """Return colour, dashes and marker of each curve.

    Curves whose labels differ only in the last part (two or three kinds) share colour and marker and differ
    in dashes. Theoretical curves are black, without markers.
    """
    theory = [label for label, points in curves.items() if all(point.n == 0 for point in points)]
    found = [label for label in curves if label not in theory]
    firsts, lasts = (
        list(dict.fromkeys(parts)) for parts in ([one[:-1] for one in found], [one[-1:] for one in found])
    )
    of = {}
    if 1 < len(lasts) < len(DASHES) and len(firsts) * len(lasts) == len(found) and firsts != [()]:
        base = lines_of(len(firsts))
        for label in found:
            of[label] = base[firsts.index(label[:-1])] | {"linestyle": DASHES[lasts.index(label[-1:])]}
    else:
        of = dict(zip(found, lines_of(len(found)), strict=True))
    for place, label in enumerate(theory):
        of[label] = {"color": BLACK, "linestyle": DASHES[place % len(DASHES)], "marker": "", "linewidth": 0.8}
    return [of[label] for label in curves]
