"""Credibility of test examples of absent classes and of known classes."""

import numpy as np

from confml.report.figures import Figure, NotApplicable, Subject
from confml.report.figures.style import BLACK, GREY, Panels, lines_of
from confml.report.numbers.outcomes import AbsentClasses

PANELS = 12
CLASSES = 6  # absent classes with a line each


def draw(subject: Subject):
    found = {label: one for label, one in subject.numbers(AbsentClasses).items() if len(one.values) > 1}
    if not found:
        raise NotApplicable("no test example is of a class that is absent from training (protocol: absent)")
    shown, title = subject.some_of(found, PANELS)
    absent = sorted({label for one in shown.values() for label in one.values if label is not None}, key=str)
    panels = Panels(len(shown), height=2.2, top=0.35, sharey=True)
    looks = dict(zip(absent[:CLASSES], lines_of(len(absent[:CLASSES])), strict=True))
    for axes, (name, one) in zip(panels.axes, shown.items(), strict=True):
        for label in [None, *looks]:
            if label not in one.values:
                continue
            x = one.values[label]
            y = np.arange(1, len(x) + 1) / len(x)
            look = {"color": BLACK, "linewidth": 1.5}
            if label is not None:
                look = looks[label] | {"marker": "", "linewidth": 1.1}
            (line,) = axes.plot(np.r_[min(0.0, x[0]), x, max(1.0, x[-1])], 100 * np.r_[0, y, 1],
                                drawstyle="steps-post", **look)  # fmt: skip
            text = "classes in training" if label is None else f"class {label}, absent"
            panels.handles.setdefault(text, line)
        axes.set_title(name, loc="left", fontsize=7)
        if one.kind == "p-value":
            (diagonal,) = axes.plot([0, 1], [0, 100], color=GREY, linewidth=0.8, linestyle="--")
            panels.handles.setdefault("uniform p-values", diagonal)
            axes.set_xlabel("credibility")
        else:
            axes.set_xlabel(f"confidence ({one.kind})")
        axes.set_ylim(0, 101)
        if one.kind != "margin":
            axes.set_xlim(0, 1)
    if len(absent) > CLASSES:
        title += f"; {CLASSES} of {len(absent)} absent classes"
    return panels.finish(title, "test examples at or below (%)")


FIGURE = Figure(
    name="absent-classes",
    about="credibility (or confidence) of test examples of absent classes and of known classes",
    draw=draw,
    numbers=(AbsentClasses,),
    caption="Share of test examples with at most this credibility (confidence for views without "
    "p-values), "
    "all splits pooled, per absent class (at most 6) and for the classes in training together. The "
    "dashed line "
    "is that of uniform p-values.",
)
