"""Exchangeability martingales and errors of prediction regions over an online pass."""

import math

import numpy as np

from confml.measures.martingales import POWER
from confml.plugins.parameters import Number
from confml.report.figures import Figure, NotApplicable, Subject, numbers_of
from confml.report.figures.style import (
    BLACK,
    BLUE,
    COLUMN,
    GREEN,
    GREY,
    ORANGE,
    PAGE,
    PALETTE,
    PURPLE,
    SKY,
    VERMILION,
    Panels,
    legend_below,
    new_figure,
    power,
)
from confml.report.numbers.outcomes import MartingalePath, martingale_paths, online_errors

COLOURS = (VERMILION, BLUE, GREEN, ORANGE, PURPLE, SKY)
RUIN = 0.01  # the significance of Ville's line


def draw(subject: Subject):
    """Draw one colour per data set, variant and order; the splits of a shuffled order share a colour."""
    epsilon = float(subject.option("epsilon", POWER))
    results = subject.results
    lines: dict[str, list[MartingalePath]] = {}
    begins: dict[str, int] = {}
    several = len({cell.dataset for cell in results.cells}) > 1
    variants = len({(cell.method, cell.variant) for cell in results.cells}) > 1
    for dataset in dict.fromkeys(cell.dataset for cell in results.cells):
        of_dataset = subject.of_dataset(dataset)
        for name, paths in of_dataset.numbers(martingale_paths).items():
            variant = of_dataset.variants[name]
            for path in paths:
                given = path.split == "given"
                label = results.label(variant.cells[0])
                parts = [dataset if several else "", label if variants else ""]
                line = ", ".join(filter(None, [*parts, "as given" if given else "shuffled"]))
                lines.setdefault(line, []).append(path)
                if given and (rows := results.datasets[dataset].train_rows):
                    begins[dataset] = rows - path.begin
    if not lines:
        raise NotApplicable("there is no online pass (protocol: online)")
    figure = new_figure(PAGE * 0.75, 3.0)
    axes = figure.add_subplot()
    handles: dict[str, object] = {}
    for number, (name, passes) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        for path in passes:
            thin = 1.0 if len(passes) == 1 else 0.7
            (line,) = axes.plot(path.steps, path.mixture, color=colour, linewidth=1.3 * thin)
            handles.setdefault(f"simple mixture, {name}", line)
            (line,) = axes.plot(path.steps, path.power, color=colour, linewidth=0.8 * thin, linestyle="--")
            handles.setdefault(f"power {epsilon:g}, {name}", line)
    ville = axes.axhline(-math.log10(RUIN), color=BLACK, linewidth=0.8, linestyle=":")
    handles[f"reached with probability {RUIN:g} at most"] = ville
    axes.axhline(0, color=GREY, linewidth=0.5)
    for begin in {rows for rows in begins.values() if rows > 0}:
        axes.axvline(begin, color=GREY, linewidth=0.8)
        axes.annotate(
            "test part begins \n(as given) ",
            (begin, 1),
            xycoords=("data", "axes fraction"),
            ha="right",
            va="top",
            fontsize=7,
            color="0.35",
        )
    axes.set_xlim(0, max(path.steps[-1] for passes in lines.values() for path in passes))
    axes.set_ylim(bottom=max(axes.get_ylim()[0], -0.6 * max(axes.get_ylim()[1], 5)))
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.yaxis.set_major_formatter(lambda value, _: power(10, value))
    axes.set_xlabel("examples learnt")
    axes.set_ylabel("martingale")
    names = {cell.dataset for cell in results.cells}
    axes.set_title(next(iter(names)) if len(names) == 1 else subject.dataset, loc="left")
    legend_below(figure, list(handles.values()), list(handles))
    return figure


FIGURE = Figure(
    name="exchangeability",
    about="exchangeability martingales of an online pass; large values are evidence against exchangeability",
    draw=draw,
    collects=numbers_of(martingale_paths),
    caption="Martingales against exchangeability over an online pass, on a logarithmic scale: simple mixture "
    "(solid) and power martingale (dashed). If the examples are exchangeable, a martingale reaches "
    "the dotted line with probability 1 % at most.",
    options={"epsilon": Number("epsilon of the power martingale", low=0, high=1, low_open=True)},
    across=True,
)


PANELS = 6


def draw_errors(subject: Subject):
    from matplotlib.patches import Patch
    from scipy.stats import binom

    levels = np.array(sorted(map(float, subject.results.config.levels)))
    if not len(levels):
        raise NotApplicable("the config has no levels")
    shown, title = subject.some_of(
        subject.numbers(online_errors), PANELS, "there is no online pass (protocol: online)"
    )
    top = 100 * float(subject.option("max_error", min(1.0, 2 * levels[-1])))
    widths = COLUMN * 1.15, PAGE * 0.75, PAGE
    grouped = subject.results.has_groups(subject.dataset)
    panels = Panels(len(shown), height=2.3, top=0.2, widths=widths, sharex=True, sharey=True)
    for axes, (name, splits) in zip(panels.axes, shown.items(), strict=True):
        steps = max((steps for steps, _ in splits), key=lambda one: one[-1])
        for place, level in enumerate(levels):
            colour = PALETTE[place % (len(PALETTE) - 1)]
            if not grouped:
                low, high = (binom.ppf(quantile, steps, level) / steps for quantile in (0.025, 0.975))
                axes.fill_between(steps, 100 * low, 100 * high, color=colour, alpha=0.18, linewidth=0)
            axes.axhline(100 * level, color=BLACK, linewidth=0.5, linestyle=":")
            for own, shares in splits:
                width = 1.2 if len(splits) == 1 else 0.7
                (line,) = axes.plot(own, 100 * shares[place], color=colour, linewidth=width)
            panels.handles.setdefault(f"level {100 * level:g} %", line)
        axes.set_xlim(0, steps[-1])
        axes.set_ylim(0, top)
        axes.set_title(name, loc="left", fontsize=7)
    # Each band has the colour of its line.
    if not grouped:
        panels.handles["95 % binomial band"] = Patch(color=GREY, alpha=0.35, linewidth=0)
    panels.label_x("examples predicted")
    return panels.finish(title, "regions without the true label, so far (%)")


ERRORS = Figure(
    name="online-errors",
    about="errors of prediction regions over an online pass, at each level, with 95 % binomial bands",
    draw=draw_errors,
    collects=numbers_of(online_errors),
    caption="Share of regions without the true label among the examples so far, at each significance level"
    " (dotted lines), one line per order. Bands: pointwise central 95 % of the binomial "
    "distribution at the level, approximate if labels arrive later; none for data with groups. A valid path "
    "leaves them at some step with a probability above 5 %.",
    options={"max_error": Number("largest error shown", low=0, high=1, low_open=True)},
)
