"""Exchangeability martingales over an online pass."""

from __future__ import annotations

import math

import numpy as np

from confml.measures import Case
from confml.measures.martingales import POWER, learnt_examples, power_martingale, simple_mixture
from confml.plugins.parameters import Number
from confml.report.figures import Figure, NotApplicable, Subject
from confml.report.figures.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PAGE,
    PURPLE,
    SKY,
    VERMILION,
    legend_below,
    new_figure,
    power,
)

COLOURS = (VERMILION, BLUE, GREEN, ORANGE, PURPLE, SKY)
MOST = 2000  # points of a line
RUIN = 0.01  # the significance of Ville's line


def draw(subject: Subject):
    """Draw one colour per data set, variant and order; the splits of a shuffled order share a colour."""
    epsilon = float(subject.option("epsilon", POWER))
    results = subject.results
    lines: dict[str, list[np.ndarray]] = {}
    begins: dict[str, int] = {}
    several = len({cell.dataset for cell in results.cells}) > 1
    variants = len({(cell.method, cell.variant) for cell in results.cells}) > 1
    for cell in results.cells:
        if cell.key not in results.results:
            continue
        result = results.results[cell.key]
        for prediction in result.views.values():
            case = Case(prediction, result.truth)
            learnt = learnt_examples(case)
            if learnt is None or not len(learnt.p):
                continue
            p = learnt.p
            order = "as given" if cell.split == "given" else "shuffled"
            parts = [cell.dataset if several else "", results.label(cell) if variants else "", order]
            lines.setdefault(", ".join(filter(None, parts)), []).append(p)
            if cell.split == "given" and (rows := results.datasets[cell.dataset].train_rows):
                begins[cell.dataset] = rows - int(prediction.extra["learnt"][0])
    if not lines:
        raise NotApplicable("there is no online pass (protocol: online)")
    figure = new_figure(PAGE * 0.75, 3.0)
    axes = figure.add_subplot()
    handles: dict[str, object] = {}
    for number, (name, passes) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        for p in passes:
            steps = np.unique(np.rint(np.linspace(1, len(p), MOST)).astype(int))
            thin = 1.0 if len(passes) == 1 else 0.7
            (line,) = axes.plot(steps, simple_mixture(p)[steps - 1], color=colour, linewidth=1.3 * thin)
            handles.setdefault(f"simple mixture, {name}", line)
            values = power_martingale(p, epsilon)[steps - 1]
            (line,) = axes.plot(steps, values, color=colour, linewidth=0.8 * thin, linestyle="--")
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
    axes.set_xlim(0, max(len(p) for passes in lines.values() for p in passes))
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
    caption="Martingales against exchangeability over an online pass, on a logarithmic scale: simple mixture "
    "(solid) and power martingale (dashed). If the examples are exchangeable, a martingale reaches "
    "the dotted line with probability 1 % at most.",
    options={"epsilon": Number("epsilon of the power martingale", low=0, high=1, low_open=True)},
    across=True,
)
