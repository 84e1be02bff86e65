"""Errors and sizes of regions in the groups of ``by``."""

import numpy as np
import pandas as pd

from confml.report.figures.figure import DatasetResults, Figure
from confml.report.figures.style import COLUMN, Panels
from confml.report.run.cells import with_details
from confml.report.tables.groups import COLUMNS, UNSEEN, errors_of_groups, levels_of, regions_of

METHODS = 6


def draw(data: DatasetResults):
    """Errors and sizes of the regions in each group of by. Above: error rate with Clopper-Pearson intervals
    at 95 % for one group; the line is the significance level, the smallest of the config. Below: mean number
    of labels of a region. Each test row counts once. At most six methods are drawn.
    """
    level = min(levels_of(data.run), default=0.0)
    views: dict[str, list] = {}
    frame = pd.DataFrame(errors_of_groups(data.run), columns=COLUMNS.split())
    frame = frame[(frame["dataset"] == data.name) & (frame["level"] == level) & (frame["group"] != UNSEEN)]
    for line in frame.to_dict("records"):
        for name in {with_details(line["label"], line["view"]), line["label"]} & data.views.keys():
            views.setdefault(name, []).append(line)
    shown, title = data.shown(views, METHODS, "no method has groups (by)")
    groups = list(dict.fromkeys((line["by"], line["group"]) for lines in shown.values() for line in lines))
    panels = Panels(2, height=2.0, columns=1, width=COLUMN * 1.6, sharex=True)
    upper, lower = panels.axes
    for number, (name, lines) in enumerate(shown.items()):
        shift = 0.8 * ((number + 0.5) / len(shown) - 0.5)
        x = [groups.index((line["by"], line["group"])) + shift for line in lines]
        error, low, high = 100 * np.array([(line["error"], line["low"], line["high"]) for line in lines]).T
        ends = np.maximum([error - low, high - error], 0.0)
        look = {"color": data.look(name)["color"], "markersize": 3, "clip_on": False}
        panels.handles[name] = upper.errorbar(x, error, ends, fmt="o", elinewidth=0.7, **look)
        lower.plot(x, [line["mean_size"] for line in lines], "o", **look)
    upper.axhline(100 * level, color="black", linewidth=0.5)
    upper.set(ylabel="error (%)", ylim=(0, None))
    lower.set(ylabel="mean set size", ylim=(0, None))
    names = [group for _, group in groups]
    is_crowded = sum(0.07 * len(name) + 0.1 for name in names) > 1.5 * COLUMN
    lower.set_xticks(range(len(names)), names, rotation=90 * is_crowded, fontsize=6)
    lower.set_xlim(-0.6, len(names) - 0.4)
    return panels.finish(f"{title}, significance level {level:g}")


GROUPS = Figure(draw, collects=lambda run, options: [regions_of])
