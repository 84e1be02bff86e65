"""False positives and false negatives of each class."""

from __future__ import annotations

import numpy as np

from confml.plugins.parameters import Integer
from confml.report.figures import Figure, NotApplicable, Subject, Variant
from confml.report.figures.panels import Panels
from confml.report.figures.style import BLUE, PAGE, VERMILION


def class_errors(subject: Subject, variant: Variant) -> dict[str, tuple[float, float]]:
    """Return (false positives, false negatives) by class, in sorted order, means over the splits."""
    counts: dict = {}
    splits = 0
    for prediction, truth, _ in subject.predictions(variant):
        splits += 1
        for label in np.union1d(prediction.classes, truth).tolist():
            false = counts.setdefault(label, [0, 0])
            false[0] += int(np.sum((prediction.labels == label) & (truth != label)))
            false[1] += int(np.sum((prediction.labels != label) & (truth == label)))
    return {str(label): (one / splits, other / splits) for label, (one, other) in sorted(counts.items())}


def draw(subject: Subject):
    found = {label: class_errors(subject, variant) for label, variant in subject.variants.items()}
    shown, title = subject.some_of(found, int(subject.option("panels", 12)))
    if not shown:
        raise NotApplicable("no cell is finished")
    classes = len(next(iter(shown.values())))
    if classes > 40:
        raise NotApplicable(f"{classes} classes are too many for bars")
    panels = Panels(len(shown), height=2.0, widths=(PAGE, PAGE, PAGE), sharey=True)
    bars = (("false positives", -0.2, BLUE), ("false negatives", 0.2, VERMILION))
    for axes, (label, errors) in zip(panels.axes, shown.items(), strict=True):
        places = np.arange(len(errors))
        for part, (name, offset, colour) in enumerate(bars):
            heights = [pair[part] for pair in errors.values()]
            panels.handles[name] = axes.bar(places + offset, heights, width=0.38, color=colour)
        axes.set_xticks(places, list(errors))
        axes.set_title(label, loc="left")
        axes.set_xlabel("class")
    panels.label_y("test examples")
    return panels.finish(f"{title}, means over splits")


FIGURE = Figure(
    name="class-errors",
    about="false positives and false negatives of each class on the test examples, means over the splits",
    draw=draw,
    caption="False positives and false negatives of each class on the test examples, means over the splits.",
    options={"panels": Integer("largest number of variants; default 12", low=1)},
)
