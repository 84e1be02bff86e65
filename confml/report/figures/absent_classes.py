"""Credibility of test examples of classes that are absent from training."""

from typing import Any

from confml.report.figures.figure import DatasetResults, Figure, of_views
from confml.report.figures.style import Panels, line_of
from confml.report.numbers.outcomes import absent_classes

PANELS = 12
CLASSES = 6  # absent classes with a line each


def draw(data: DatasetResults):
    """Share of test examples with at most this credibility (confidence for views without p-values), all
    splits pooled, per absent class (at most 6) and for the classes in training together. The dashed line is
    that of uniform p-values.
    """
    views = {
        label: absence for label, absence in data.collected(absent_classes).items() if len(absence.values) > 1
    }
    shown, title = data.shown(
        views, PANELS, "no test example is of a class that is absent from training (protocol: absent)"
    )
    absent = {label for absence in shown.values() for label in absence.values if label is not None}
    looks: dict[Any, dict[str, Any]] = {None: {"color": "black", "linewidth": 1.5}}
    for number, label in enumerate(sorted(absent, key=str)[:CLASSES]):
        looks[label] = line_of(number) | {"marker": ""}
    panels = Panels(len(shown), height=2.2, sharey=True)
    for axes, (name, absence) in zip(panels.axes, shown.items(), strict=True):
        for label, look in looks.items():
            if label in absence.values:
                text = "classes in training" if label is None else f"class {label}, absent"
                panels.handles[text] = axes.ecdf(absence.values[label], **look)
        if absence.kind == "p-value":
            (panels.handles["uniform p-values"],) = axes.plot([0, 1], [0, 1], color="0.6", linestyle="--")
        axes.set_title(name)
        axes.set_xlabel("credibility" if absence.kind == "p-value" else f"confidence ({absence.kind})")
        axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f}")
        axes.set_ylim(0, 1.01)
        if absence.kind != "margin":
            axes.set_xlim(0, 1)
    if len(absent) > CLASSES:
        title += f"; {CLASSES} of {len(absent)} absent classes"
    return panels.finish(title, y_label="test examples at or below (%)")


ABSENT_CLASSES = Figure(draw, collects=of_views(absent_classes))
