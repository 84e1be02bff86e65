"""Figures of a Bayes error study: heat map, errors of classes, selection."""

from pathlib import Path

import numpy as np

from confml.bayes_error.rates import WIDE_BAND
from confml.report.bayes_error.study import Study
from confml.report.bayes_error.tables import selection_rows
from confml.report.figures.style import (
    BLACK,
    BLUE,
    COLUMN,
    FORMATS,
    PAGE,
    VERMILION,
    legend_below,
    new_figure,
    save,
    style,
)

WRITTEN = 12  # classes up to which the squares of a heat map hold numbers
NAMED = 40  # classes up to which each has its name on an axis
LONG = 12  # characters of a class's name
FIGURES = tuple(
    f"figures/{name}.{ending}" for name in ("heat-map", "one-vs-rest", "selection") for ending in FORMATS
)
"""Figures that a study may write below its folder."""


def draw_study(study: Study, folder: Path) -> list[Path]:
    """Draw the figures of a study below ``figures/``."""
    drawn = {"heat-map": heat_map, "one-vs-rest": one_vs_rest}
    if study.selection is not None:
        drawn["selection"] = selection
    paths = []
    for name, draw in drawn.items():
        with style():
            paths += save(draw(study), folder / "figures" / name)
    return paths


def heat_map(study: Study):
    """Draw the estimates of all pairs of classes, brighter for harder pairs."""
    side = 3.0 if len(study.classes) <= NAMED else 3.4
    figure = new_figure(side + 0.75, side)
    axes = figure.add_subplot()
    draw_estimates(axes, study)
    axes.set_title(f"{study.name}: estimates", loc="left")
    return figure


def draw_estimates(axes, study: Study) -> None:
    """Draw the estimates of all pairs; a dot in the corner of a pair marks a wide tie band."""
    rates = study.errors.pairwise
    draw_pairs(
        axes, 100 * rates.estimate, "estimated Bayes error / smaller prior (%)", study.classes.tolist()
    )
    with np.errstate(invalid="ignore"):
        wide = np.argwhere(rates.estimate_tie_high - rates.estimate_tie_low > WIDE_BAND)
    if len(wide) and len(study.classes) <= NAMED:
        axes.plot(wide[:, 1] + 0.32, wide[:, 0] - 0.32, ".", color=VERMILION, markersize=2)
        axes.set_xlabel(f"class (dots: tie band wider than {WIDE_BAND:.0%})")


def draw_pairs(axes, values: np.ndarray, label: str, classes: list, *, whole: bool = False) -> None:
    """Draw a number for each pair of classes (K, K); whole: whether they are whole numbers."""
    import matplotlib

    colours = matplotlib.colormaps["viridis"].with_extremes(bad="0.85")
    top = np.nanmax(values)
    image = axes.imshow(
        np.ma.masked_invalid(values), cmap=colours, vmin=0, vmax=top if top > 0 else 1, interpolation="none"
    )
    bar = axes.figure.colorbar(image, ax=axes, shrink=0.85, pad=0.02)
    bar.set_label(label)
    bar.outline.set_visible(False)
    _name_classes(axes, classes)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0 if len(classes) <= NAMED else 2)
    axes.set_xlabel("class")
    axes.set_ylabel("class")
    if len(classes) > WRITTEN:
        return
    for a, b in np.argwhere(~np.isnan(values)):
        value = values[a, b]
        text = f"{value:.0f}" if whole or value >= 9.95 else f"{value:.1f}"
        colour = "black" if top > 0 and value > 0.6 * top else "white"
        axes.text(b, a, text, ha="center", va="center", fontsize=4.5, color=colour)


