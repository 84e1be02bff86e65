"""Error, or any metric, against a swept parameter, one line per method that sweeps it."""

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

from confml.plugins.parameters import Flag, Parameter, value_text
from confml.report.figures import Figure, NotApplicable, Subject
from confml.report.figures.curves import Point, axis_words, draw_curves
from confml.report.figures.style import BLACK, COLUMN, legend_below, lines_of, new_figure, power, rate_band
from confml.report.numbers.published_points import errors_of
from confml.report.numbers.summaries import mean_and_sd


class Word(Parameter):
    """A parameter that is a name."""

    def expected(self) -> str:
        return "a name"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str) and bool(value)


def error_curves(subject: Subject, parameter: str) -> dict[str, list[tuple[float, float, float]]]:
    """Return (value, mean error, sd over the splits; NaN for one) in the order of the values, by label.

    A line is a view of a method with equal other parameters; views with equal errors share a line.
    """
    points: dict[tuple, list[tuple[float, float, float]]] = {}
    for variant in subject.variants.values():
        value = variant.params.get(parameter)
        if isinstance(value, Real) and not isinstance(value, bool):
            others = {name: other for name, other in variant.params.items() if name != parameter}
            mean, sd, n = mean_and_sd(subject.values(variant, "error"))
            if n:
                line = (_line_label(subject, variant.method, others, parameter), variant.view)
                points.setdefault(line, []).append((float(value), mean, sd))
    lines: dict[str, list[tuple[float, float, float]]] = {}
    views: dict[str, list[str]] = {}
    for (label, view), curve in points.items():
        if len({value for value, _, _ in curve}) < 2:
            continue
        curve = sorted(curve)
        same = [name for name in views.get(label, ()) if repr(lines[name]) == repr(curve)]
        if not same:
            name = f"{label}, {view}" if label in lines else label
            lines[name] = curve
            views.setdefault(label, []).append(name)
    return lines


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


