"""Curves of a metric against a number, with bands, for several figures."""

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from confml.measures.distributions import wilson
from confml.measures.metric import SHARE, Metric
from confml.plugins.parameters import Flag, Parameter, value_text
from confml.report.declared import shown_metric
from confml.report.figures import Figure, NotApplicable, Subject
from confml.report.figures.style import (
    BLACK,
    COLUMN,
    DASHES,
    add_legend,
    lines_of,
    log_ticks,
    new_figure,
    rate_band,
)
from confml.report.numbers.published_points import errors_of
from confml.report.numbers.summaries import mean_and_sd
from confml.report.run.cells import with_details

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
    """One point of a curve; sd is NaN for a single value; n is 0 for theoretical values.

    low, high: Wilson's 95 % interval of the mean if every value is 0 or 1, or else NaN.
    """

    x: float
    mean: float
    sd: float
    n: int
    low: float = math.nan
    high: float = math.nan

    @classmethod
    def of(cls, x: float, values: Sequence[float]) -> "Point":
        """Return the point of the values of the splits."""
        point = cls(x, *mean_and_sd(values))
        if point.n > 1 and set(values) <= {0.0, 1.0}:
            low, high = wilson(sum(values), point.n)
            return point._replace(low=low, high=high)
        return point


def draw_curves(
    curves: Mapping[tuple[str, ...], Sequence[Point]],
    *,
    key: str,
    metric: str,
    title: str,
    log: bool = False,
    log_y: bool = False,
    band: str = "± 1 sd over splits",
    stars: Mapping[str, tuple[str, Sequence[tuple[float, float]]]] = MappingProxyType({}),
    looks: Sequence[Mapping[str, Any]] = (),
):
    """Return a figure of curves, by the parts of their labels, each in the order of x.

    key: a parameter's name, or the dotted key of a config. stars: points of a paper by the name in the
    legend, each with the label of its line. looks: colours, dashes and markers.
    The best curve is thick and has a band.
    """
    from matplotlib.ticker import MaxNLocator

    figure = new_figure(COLUMN * 1.15, 2.6)
    axes = figure.add_subplot()
    x_label, x_scale = axis_words(key)
    shown = shown_metric(metric)
    scale = shown.factor
    handles: dict[str, Any] = {}
    best = _best(curves, shown)
    several = [point for points in curves.values() for point in points if point.n > 1]
    outcomes = 0 < sum(point.mean for point in several) < len(several)  # neither 0 nor 1 in all splits
    outcomes = outcomes and not any(math.isnan(point.low) for point in several)
    colours = {}
    for line, (label, points) in zip(looks or _styles(curves), curves.items(), strict=True):
        x = [x_scale * point.x for point in points]
        mean = [scale * point.mean for point in points]
        colours[label[0]] = line["color"]
        width = {"linewidth": 2.0} if label == best and len(curves) > 1 else {}
        (handles[", ".join(label)],) = axes.plot(x, mean, zorder=3, clip_on=log_y, **{**line, **width})
        if label == best:
            low, high = _band(points, shown, outcomes)
            band = "Wilson's 95 % interval" if outcomes else band
            if log_y:
                low = np.maximum(low, min(mean) / 2)
            axes.fill_between(x, low, high, color=line["color"], alpha=0.15, linewidth=0)
            axes.set_title(f"band: {band}", loc="right", fontsize=6, color="0.4")
    for place, (name, (own, printed)) in enumerate(stars.items()):
        look = {"marker": "*", "linestyle": "", "markersize": 6 + 3 * place, "markerfacecolor": "none"}
        known, errors = np.array(printed).T
        (handles[name],) = axes.plot(known, scale * errors, color=colours.get(own, BLACK), zorder=5, **look)
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
    if not log and whole and len(places) <= 9 and min(gaps, default=1) >= (places[-1] - places[0]) / 16:
        axes.set_xticks([round(place) for place in places])
    elif not log and whole:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    axes.set_xlabel(x_label)
    axes.set_ylabel(shown.label)
    axes.set_title(title, loc="left")
    add_legend(figure, list(handles.values()), list(handles))
    return figure


def _best(curves: Mapping[tuple[str, ...], Sequence[Point]], metric: Metric) -> tuple[str, ...] | None:
    """Return the curve whose points have the best mean, or the first one; None without splits."""
    means = {
        label: math.fsum(point.mean for point in points) / len(points)
        for label, points in curves.items()
        if len(points) > 1 and not all(math.isnan(point.sd) for point in points)
    }
    choose = max if metric.direction == "higher" else min
    by_mean = means and metric.direction  # no curve, if every sd is that of one split
    return choose(means, key=lambda label: means[label]) if by_mean else next(iter(means), None)


def _band(points: Sequence[Point], metric: Metric, outcomes: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return Wilson's interval of outcomes, or mean ± sd; in per cent and between 0 and 100 for a share."""
    _, means, deviations, _, low, high = np.array(points).T
    if not outcomes:
        rate = metric.unit == SHARE
        low, high = rate_band(means, deviations, 1.0) if rate else (means - deviations, means + deviations)
    return metric.factor * low, metric.factor * high


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


class Word(Parameter):
    """A parameter that is a name."""

    def expected(self) -> str:
        return "a name"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str) and bool(value)


