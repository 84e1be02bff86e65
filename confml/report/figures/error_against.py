"""Error, or any metric, against a swept parameter, one line per method that sweeps it."""

from collections.abc import Mapping
from numbers import Real
from typing import Any

from confml.plugins.parameters import Flag, Parameter, value_text
from confml.report.figures import Figure, NotApplicable, Subject
from confml.report.figures.curves import Point, draw_curves
from confml.report.numbers.published_points import errors_of
from confml.report.run.cells import with_details


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
    views: dict[str, set[str]] = {}
    groups: dict[tuple[str, str], dict[float, list[float]]] = {}
    places = {cell.key: place for place, cell in enumerate(results.cells)}
    for row in sorted(results.metrics, key=lambda row: places[row.cell.key]):
        value = row.cell.params.get(parameter)
        fits = row.cell.dataset == subject.dataset and row.metric == metric and row.level is None
        if fits and isinstance(value, Real) and not isinstance(value, bool):
            others = {name: other for name, other in row.cell.params.items() if name != parameter}
            label = _line_label(subject, row.cell.method, others, parameter)
            groups.setdefault((label, row.view), {}).setdefault(float(value), []).append(row.value)
            views.setdefault(label, set()).add(row.view)
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


def draw(subject: Subject, parameter: str = "k"):
    parameter, metric = subject.option("parameter", parameter), subject.option("metric", "error")
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
ERROR_CAPTION = CAPTION.format("Test error") + " Stars: errors that a paper prints, if there are any."
AGAINST = Figure(
    name="error-against",
    about="test error of every method against a swept parameter, mean and sd over the splits",
    draw=draw,
    caption=ERROR_CAPTION,
    options={"parameter": Word("swept parameter; default k"), "log": LOG},
)

AGAINST_K = Figure(
    name="error-against-k",
    about="test error of every method against its swept number of neighbours k",
    draw=draw,
    caption=ERROR_CAPTION,
    options={"log": LOG},
)

METRIC_AGAINST = Figure(
    name="metric-against",
    about="any metric, including those of a method, against a swept parameter, mean and sd over the splits",
    draw=draw,
    caption=CAPTION.format("A metric"),
    options={
        "parameter": Word("swept parameter; default k"),
        "metric": Word("a metric of metrics.csv; default error"),
        "log": LOG,
        "log_y": Flag("a logarithmic vertical axis"),
    },
)
