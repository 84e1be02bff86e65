"""Mean ranks of methods by several columns, as a shaded table: the figure of the leaderboard."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confml.report.figures.style import PAGE, new_figure
from confml.report.leaderboard import RankedColumn, order


def draw(ranked: Sequence[RankedColumn]):
    """Draw one row per entry and one column per ranked column; dark for the best ranks.

    The shade is the mean rank relative to the number of entries of its column. A dot marks entries
    that are not shown to differ from the best one.
    """
    from matplotlib import colormaps

    shown = [one for one in ranked if one.ranks is not None]
    mean_ranks = [one.ranks.mean_ranks for one in ranked if one.ranks is not None]
    entries = list(dict.fromkeys(entry for one in shown for entry in one.entries))
    entries = order(entries, shown[0])
    shades = np.full((len(entries), len(shown)), np.nan)
    figure = new_figure(PAGE, 1.1 + 0.19 * len(entries))
    axes = figure.add_subplot()
    for column, one in enumerate(shown):
        k = len(one.entries)
        for place, entry in enumerate(one.entries):
            row = entries.index(entry)
            rank = float(mean_ranks[column][place])
            shades[row, column] = 1 - (rank - 1) / max(k - 1, 1)
            dark = shades[row, column] > 0.6
            text = f"{rank:.1f}" + (" \N{BULLET}" if one.near_best(place) else "")
            axes.text(
                column, row, text, ha="center", va="center", fontsize=6.5, color="white" if dark else "black"
            )
    axes.imshow(np.ma.masked_invalid(shades), cmap=colormaps["Blues"], vmin=-0.1, vmax=1.1, aspect="auto")
    axes.set_xticks(range(len(shown)), [_broken(one.column.heading) for one in shown], fontsize=6.5)
    axes.xaxis.tick_top()
    axes.set_yticks(range(len(entries)), [entry.name for entry in entries])
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    numbers = sorted({len(one.datasets) for one in shown})
    several = f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else str(numbers[0])
    axes.set_xlabel(f"mean ranks over {several} data sets (1 is best)")
    return figure


def _broken(heading: str) -> str:
    """Return a heading over two lines or three."""
    words = heading.split()
    if len(words) < 2:
        return heading
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) < 9:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return "\n".join(lines)