def _name_classes(axes, classes: list) -> None:
    step = 1 if len(classes) <= NAMED else -(-len(classes) // (NAMED // 2))
    places = np.arange(0, len(classes), step)
    names = [short_name(classes[place]) for place in places]
    size = 7 if len(names) <= 15 else 5
    axes.set_xticks(places, names, rotation=90 if _upright(names, 30) else 0, fontsize=size)
    axes.set_yticks(places, names, fontsize=size)


def one_vs_rest(study: Study):
    """Draw the one-vs-rest estimates with their bounds, largest estimate first."""
    longest, many = (
        max(len(short_name(label)) for label in study.classes.tolist()),
        len(study.classes) > NAMED,
    )
    width = PAGE if len(study.classes) > 12 else COLUMN
    space = 35 if width < PAGE else 100  # characters on the axis of classes
    upright = not many and longest > 2 and longest * len(study.classes) > space
    figure = new_figure(width, 2.6 + 0.055 * longest * upright)
    axes = figure.add_subplot()
    handles, labels = draw_classes(axes, study, upright)
    axes.set_title(study.name, loc="left")
    legend_below(figure, handles, labels)
    return figure


def draw_classes(axes, study: Study, upright: bool) -> tuple[list, list[str]]:
    """Draw the one-vs-rest estimates; return the handles and labels of the legend.

    upright: whether the names of the classes are vertical.
    """
    rates = study.errors.one_vs_rest
    prior = np.minimum(study.rows, study.rows.sum() - study.rows) / study.rows.sum()
    order, places = np.argsort(-rates.estimate * prior, kind="stable"), np.arange(len(study.classes))
    many = len(places) > NAMED
    low, high = 100 * rates.lower[order], 100 * rates.upper[order]
    bars = axes.vlines(places, low, high, color=BLUE, alpha=0.35, linewidth=4 if not many else 1)
    percent, size = 100 * (rates.estimate * prior)[order], 3 if not many else 1.5
    (points,) = axes.plot(places, percent, "o", color=BLUE, markersize=size, clip_on=False)
    handles, labels = [points, bars], ["estimated Bayes error", "bounds"]
    if np.nanmax(rates.estimate_tie_high - rates.estimate_tie_low) > WIDE_BAND:
        ends = (100 * (band * prior)[order] for band in (rates.estimate_tie_low, rates.estimate_tie_high))
        handles.append(axes.vlines(places, *ends, color=BLACK, linewidth=0.7))
        labels.append("tie band (other orders of equal distances)")
    if many:
        axes.set_xticks([])
    else:
        names = [short_name(study.classes.tolist()[k]) for k in order]
        fontsize = 7 if len(names) <= 20 else 5
        axes.set_xticks(places, names, rotation=90 if upright else 0, fontsize=fontsize)
    axes.set_xlabel("class, largest estimate first")
    axes.set_ylabel("one-vs-rest (%)")
    axes.set_ylim(bottom=0)
    return handles, labels


def _upright(names: list[str], room: int) -> bool:
    """Return whether names on an axis must be vertical because they are too long."""
    longest = max(map(len, names))
    return longest > 2 and longest * len(names) > room


def selection(study: Study):
    """Draw the criterion after each feature of the forward selection."""
    rows = selection_rows(study)
    names = [short_name(row["attribute"], 2 * LONG) for row in rows]
    upright = max(map(len, names)) if len(rows) <= NAMED and _upright(names, 35) else 0
    figure = new_figure(COLUMN if len(rows) <= 15 else PAGE, 2.2 + 0.055 * upright)
    axes = figure.add_subplot()
    places = np.arange(1, len(rows) + 1)
    axes.plot(places, [row["criterion"] for row in rows], "o-", color=BLUE)
    if len(rows) <= NAMED:
        axes.set_xticks(places, names, rotation=90 if upright else 0)
    axes.set_ylim(0, 1.08 * max(row["criterion"] for row in rows) or 1)
    axes.set_xlabel("selected feature, in order")
    axes.set_ylabel(f"{study.request.criterion} estimate of the pairs")
    axes.set_title(f"{study.name}: forward selection", loc="left")
    return figure


def short_name(name, most: int = LONG) -> str:
    """Return a name with at most so many characters."""
    text = str(name)
    return text if len(text) <= most else f"{text[: most - 1]}…"
