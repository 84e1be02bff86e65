"""Errors of prediction regions over an online pass, at each significance level."""

from __future__ import annotations

import numpy as np

from confml.measures import Case
from confml.measures.p_values import is_online
from confml.plugins.parameters import Number
from confml.report.figures import Figure, NotApplicable, Subject
from confml.report.figures.panels import Panels
from confml.report.figures.style import BLACK, COLUMN, GREY, PAGE, PALETTE

PANELS = 6
MOST = 1500  # points per line, enough for a page


def error_rates(subject: Subject, variant, levels: np.ndarray) -> list[np.ndarray]:
    """Return (levels, n) for each split: error rate among the first 1, 2, .. n steps; none if not online."""
    found = []
    for prediction, truth, _ in subject.predictions(variant):
        case = Case(prediction, truth)
        if not is_online(case) or not len(truth):
            return []
        p = prediction.scores[np.arange(len(truth)), case.true_columns]
        found.append(np.cumsum(p <= levels[:, None], axis=1) / np.arange(1, len(p) + 1))
    return found


def draw(subject: Subject):
    from matplotlib.patches import Patch
    from scipy.stats import binom

    levels = np.array(sorted(map(float, subject.results.config.levels)))
    if not len(levels):
        raise NotApplicable("the config has no levels")
    found = {label: error_rates(subject, variant, levels) for label, variant in subject.variants.items()}
    shown, title = subject.some_of({label: one for label, one in found.items() if one}, PANELS)
    if not shown:
        raise NotApplicable("there is no online pass (protocol: online)")
    top = 100 * float(subject.option("max_error", min(1.0, 2 * levels[-1])))
    widths = COLUMN * 1.15, PAGE * 0.75, PAGE
    grouped = subject.results.has_groups(subject.dataset)
    panels = Panels(len(shown), height=2.3, top=0.2, widths=widths, sharex=True, sharey=True)
    for axes, (name, splits) in zip(panels.axes, shown.items(), strict=True):
        n = max(one.shape[1] for one in splits)
        steps = np.unique(np.rint(np.geomspace(1, n, MOST)).astype(int))
        even = np.unique(np.rint(np.linspace(1, n, MOST)).astype(int))
        steps = np.union1d(steps, even)
        for place, level in enumerate(levels):
            colour = PALETTE[place % (len(PALETTE) - 1)]
            if not grouped:
                low, high = (binom.ppf(quantile, steps, level) / steps for quantile in (0.025, 0.975))
                axes.fill_between(steps, 100 * low, 100 * high, color=colour, alpha=0.18, linewidth=0)
            axes.axhline(100 * level, color=BLACK, linewidth=0.5, linestyle=":")
            for one in splits:
                (line,) = axes.plot(
                    steps[steps <= one.shape[1]],
                    100 * one[place, steps[steps <= one.shape[1]] - 1],
                    color=colour,
                    linewidth=1.2 if len(splits) == 1 else 0.7,
                )
            panels.handles.setdefault(f"level {100 * level:g} %", line)
        axes.set_xlim(0, n)
        axes.set_ylim(0, top)
        axes.set_title(name, loc="left", fontsize=7)
    # Each band has the colour of its line.
    if not grouped:
        panels.handles["95 % binomial band"] = Patch(color=GREY, alpha=0.35, linewidth=0)
    panels.label_x("examples predicted")
    return panels.finish(title, "regions without the true label, so far (%)")


FIGURE = Figure(
    name="online-errors",
    about="errors of prediction regions over an online pass, at each level, with 95 % binomial bands",
    draw=draw,
    caption="Fraction of regions without the true label among the examples so far, at each significance level"
    " (dotted lines), one line per order. Bands: pointwise central 95 % of the binomial "
    "distribution at the level, approximate if labels arrive later; none for data with groups. A valid path "
    "leaves them at some step with a probability above 5 %.",
    options={"max_error": Number("largest error shown", low=0, high=1, low_open=True)},
)
