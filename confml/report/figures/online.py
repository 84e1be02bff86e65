"""Exchangeability martingales and errors of prediction regions over an online pass."""

import math

from confml.report.figures.figure import DatasetResults, Figure, NotApplicable, of_views
from confml.report.figures.style import PAGE, PALETTE, Panels, line_of, power
from confml.report.numbers.outcomes import MartingalePath, martingale_paths, online_errors

RUIN = 0.01  # the significance of Ville's line
PANELS = 6


def draw_martingales(data: DatasetResults):
    """Martingales against exchangeability over an online pass, on a logarithmic scale: simple mixture (solid)
    and power martingale (dashed). If the examples are exchangeable, a martingale reaches the dotted line with
    probability 1 % at most.
    """
    run = data.run
    lines: dict[str, list[MartingalePath]] = {}
    begins: set[int] = set()
    names = list(dict.fromkeys(cell.dataset for cell in run.cells))
    for name in names:
        of_dataset = DatasetResults(run, name)
        for label, paths in of_dataset.collected(martingale_paths).items():
            for path in paths:
                order = "as given" if path.split == "given" else "shuffled"
                line = f"{of_dataset.views[label].label}, {order}"
                lines.setdefault(f"{name}: {line}" if len(names) > 1 else line, []).append(path)
                if order == "as given" and (rows := run.datasets[name].train_rows):
                    begins.add(rows - path.begin)
    if not lines:
        raise NotApplicable("there is no online pass (protocol: online)")
    panels = Panels(1, height=2.7, width=PAGE * 0.75)
    (axes,), handles = panels.axes, panels.handles
    for number, (name, paths) in enumerate(lines.items()):
        look = {"color": line_of(number)["color"], "linewidth": 1.2 if len(paths) == 1 else 0.8}
        for path in paths:
            (handles[f"simple mixture, {name}"],) = axes.plot(path.steps, path.mixture, **look)
            (handles[f"power, {name}"],) = axes.plot(path.steps, path.power, "--", **look)
    ville = axes.axhline(-math.log10(RUIN), color="black", linewidth=0.8, linestyle=":")
    handles[f"reached with probability {RUIN:g} at most"] = ville
    axes.axhline(0, color="0.6", linewidth=0.5)
    for begin in filter(lambda rows: rows > 0, begins):
        line = axes.axvline(begin, color="0.6", linewidth=0.8)
        handles["test part begins (as given)"] = line
    axes.set_xlim(0, max(path.steps[-1] for paths in lines.values() for path in paths))
    low, high = axes.get_ylim()
    axes.set_ylim(bottom=max(low, -0.6 * max(high, 5)))
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.yaxis.set_major_formatter(lambda value, _: power(10, value))
    return panels.finish(names[0] if len(names) == 1 else data.name, "examples learnt", "martingale")


EXCHANGEABILITY = Figure(draw_martingales, collects=of_views(martingale_paths), across=True)


def draw_errors(data: DatasetResults):
    """Share of regions without the true label among the examples so far, at each significance level (dotted
    lines), one line per order. Bands: pointwise central 95 % of the binomial distribution at the level; none
    for data with groups. A valid path leaves them at some step with a probability above 5 %.
    """
    from matplotlib.patches import Patch
    from scipy.stats import binom

    levels = sorted(map(float, data.run.config.levels))
    if not levels:
        raise NotApplicable("the config has no levels")
    shown, title = data.shown(
        data.collected(online_errors), PANELS, "there is no online pass (protocol: online)"
    )
    grouped = data.run.has_groups(data.name)
    panels = Panels(len(shown), height=2.3, sharex=True, sharey=True)
    for axes, (name, splits) in zip(panels.axes, shown.items(), strict=True):
        longest = max((steps for steps, _ in splits), key=max)
        for number, level in enumerate(levels):
            colour = PALETTE[number % (len(PALETTE) - 1)]
            if not grouped:
                low, high = (100 * binom.ppf(q, longest, level) / longest for q in (0.025, 0.975))
                axes.fill_between(longest, low, high, color=colour, alpha=0.18, linewidth=0)
            axes.axhline(100 * level, color="black", linewidth=0.5, linestyle=":")
            for steps, shares in splits:
                width = 1.2 if len(splits) == 1 else 0.7
                (line,) = axes.plot(steps, 100 * shares[number], color=colour, linewidth=width)
            panels.handles.setdefault(f"level {100 * level:g} %", line)
        axes.set(xlim=(0, longest[-1]), ylim=(0, 100 * min(1.0, 2 * levels[-1])))
        axes.set_title(name)
    if not grouped:  # each band has the colour of its line
        panels.handles["95 % binomial band"] = Patch(color="0.6", alpha=0.35, linewidth=0)
    return panels.finish(title, "examples predicted", "regions without the true label, so far (%)")


ONLINE_ERRORS = Figure(draw_errors, collects=of_views(online_errors))
