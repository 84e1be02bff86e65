"""The two figures of the arena: coverage of each entry, and set size against what is not kept."""

from pathlib import Path

import matplotlib
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
    answered = at.pivot_table(index=["base", "dataset"], columns="entry", values="size")
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for entry, group in at.groupby("entry", sort=False):
        # Sizes relative to confml split around the same classifier, on the cells that both answer.
        joined = group.join(answered["confml split"].rename("plain"), on=["base", "dataset"])
        alone = group["base"].eq("any")
        mean_plain = answered["confml split"].groupby("dataset").mean()
        joined.loc[alone, "plain"] = joined.loc[alone, "dataset"].map(mean_plain)
        ratio = (joined["size"] / joined["plain"]).mean()
        failed = (group["outcome"] != "kept").mean()
        axes.plot(100 * failed, ratio, "o", color="#33658a")
        axes.annotate(entry, (100 * failed, ratio), fontsize=7, xytext=(4, 2), textcoords="offset points")
    axes.set_xlabel("cells refused or broken, %")
    axes.set_ylabel("set size, relative to plain split conformal")
    figure.savefig(out / "sizes.svg", metadata={"Date": None})
    plt.close(figure)
