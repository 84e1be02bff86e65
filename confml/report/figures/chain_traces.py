"""Traces of Markov chains, to check convergence."""

import numpy as np

from confml.methods.details import ChainSummary
from confml.plugins.parameters import Integer
from confml.report.figures import Figure, NotApplicable, Subject
from confml.report.figures.style import PAGE, lines_of, new_figure
from confml.report.numbers.first_splits import FirstSplit


def draw(subject: Subject):
    """Draw one row per method (first split) and one column per quantity, with R-hat and effective sample
    size."""
    found: dict[str, tuple[str | None, ChainSummary]] = {}
    for name, one in subject.numbers(FirstSplit).items():
        if one.chains is not None:
            label = subject.results.label(subject.variants[name].cells[0])
            found.setdefault(label, (one.split, one.chains))
    if not found:
        raise NotApplicable("no finished method has chains")
    shown = dict(list(found.items())[: int(subject.option("panels", 6))])
    columns = max(len(chains.traces) for _, chains in shown.values())
    figure = new_figure(PAGE, 0.35 + 1.5 * len(shown))
    grid = figure.subplots(len(shown), columns, squeeze=False)
    for row, (label, (split, chains)) in enumerate(shown.items()):
        for column, axes in enumerate(grid[row]):
            if column >= len(chains.traces):
                axes.set_visible(False)
                continue
            name = list(chains.traces)[column]
            draws = np.array(chains.traces[name])
            places = np.arange(draws.shape[1]) * chains.every[name] + 1
            for trace, line in zip(draws, lines_of(len(draws)), strict=True):
                axes.plot(places, trace, color=line["color"], linewidth=0.5, alpha=0.8)
            axes.set_ylabel(name)
            axes.set_title(
                f"R-hat {chains.rhat[name]:.3f}, ESS {chains.ess[name]:.0f}", loc="right", fontsize=6
            )
            if column == 0:
                axes.set_title(f"{label}, split {split}\n", loc="left", fontsize=7)
            if row + 1 == len(shown):
                axes.set_xlabel("kept draw")
    figure.suptitle(f"{subject.dataset}: one colour per chain", x=0.01, ha="left", fontsize=8)
    return figure


FIGURE = Figure(
    name="chain-traces",
    about="traces of Markov chains by method, of the first split, with R-hat and effective sample size",
    draw=draw,
    numbers=(FirstSplit,),
    caption="Traces of the Markov chains of the first split, one colour per chain, with R-hat and the "
    "effective sample size (ESS).",
    options={"panels": Integer("largest number of methods; default 6", low=1)},
)
