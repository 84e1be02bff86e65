"""Figures of a Bayes error study: heat map and errors of classes."""

from pathlib import Path
from typing import Any

import numpy as np

from confml.bayes_error.rates import WIDE_BAND
from confml.report.bayes_error.study import Study
from confml.report.figures.style import (
    BLUE,
    COLUMN,
    FORMATS,
    PAGE,
    add_legend,
    new_figure,
    save,
    style,
)

WRITTEN = 12  # classes up to which the squares of a heat map hold numbers
NAMED = 40  # classes up to which each has its name on an axis
LONG = 12  # characters of a class's name


def heat_map(study: Study):
    """Draw the estimates of all pairs of classes, brighter for harder pairs."""
    figure = new_figure(4.0, 3.25)
    axes = figure.add_subplot()
    draw_estimates(axes, study)
    axes.set_title(f"{study.name}: estimates")
    return figure


def draw_estimates(axes, study: Study) -> None:
    """Draw the estimates of all pairs of classes."""
    label = "estimated Bayes error / smaller prior (%)"
    draw_pairs(axes, 100 * study.errors.pairwise.estimate, label, study.classes.tolist())


def draw_pairs(axes, values: np.ndarray, label: str, classes: list) -> None:
    """Draw a number for each pair of classes (K, K)."""
    import matplotlib

    colours = matplotlib.colormaps["viridis"].with_extremes(bad="0.85")
    top = float(np.nanmax(values)) or 1.0
    image = axes.imshow(np.ma.masked_invalid(values), cmap=colours, vmin=0, vmax=top, interpolation="none")
    axes.figure.colorbar(image, ax=axes, shrink=0.85, pad=0.02, label=label)
    step = 1 if len(classes) <= NAMED else -(-len(classes) // (NAMED // 2))
    ticks, names = range(0, len(classes), step), list(map(short_name, classes[::step]))
    axes.set_xticks(ticks, names, **tick_style(names))
    axes.set_yticks(ticks, names, fontsize=tick_style(names)["fontsize"])
    axes.set(xlabel="class", ylabel="class")
    for a, b in np.argwhere(~np.isnan(values)) if len(classes) <= WRITTEN else ():
        colour = "black" if values[a, b] > 0.6 * top else "white"
        axes.text(b, a, f"{values[a, b]:.3g}", ha="center", va="center", fontsize=4.5, color=colour)


def one_vs_rest(study: Study):
    """Draw the one-vs-rest estimates with their bounds, largest estimate first."""
    figure = new_figure(PAGE if len(study.classes) > 12 else COLUMN, 2.9)
    axes = figure.add_subplot()
    handles = draw_classes(axes, study)
    axes.set_title(study.name)
    add_legend(figure, handles)
    return figure


def draw_classes(axes, study: Study) -> dict[str, Any]:
    """Draw the one-vs-rest estimates; return the handles of the legend by label."""
    rates = study.errors.one_vs_rest
    prior = np.minimum(study.rows, study.rows.sum() - study.rows) / study.rows.sum()
    order, x = np.argsort(-rates.estimate * prior, kind="stable"), np.arange(len(study.classes))
    many = len(x) > NAMED
    low, high = 100 * rates.lower[order], 100 * rates.upper[order]
    bars = axes.vlines(x, low, high, color=BLUE, alpha=0.35, linewidth=1 if many else 4)
    per_cent = (100 * rates.estimate * prior)[order]
    (points,) = axes.plot(x, per_cent, "o", color=BLUE, markersize=1.5 if many else 3, clip_on=False)
    handles = {"estimated Bayes error": points, "bounds": bars}
    if np.nanmax(rates.estimate_tie_high - rates.estimate_tie_low) > WIDE_BAND:
        ends = (100 * (end * prior)[order] for end in (rates.estimate_tie_low, rates.estimate_tie_high))
        ties = axes.vlines(x, *ends, color="black", linewidth=0.7)
        handles["tie band (other orders of equal distances)"] = ties
    names = [] if many else [short_name(name) for name in study.classes[order].tolist()]
    axes.set_xticks(x[: len(names)], names, **tick_style(names))
    axes.set(xlabel="class, largest estimate first", ylabel="one-vs-rest (%)", ylim=(0, None))
    return handles


def tick_style(names: list[str]) -> dict[str, float]:
    """Return rotation and size of the names of ticks."""
    return {"rotation": 90 * any(len(name) > 2 for name in names), "fontsize": 7 if len(names) <= 15 else 5}


def short_name(name) -> str:
    """Return a name with at most `LONG` characters."""
    text = str(name)
    return text if len(text) <= LONG else f"{text[: LONG - 1]}…"


DRAWN = {"heat-map": heat_map, "one-vs-rest": one_vs_rest}
FIGURES = tuple(f"figures/{name}.{ending}" for name in DRAWN for ending in FORMATS)
"""Figures that a study may write below its folder."""


def draw_study(study: Study, folder: Path) -> list[Path]:
    """Draw the figures of a study below ``figures/``."""
    paths = []
    for name, draw in DRAWN.items():
        with style():
            paths += save(draw(study), folder / "figures" / name)
    return paths
