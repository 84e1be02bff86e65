"""Mean ranks of the methods over data sets as Demsar's diagram."""

from collections.abc import Mapping
from typing import Any

from confml.errors import ConfmlError
from confml.report.answers.datasets import Ranking, ranking
from confml.report.declared import ranking_metric
from confml.report.figures.curves import Word
from confml.report.figures.figure import DatasetResults, Figure, NotApplicable
from confml.report.figures.style import BLUE, PAGE, new_figure


def draw(data: DatasetResults, *, metric: str = "error", without: str = "", skip: str = ""):
    """Mean ranks of the methods over the data sets, 1 for the best. Bars join methods that are not shown to
    differ (Wilcoxon's test with Holm's correction over all pairs, 5 %); there are none if Friedman's test
    shows no difference, or if the data sets are too few for a test.
    """
    try:
        ranked = ranking(data.run, metric, without=without, skip=skip)
    except ConfmlError as error:
        raise NotApplicable(error.message) from None
    if ranked is None:
        raise NotApplicable(f"ranks by {metric} need two data sets with two finished methods")
    ranks, k = ranked.comparison.mean_ranks, len(ranked.labels)
    bars = ranked.groups()
    half = (k + 1) // 2
    line, bar = 0.2, 0.14  # heights in inches, the unit of the vertical axis
    bottom = -(0.35 + bar * len(bars) + line * half)
    figure = new_figure(PAGE, 1.0 - bottom)
    figure.suptitle(
        f"mean ranks by {ranked.heading}, {len(ranked.datasets)} data sets (1: the best); {_verdict(ranked)}",
        x=0.01,
        ha="left",
    )
    axes = figure.add_subplot()
    axes.set(xlim=(1 - 0.9 * (k - 1), k + 0.9 * (k - 1)), ylim=(bottom, 0.35))
    axes.axis("off")
    axes.plot([1, k], [0, 0], color="black", linewidth=0.8)
    for rank in range(1, k + 1):
        axes.plot([rank, rank], [0, 0.06], color="black", linewidth=0.8)
        axes.text(rank, 0.1, str(rank), ha="center", va="bottom", fontsize=7)
    for number, group in enumerate(bars):
        ends = [ranks[group].min() - 0.03, ranks[group].max() + 0.03]
        axes.plot(ends, [-bar * (number + 1)] * 2, color=BLUE, linewidth=3, solid_capstyle="butt")
    for number, method in enumerate(sorted(range(k), key=lambda method: (ranks[method], method))):
        is_left = number < half
        height = bottom + line * (half - (number if is_left else k - 1 - number))
        end = 1 - 0.06 * k if is_left else k + 0.06 * k
        axes.plot([ranks[method], ranks[method], end], [0, height, height], color="0.6", linewidth=0.6)
        words = ranked.labels[method], f"{ranks[method]:.2f}"
        text = "  ".join(words if is_left else reversed(words))
        side = "right" if is_left else "left"
        axes.text(end, height, f" {text} ", ha=side, va="center", fontsize=7)
    return figure


def _verdict(ranked: Ranking) -> str:
    """Return the verdict in one line."""
    if not ranked.testable:
        return f"too few data sets for a test (at least {ranked.needed})"
    p = f"Friedman p = {ranked.comparison.f_p_value:.2g}"
    return f"{p}; bars: Wilcoxon with Holm" if ranked.differs else f"{p}: no significant difference"


def check(options: Mapping[str, Any]) -> None:
    """Raise ConfmlError for a metric that cannot be ranked."""
    if "metric" in options:
        ranking_metric(options["metric"])


RANKS = Figure(
    draw,
    options={
        "metric": Word("a metric of metrics.csv, or training_seconds, or seconds_per_configuration"),
        "without": Word("omit methods whose label contains this text"),
        "skip": Word("omit data sets whose name contains this text"),
    },
    across=True,
    check=check,
)
