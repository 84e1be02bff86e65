"""Confidence against credibility of single predictions, correct and wrong."""

from confml.plugins.parameters import Integer
from confml.report.figures import Figure, NotApplicable, Subject
from confml.report.figures.style import BLUE, COLUMN, PAGE, VERMILION, Panels
from confml.report.numbers.outcomes import Clouds


def draw(subject: Subject):
    from matplotlib.ticker import FuncFormatter, LogLocator

    clouds = {label: one.points for label, one in subject.numbers(Clouds).items()}
    if not clouds:
        raise NotApplicable("no method has p-values, and only p-values have a credibility")
    shown, title = subject.some_of(clouds, int(subject.option("panels", 12)))
    widths = COLUMN, PAGE, PAGE
    panels = Panels(len(shown), height=2.2, top=0.35, widths=widths, sharex=True, sharey=True)
    lowest = min(cloud[:, 1].min() for cloud in shown.values())
    for axes, (label, cloud) in zip(panels.axes, shown.items(), strict=True):
        right, wrong = cloud[cloud[:, 2] == 0], cloud[cloud[:, 2] == 1]
        look = {"rasterized": True, "linewidths": 0}
        dots = axes.scatter(*right[:, :2].T, s=4, color=BLUE, alpha=0.3, **look)
        hollow = {"facecolors": "none", "edgecolors": VERMILION, "linewidths": 0.6, "alpha": 0.8}
        circles = axes.scatter(*wrong[:, :2].T, s=10, marker="o", rasterized=True, **hollow)
        axes.set_yscale("log")
        axes.set_ylim(1.2, lowest / 1.3)
        axes.set_xlim(-0.02, 1.02)
        axes.yaxis.set_major_locator(LogLocator(10, numticks=6))
        axes.yaxis.set_major_formatter(FuncFormatter(_confidence))
        axes.minorticks_off()
        axes.set_title(label, loc="left")
        panels.handles = {"correct prediction": dots, "wrong prediction": circles}
    panels.label_y("confidence")
    panels.label_x("credibility")
    return panels.finish(title, markerscale=1.5)


def _confidence(second: float, _) -> str:
    return f"{1 - second:.10f}".rstrip("0").rstrip(".")


FIGURE = Figure(
    name="confidence-credibility",
    about="confidence against credibility of each test example, for correct and wrong predictions",
    draw=draw,
    numbers=(Clouds,),
    caption="Confidence (1 minus the second largest p-value) against credibility (the largest p-value), one "
    "mark per test example of all splits: dots for correct predictions, circles for wrong ones.",
    options={"panels": Integer("largest number of variants; default 12", low=1)},
)
