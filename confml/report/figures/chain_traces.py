"""Traces of the Markov chains of the first split."""

import numpy as np

from confml.methods.details import ChainSummary
from confml.report.figures.figure import DatasetResults, Figure, NotApplicable, of_views
from confml.report.figures.style import PAGE, line_of, new_figure
from confml.report.numbers.outcomes import first_split

METHODS = 6


def draw(data: DatasetResults):
    """Traces of the Markov chains of the first split, one colour per chain, with R-hat and the effective
    sample size (ESS); at most six methods.
    """
    chains: dict[str, ChainSummary] = {}
    for label, first in data.collected(first_split).items():
        if first.chains is not None:
            chains.setdefault(f"{data.views[label].label}, split {first.split}", first.chains)
    if not chains:
        raise NotApplicable("no finished method has chains")
    chains = dict(list(chains.items())[:METHODS])
    columns = max(len(summary.traces) for summary in chains.values())
    figure = new_figure(PAGE, 0.35 + 1.5 * len(chains))
    grid = figure.subplots(len(chains), columns, squeeze=False)
    for row, (title, summary) in zip(grid, chains.items(), strict=True):
        for axes in row[len(summary.traces) :]:
            axes.set_visible(False)
        for axes, (name, draws) in zip(row, summary.traces.items(), strict=False):
            for number, trace in enumerate(np.array(draws)):
                steps = np.arange(len(trace)) * summary.every[name] + 1
                axes.plot(steps, trace, color=line_of(number)["color"], linewidth=0.5, alpha=0.8)
            axes.set_ylabel(name)
            axes.set_title(
                f"R-hat {summary.rhat[name]:.3f}, ESS {summary.ess[name]:.0f}", loc="right", fontsize=6
            )
        row[0].set_title(f"{title}\n")
    for axes in grid[-1]:
        axes.set_xlabel("kept draw")
    figure.suptitle(f"{data.name}: one colour per chain", x=0.01, ha="left")
    return figure


CHAIN_TRACES = Figure(draw, collects=of_views(first_split))