def metric_curves(subject: Subject, parameter: str, metric: str) -> dict[str, list[Point]]:
    """Return the curve of each method that sweeps the parameter, by label, in the order of the config.

    A line is a view of a method with equal other parameters; views with equal curves share a line.
    """
    results = subject.results
    groups: dict[tuple[str, str], dict[float, list[float]]] = {}
    places = {cell.key: place for place, cell in enumerate(results.cells)}
    for cell, metrics in sorted(results.metrics, key=lambda own: places[own.cell.key]):
        swept = cell.params.get(parameter)
        if cell.dataset != subject.dataset or not isinstance(swept, Real) or isinstance(swept, bool):
            continue
        others = {name: other for name, other in cell.params.items() if name != parameter}
        label = _line_label(subject, cell.method, others, parameter)
        for (view, name, level), value in metrics.items():
            if name == metric and level is None:
                groups.setdefault((label, view), {}).setdefault(float(swept), []).append(value)
    curves: dict[str, list[Point]] = {}
    for (label, view), found in groups.items():
        points = [Point.of(value, values) for value, values in sorted(found.items())]
        points = [point for point in points if point.n]
        own = [name for name in curves if name == label or name.startswith(f"{label} (")]
        same = repr(points) in [repr(curves[name]) for name in own]
        if len(points) > 1 and not same:
            curves[with_details(label, view if own else "")] = points
    return curves


def _line_label(subject: Subject, method: str, others: Mapping[str, Any], parameter: str) -> str:
    """Return the config's label for a method that sweeps the parameter, or its name and other parameters."""
    for entry in subject.results.config.methods:
        if entry.label and entry.name == method:
            for swept in entry.variants():
                rest = {name: value for name, value in {**entry.params, **swept}.items() if name != parameter}
                if rest == others:
                    told = [f"{name}={value_text(swept[name])}" for name in swept if name != parameter]
                    return " ".join([entry.label, *told])
    return subject.results.short_label(method, others)


def draw_metric(subject: Subject):
    parameter, metric = subject.option("parameter", "k"), subject.option("metric", "error")
    curves = metric_curves(subject, parameter, metric)
    if not curves:
        raise NotApplicable(
            f"no method has a metric {metric} at two or more values of {parameter} "
            f"(sweep: {{{parameter}: [...]}})"
        )
    values = sorted({point.x for points in curves.values() for point in points})
    log = bool(subject.option("log", values[0] > 0 and values[-1] / values[0] >= 100))
    if log and values[0] <= 0:
        raise NotApplicable(f"a logarithmic axis needs values above 0, and {parameter} has others")
    stars = {}
    for method in dict.fromkeys(variant.method for variant in subject.variants.values()):
        if metric == "error" and (points := errors_of(subject.dataset, method, parameter)):
            line = _line_label(subject, method, {}, parameter)
            name = f"{method} in the paper ({points[0].source})"
            stars[name] = line, [(point.x, point.y) for point in points]
    return draw_curves(
        {(label,): points for label, points in curves.items()},
        key=parameter,
        metric=metric,
        title=subject.dataset,
        log=log,
        log_y=bool(subject.option("log_y", False)),
        stars=stars,
        looks=_looks(subject, parameter, curves),
    )


def _looks(subject: Subject, parameter: str, curves: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the look of each curve: the colour of its first variant, other dashes for other views."""
    first: dict[str, str] = {}
    for cell in subject.results.cells:
        others = {name: other for name, other in cell.params.items() if name != parameter}
        label = _line_label(subject, cell.method, others, parameter)
        first.setdefault(label, subject.results.label(cell))
    base = {name: name if name in first else name.rpartition(" (")[0] for name in curves}
    labels = list(base.values())
    return [subject.look(first[base[name]], labels[:n].count(base[name])) for n, name in enumerate(curves)]


LOG = Flag("a logarithmic axis; by default where the values span a factor of 100 or more")
CAPTION = (
    "{} against a parameter of the methods, mean over the splits. The thick line has the best mean; its band "
    "is ± 1 sd over the splits, or Wilson's 95 % interval of the mean if every split has the value 0 or 1."
)


def caption(subject: Subject) -> str:
    """Return content and band of the figure."""
    if subject.option("metric", "error") != "error":
        return CAPTION.format("A metric")
    return CAPTION.format("Test error") + " Stars: errors that a paper prints, if there are any."


AGAINST = Figure(
    name="error-against",
    about="test error, or another metric, of every method against a swept parameter, mean and sd over the "
    "splits",
    draw=draw_metric,
    caption=caption,
    options={
        "parameter": Word("swept parameter; default k"),
        "metric": Word("a metric of metrics.csv; default error"),
        "log": LOG,
        "log_y": Flag("a logarithmic vertical axis"),
    },
)
