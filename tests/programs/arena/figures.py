"""The two figures of the arena: coverage of each entry, and outcomes with set sizes."""

from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd

matplotlib.use("Agg")
import matplotlib.pyplot as plt

COLOURS = {0.05: "#33658a", 0.1: "#d1495b", 0.2: "#5b8e3e"}
OUTCOMES = {"kept": "#a9c5a0", "refused": "#cccccc", "broken": "#d1495b"}


def draw(cells: pd.DataFrame, out: Path) -> None:
    """Write arena-coverage.svg and arena-sizes.svg from the cells (see `tables.cells_of`)."""
    means = cells.groupby(["entry", "level", "dataset"], sort=False)["coverage"].mean().reset_index()
    entries = list(means["entry"].unique())[::-1]
    figure, axes = plt.subplots(figsize=(7, 0.3 * len(entries) + 1.2), layout="constrained")
    for shift, (level, colour) in zip((0.25, 0, -0.25), COLOURS.items(), strict=True):
        for position, entry in enumerate(entries):
            values = means[(means["entry"] == entry) & (means["level"] == level)]["coverage"].dropna()
            excess = values - (1 - level)
            heights = [position + shift] * len(values)
            # rasterized: in a tenth of the file
            axes.plot(excess, heights, "|", color=colour, alpha=0.3, markersize=5, rasterized=True)
            label = f"level {level}" if position == 0 else None
            axes.plot(excess.mean(), position + shift, "o", color=colour, markersize=4, label=label)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(entries)), entries)
    axes.set_xlabel("coverage minus (1 - level): mean (dot), data sets (lines)")
    axes.legend(loc="lower left", fontsize=8)
    figure.savefig(out / "arena-coverage.svg", metadata={"Date": None}, dpi=200)
    plt.close(figure)

    at = cells[cells["level"] == 0.1]
    plain = at[at["entry"] == "confml split"].set_index(["base", "dataset"])["size"]
    means = plain.groupby("dataset").mean()
    shape = {"sharey": True, "width_ratios": (1, 1.3), "figsize": (7, 0.24 * len(entries) + 1)}
    figure, (left, right) = plt.subplots(1, 2, layout="constrained", **shape)
    for position, entry in enumerate(entries):
        group, start = at[at["entry"] == entry], 0.0
        for outcome, colour in OUTCOMES.items():
            share = 100 * (group["outcome"] == outcome).mean()
            label = outcome if position == 0 else None
            left.barh(position, share, left=start, color=colour, height=0.7, label=label)
            start += share
        # Sizes relative to confml split around the same classifier, or around all four of them.
        keys = zip(group["base"], group["dataset"], strict=True)
        beside = [means[dataset] if base == "any" else plain[base, dataset] for base, dataset in keys]
        ratios = (group["size"] / np.array(beside)).dropna()
        if len(ratios):
            right.boxplot(
                ratios, positions=[position], orientation="horizontal", showfliers=False, widths=0.6
            )
    right.axvline(1, color="black", linewidth=0.8)
    right.set_yticks(range(len(entries)), entries)
    left.set_xlabel("cells, %")
    left.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize=8, frameon=False)
    right.set_xlabel("set size relative to confml split")
    figure.savefig(out / "arena-sizes.svg", metadata={"Date": None})
    plt.close(figure)
