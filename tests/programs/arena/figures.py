"""The two figures of the arena: coverage of each entry, and set size against what is not kept."""

from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd

matplotlib.use("Agg")
import matplotlib.pyplot as plt

COLOURS = {0.05: "#33658a", 0.1: "#d1495b", 0.2: "#5b8e3e"}


def draw(cells: pd.DataFrame, out: Path) -> None:
    """Write coverage.svg and sizes.svg from the cells (see `tables.cells_of`)."""
    means = cells.groupby(["entry", "level", "dataset"], sort=False)["coverage"].mean().reset_index()
    entries = list(means["entry"].unique())[::-1]
    figure, axes = plt.subplots(figsize=(7, 0.3 * len(entries) + 1.2), layout="constrained")
    for shift, (level, colour) in zip((0.25, 0, -0.25), COLOURS.items(), strict=True):
        for position, entry in enumerate(entries):
            values = means[(means["entry"] == entry) & (means["level"] == level)]["coverage"].dropna()
            excess = values - (1 - level)
            axes.plot(excess, [position + shift] * len(values), "|", color=colour, alpha=0.3, markersize=5)
            label = f"level {level}" if position == 0 else None
            axes.plot(excess.mean(), position + shift, "o", color=colour, markersize=4, label=label)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(entries)), entries)
    axes.set_xlabel("coverage minus (1 - level): mean of the data sets (dot), each data set (line)")
    axes.legend(loc="lower left", fontsize=8)
    figure.savefig(out / "coverage.svg", metadata={"Date": None})
    plt.close(figure)

    at = cells[cells["level"] == 0.1]
    plain = at[at["entry"] == "confml split"].set_index(["base", "dataset"])["size"]
    means = plain.groupby("dataset").mean()
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for entry, group in at.groupby("entry", sort=False):
        # Sizes relative to confml split around the same classifier, or around all four of them.
        keys = zip(group["base"], group["dataset"], strict=True)
        beside = [means[dataset] if base == "any" else plain[base, dataset] for base, dataset in keys]
        ratio = (group["size"] / np.array(beside)).mean()
        failed = 100 * (group["outcome"] != "kept").mean()
        axes.plot(failed, ratio, "o", color="#33658a")
        axes.annotate(entry, (failed, ratio), fontsize=7, xytext=(4, 2), textcoords="offset points")
    axes.set_xlabel("cells refused or broken, %")
    axes.set_ylabel("set size, relative to plain split conformal")
    figure.savefig(out / "sizes.svg", metadata={"Date": None})
    plt.close(figure)
