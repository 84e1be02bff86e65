"""Any metric against a swept parameter, including quantities of a method such as presentations."""

from __future__ import annotations

from numbers import Real

from confml.plugins.parameters import Flag
from confml.report.figures import Figure, NotApplicable, Subject
from confml.report.figures.curves import Point, draw_curves
from confml.report.figures.error_against import Word
from confml.report.summaries import mean_and_sd


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


def draw(subject: Subject):
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


FIGURE = Figure(
    name="metric-against",
    about="any metric, including those of a method, against a swept parameter, mean and sd over the splits",
    draw=draw,
    caption="A metric against a parameter of the methods, mean over the splits; bands: ± 1 sd over the "
    "splits.",
    options={
        "parameter": Word("swept parameter; default k"),
        "metric": Word("a metric of metrics.csv; default error"),
        "log": Flag("a logarithmic horizontal axis"),
        "log_y": Flag("a logarithmic vertical axis"),
    },
)