def draw(subject: Subject, parameter: str):
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator

    curves = error_curves(subject, parameter)
    if not curves:
        raise NotApplicable(
            f"no method has two or more values of {parameter} (sweep: {{{parameter}: [...]}})"
        )
    figure = new_figure(COLUMN, 2.4)
    axes = figure.add_subplot()
    handles = []
    values = sorted({value for curve in curves.values() for value, _, _ in curve})
    logarithmic = subject.option("log", values[0] > 0 and values[-1] / values[0] >= 100)
    if logarithmic and values[0] <= 0:
        raise NotApplicable(f"a logarithmic axis needs values above 0, and {parameter} has others")
    for curve, line in zip(curves.values(), lines_of(len(curves)), strict=True):
        x, mean, sd = ([100 * value for value in column] for column in zip(*curve, strict=True))
        x = [value for value, _, _ in curve]
        handles += axes.plot(x, mean, **line)
        if not all(map(math.isnan, sd)):
            axes.fill_between(x, *rate_band(mean, sd), color=line["color"], alpha=0.15, linewidth=0)
    labels = list(curves)
    for method in dict.fromkeys(variant.method for variant in subject.variants.values()):
        points = errors_of(subject.dataset, method, parameter)
        if points:
            x, y = [point.x for point in points], [100 * point.y for point in points]
            look = {"marker": "*", "linestyle": "", "markersize": 6, "markerfacecolor": "none", "zorder": 5}
            handles += axes.plot(x, y, color=BLACK, **look)
            labels.append(f"{method} in the paper ({points[0].source})")
    axes.set_ylim(bottom=0)
    if logarithmic:
        base = 2 if all(math.log2(value).is_integer() for value in values) else 10
        axes.set_xscale("log", base=base)
        if all(math.log(value, base).is_integer() for value in values):
            axes.xaxis.set_major_locator(FixedLocator(values[:: -(-len(values) // 8)]))
        else:
            axes.xaxis.set_major_locator(LogLocator(base, numticks=8))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: power(base, math.log(value, base))))
        axes.minorticks_off()
    elif all(value.is_integer() for value in values):
        gaps = [high - low for low, high in zip(values, values[1:], strict=False)]
        if len(values) <= 8 and min(gaps) >= (values[-1] - values[0]) / 20:
            axes.set_xticks(values)
        else:
            axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    axes.set_xlabel(axis_words(parameter)[0])
    axes.set_ylabel("test error (%)")
    axes.set_title(subject.dataset, loc="left")
    if max(len(subject.values(variant, "error")) for variant in subject.variants.values()) > 1:
        axes.set_title("band: ± 1 sd over splits", loc="right", fontsize=6, color="0.4")
    legend_below(figure, handles, labels)
    return figure


LOG = Flag("a logarithmic axis; by default where the values span a factor of 100 or more")

CAPTION = (
    "Test error against a parameter of the methods, mean over the splits; bands: ± 1 sd over the splits. "
    "Stars: errors that a paper prints, if there are any."
)
AGAINST = Figure(
    name="error-against",
    about="test error of every method against a swept parameter, mean and sd over the splits",
    draw=lambda subject: draw(subject, subject.option("parameter", "k")),
    caption=CAPTION,
    options={"parameter": Word("swept parameter; default k"), "log": LOG},
)

AGAINST_K = Figure(
    name="error-against-k",
    about="test error of every method against its swept number of neighbours k",
    draw=lambda subject: draw(subject, "k"),
    caption=CAPTION,
    options={"log": LOG},
)


def metric_curves(subject: Subject, parameter: str, metric: str) -> dict[str, list[Point]]:
    """Return the curve of each method that sweeps the parameter, by label."""
    groups: dict[tuple[str, float], list[float]] = {}
    for row in subject.results.metrics:
        value = row.cell.params.get(parameter)
        fits = row.cell.dataset == subject.dataset and row.metric == metric and row.level is None
        if fits and isinstance(value, Real) and not isinstance(value, bool):
            others = {name: other for name, other in row.cell.params.items() if name != parameter}
            label = subject.results.short_label(row.cell.method, others)
            if row.view:
                views = {other.view for other in subject.variants.values() if other.cells[0] == row.cell}
                label = f"{label}, {row.view}" if len(views) > 1 else label
            groups.setdefault((label, float(value)), []).append(row.value)
    named = [
        subject.results.short_label(
            cell.method, {name: value for name, value in cell.params.items() if name != parameter}
        )
        for cell in subject.results.cells
    ]
    # In the order of the config, as in all other figures; two views of one method follow each other.
    places = {label: place for place, label in reversed(list(enumerate(named)))}

    def order(item) -> tuple:
        label, value = item[0]
        own = [place for name, place in places.items() if label == name or label.startswith(f"{name}, ")]
        return min(own, default=len(named)), label, value

    curves: dict[str, list[Point]] = {}
    for (label, value), values in sorted(groups.items(), key=order):
        mean, sd, n = mean_and_sd(values)
        if n:
            curves.setdefault(label, []).append(Point(value, mean, sd, n))
    return {label: points for label, points in curves.items() if len(points) > 1}


def draw_metric(subject: Subject):
    parameter, metric = subject.option("parameter", "k"), subject.option("metric", "error")
    curves = metric_curves(subject, parameter, metric)
    if not curves:
        raise NotApplicable(f"no method has a metric {metric} at two or more values of {parameter}")
    return draw_curves(
        {(label,): points for label, points in curves.items()},
        key=parameter,
        metric=metric,
        title=subject.dataset,
        log=bool(subject.option("log", False)),
        log_y=bool(subject.option("log_y", False)),
    )


METRIC_AGAINST = Figure(
    name="metric-against",
    about="any metric, including those of a method, against a swept parameter, mean and sd over the splits",
    draw=draw_metric,
    caption="A metric against a parameter of the methods, mean over the splits; bands: ± 1 sd over the "
    "splits.",
    options={
        "parameter": Word("swept parameter; default k"),
        "metric": Word("a metric of metrics.csv; default error"),
        "log": Flag("a logarithmic horizontal axis"),
        "log_y": Flag("a logarithmic vertical axis"),
    },
)
