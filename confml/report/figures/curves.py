"""Curves of a metric against a number: the figure ``error-against``, and figures of several runs."""

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from confml.measures.metric import SHARE, Metric
from confml.plugins.parameters import Flag, Parameter
from confml.report.declared import shown_metric
from confml.report.figures.figure import DatasetResults, Figure, NotApplicable
from confml.report.figures.style import Panels, log_ticks, rate_band
from confml.report.numbers.summaries import mean_and_sd

# Labels and scales of the horizontal axis.
AXES = {
    "k": ("number of neighbours k", 1),
    "rate": ("learning rate", 1),
    "order": ("order of the polynomial", 1),
    "noise.labels": ("label noise (%)", 100),
    "noise.attributes": ("feature noise (%)", 100),
    "noise.irrelevant": ("irrelevant features", 1),
    "datasets.0.irrelevant": ("irrelevant features", 1),
    "datasets.0.classes": ("classes", 1),
    "bayes-error": ("Bayes error (%)", 100),
    "train-rows": ("training examples", 1),
}
Look = dict[str, Any]


class Word(Parameter):
    """A parameter that is a name."""

    def expected(self) -> str:
        return "a name"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str) and bool(value)


class Point(NamedTuple):
    """One point of a curve; sd is NaN for a single value; n is 0 for theoretical values."""

    x: float
    mean: float
    sd: float
    n: int


def draw_curves(
    curves: Mapping[str, Sequence[Point]],
    looks: Mapping[str, Look],
    *,
    key: str,
    metric: str,
    title: str = "",
    log: bool = False,
    log_y: bool = False,
):
    """Return a figure of curves by label, each in the order of x; the best one is thick and has a band.

    looks: colour, dashes and marker of each curve. key: a parameter's name, or the dotted key of a config.
    """
    from matplotlib.ticker import MaxNLocator

    panels = Panels(1, height=2.4)
    (axes,), handles = panels.axes, panels.handles
    x_label, x_scale = AXES.get(key, (key.rpartition(".")[2].replace("_", " "), 1))
    shown = shown_metric(metric)
    best = _best(curves, shown)
    for label, points in curves.items():
        look = looks[label] | ({"linewidth": 2.0} if label == best and len(curves) > 1 else {})
        x, mean, sd, _ = np.array(points).T * [[x_scale], [shown.factor], [shown.factor], [1.0]]
        (handles[label],) = axes.plot(x, mean, zorder=3, clip_on=log_y, **look)
        if label == best:
            low, high = rate_band(mean, sd) if shown.unit == SHARE else (mean - sd, mean + sd)
            low = np.maximum(low, min(mean) / 2) if log_y else low
            axes.fill_between(x, low, high, color=look["color"], alpha=0.15, linewidth=0)
            axes.set_title("band: ± 1 sd over splits", loc="right", fontsize=6, color="0.4")
    values = sorted({x_scale * point.x for points in curves.values() for point in points})
    if log:
        axes.set_xscale("log")
        log_ticks(axes.xaxis)
    elif all(abs(value - round(value)) < 1e-9 for value in values):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    if log_y:
        axes.set_yscale("log")
        log_ticks(axes.yaxis)
    else:
        axes.set_ylim(bottom=0)
    return panels.finish(title, x_label, shown.label)


def _best(curves: Mapping[str, Sequence[Point]], metric: Metric) -> str | None:
    """Return the curve of several points with the best mean, or the first one; None without splits."""
    means = {
        label: math.fsum(point.mean for point in points) / len(points)
        for label, points in curves.items()
        if len(points) > 1 and not all(math.isnan(point.sd) for point in points)
    }
    if means and metric.direction:
        return (max if metric.direction == "higher" else min)(means, key=means.__getitem__)
    return next(iter(means), None)


def metric_curves(
    data: DatasetResults, parameter: str, metric: str
) -> tuple[dict[str, list[Point]], dict[str, Look]]:
    """Return the curves of the methods that sweep the parameter, and their looks, by label.

    A line is a method with equal other parameters, in its first view that has the metric.
    """
    values: dict[str, dict[float, list[float]]] = {}
    looks: dict[str, Look] = {}
    for view in data.views.values():
        swept = view.params.get(parameter)
        if isinstance(swept, Real) and not isinstance(swept, bool):
            prefixes = (f"{parameter}=", f"{parameter.rpartition('__')[2]}=")
            line = " ".join(word for word in view.label.split() if not word.startswith(prefixes))
            looks.setdefault(line, data.look(view.label))
            splits = values.setdefault(line, {})
            splits[float(swept)] = splits.get(float(swept)) or data.values(view, metric)
    curves: dict[str, list[Point]] = {}
    for line, splits in values.items():
        points = [Point(x, *mean_and_sd(splits[x])) for x in sorted(splits)]
        if sum(point.n > 0 for point in points) > 1:
            curves[line] = [point for point in points if point.n]
    return curves, looks


def draw(
    data: DatasetResults,
    *,
    parameter: str = "k",
    metric: str = "error",
    log: bool | None = None,
    log_y: bool = False,
):
    """Mean over the splits of the test error, or of another metric, against a parameter of the methods. The
    thick line has the best mean; its band is ± 1 sd over the splits.
    """
    curves, looks = metric_curves(data, parameter, metric)
    if not curves:
        raise NotApplicable(
            f"no method has a metric {metric} at two or more values of {parameter} "
            f"(sweep: {{{parameter}: [...]}})"
        )
    values = [point.x for points in curves.values() for point in points]
    if log is None:
        log = min(values) > 0 and max(values) / min(values) >= 100
    if log and min(values) <= 0:
        raise NotApplicable(f"a logarithmic axis needs values above 0, and {parameter} has others")
    return draw_curves(curves, looks, key=parameter, metric=metric, title=data.name, log=log, log_y=log_y)


ERROR_AGAINST = Figure(
    draw,
    options={
        "parameter": Word("swept parameter; default k"),
        "metric": Word("a metric of metrics.csv; default error"),
        "log": Flag("a logarithmic axis; by default where the values span a factor of 100 or more"),
        "log_y": Flag("a logarithmic vertical axis"),
    },
)
