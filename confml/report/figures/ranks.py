"""Mean ranks of the methods over data sets: a critical-difference diagram, and the leaderboard's table."""

from collections.abc import Mapping
from typing import Any

from confml.errors import ConfmlError
from confml.plugins.parameters import Number
from confml.report.answers.datasets import Ranking, ranking
from confml.report.declared import ranking_metric
from confml.report.figures import Figure, NotApplicable, Subject
from confml.report.figures.curves import Word
from confml.report.figures.style import BLACK, BLUE, GREY, PAGE, new_figure


def ranks_options(options) -> tuple[str, float, str | None, str | None]:
    """Return the options of a ``ranks`` figure: metric, level, methods and data sets to omit."""
    metric, level = options.get("metric", "error"), float(options.get("level", 0.05))
    return metric, level, options.get("without"), options.get("skip")


def draw(subject: Subject):
    """Draw Demsar's diagram: best to the left; bars join methods that are not shown to differ."""
    metric, level, without, skip = ranks_options(subject.options)
    try:
        found = ranking(subject.results, metric, level, without, skip)
    except ConfmlError as error:
        raise NotApplicable(error.message) from None
    if found is None:
        raise NotApplicable(f"ranks by {metric} need two data sets with two finished methods")
    outcome, k = found.comparison, len(found.labels)
    order = sorted(range(k), key=lambda place: (outcome.mean_ranks[place], place))
    half = (k + 1) // 2
    groups = found.verdict.groups()
    depth = 0.35 + 0.14 * len(groups)
    figure = new_figure(PAGE, 0.75 + 0.14 * len(groups) + 0.2 * half)
    axes = figure.add_subplot()
    axes.set_xlim(1 - 0.9 * (k - 1), k + 0.9 * (k - 1))
    axes.set_ylim(-(depth + 0.2 * half), 0.75)
    axes.axis("off")
    axes.plot([1, k], [0, 0], color=BLACK, linewidth=0.8)
    for rank in range(1, k + 1):
        axes.plot([rank, rank], [0, 0.06], color=BLACK, linewidth=0.8)
        axes.text(rank, 0.1, str(rank), ha="center", va="bottom", fontsize=7)
    for number, group in enumerate(groups):
        ranks = outcome.mean_ranks[group]
        height = -0.14 * (number + 1)
        axes.plot(
            [ranks.min() - 0.03, ranks.max() + 0.03],
            [height, height],
            color=BLUE,
            linewidth=3,
            solid_capstyle="butt",
        )
    for number, place in enumerate(order):
        left = number < half
        line = number if left else k - 1 - number
        rank, height = outcome.mean_ranks[place], -(depth + 0.2 * line)
        end = 1 - 0.06 * k if left else k + 0.06 * k
        beside = end - 0.05 if left else end + 0.05
        axes.plot([rank, rank, end], [0, height, height], color=GREY, linewidth=0.6)
        text = f"{found.labels[place]}  {rank:.2f}" if left else f"{rank:.2f}  {found.labels[place]}"
        axes.text(beside, height, text, ha="right" if left else "left", va="center", fontsize=7)
    axes.text(1, 0.45, _verdict(found), ha="left", va="bottom", fontsize=7)
    title = f"mean ranks by {found.heading}, {len(found.datasets)} data sets (1: the best)"
    figure.suptitle(title, x=0.01, ha="left", fontsize=8)
    return figure


def _verdict(found: Ranking) -> str:
    """Return the verdict in one line."""
    if not found.verdict.testable:
        return f"too few data sets for a test (at least {found.verdict.needed})"
    p = f"Friedman p = {found.comparison.f_p_value:.2g}"
    return f"{p}; bars: Wilcoxon with Holm" if found.verdict.differs else f"{p}: no difference shown"


def check(options: Mapping[str, Any]) -> None:
    """Raise ConfmlError for a metric that cannot be ranked."""
    if "metric" in options:
        ranking_metric(options["metric"])


FIGURE = Figure(
    name="ranks",
    about="mean ranks over all data sets, bars join what is not shown to differ (metric: error, ari ...)",
    draw=draw,
    caption="Mean ranks of the methods over the data sets, 1 for the best. Bars join methods that are not "
    "shown to differ (Wilcoxon's test with Holm's correction over all pairs, 5 %); there are none if "
    "Friedman's test shows no difference, or if the data sets are too few for a test.",
    options={
        "metric": Word("a metric of metrics.csv, or training_seconds, or seconds_per_configuration"),
        "without": Word("omit methods whose label contains this text"),
        "skip": Word("omit data sets whose name contains this text"),
        "level": Number(
            "significance level of Nemenyi's test in the table; default 0.05",
            low=0,
            high=1,
            low_open=True,
            high_open=True,
        ),
    },
    across=True,
    check=check,
)
