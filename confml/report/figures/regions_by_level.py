"""Shares of singleton (correct, wrong), multiple and empty regions, by significance level and method."""

import math

import numpy as np

from confml.report.figures import Figure, NotApplicable, Subject
from confml.report.figures.style import BLACK, BLUE, GREY, PAGE, SKY, VERMILION, legend_below, new_figure
from confml.report.numbers.published_points import PaperPoint, singletons_of

PARTS = {
    "singleton, correct": BLUE,
    "singleton, wrong": VERMILION,
    "multiple": SKY,
    "empty": GREY,
}


def region_shares(subject: Subject) -> dict[str, dict[float, list[float]]]:
    """Return the shares of `PARTS` by label and level, means over the splits; they add up to 1."""
    shares: dict[str, dict[float, list[float]]] = {}
    for label, variant in subject.variants.items():
        for level in sorted(map(float, subject.results.config.levels)):
            columns = [
                subject.values(variant, metric, level)
                for metric in ("one_class", "correct_of_one_class", "two_or_more", "no_class")
            ]
            splits = [split for split in zip(*columns, strict=True) if not math.isnan(split[0])]
            if not splits:
                continue
            parts = []
            for one, correct, several, none in splits:
                right = 0.0 if math.isnan(correct) else one * correct
                parts.append((right, one - right, several, none))
            shares.setdefault(label, {})[level] = [
                math.fsum(part) / len(splits) for part in zip(*parts, strict=True)
            ]
    return shares


def draw(subject: Subject):
    from matplotlib.collections import PolyCollection

    shares = region_shares(subject)
    if not shares:
        reason = (
            "no method has prediction regions"
            if subject.results.config.levels
            else "the config has no levels"
        )
        raise NotApplicable(reason)
    bars = [(label, level) for label, levels in shares.items() for level in levels]
    places, headings, place = [], {}, 0.0
    for number, (label, _) in enumerate(bars):
        if number == 0 or bars[number - 1][0] != label:
            place += 0.45 if number else 0.0
            headings[label] = place
            place += 0.95
        places.append(place)
        place += 1.0
    figure = new_figure(PAGE * 0.75, 0.55 + 0.155 * place)
    axes = figure.add_subplot()
    widths = 100 * np.array([shares[label][level] for label, level in bars])
    right, handles = widths.cumsum(axis=1), []
    low, high = np.add.outer((-0.4, 0.4), places)
    for part, colour in enumerate(PARTS.values()):
        x = right[:, part] - widths[:, part], right[:, part]
        corners = np.array([(x[0], low), (x[1], low), (x[1], high), (x[0], high)]).transpose(2, 0, 1)
        handles.append(axes.add_collection(PolyCollection(list(corners), facecolors=colour, linewidths=0)))
    labels = list(PARTS)
    points = [
        (100 * point.y, place, point.source)
        for (label, level), place in zip(bars, places, strict=True)
        for point in [_printed(subject, label).get(level)]
        if point is not None
    ]
    if points:
        x, y, sources = zip(*points, strict=True)
        look = {"linestyle": "", "color": BLACK, "markerfacecolor": "white", "markersize": 4}
        handles += axes.plot(x, y, marker="D", **look)
        labels.append(f"singleton rate in the paper ({sources[0]})")
    axes.set_yticks(places, [f"{100 * level:g} %" for _, level in bars])
    for label, heading in headings.items():
        axes.text(0, heading, label, ha="left", va="center", fontsize=7, fontweight="bold")
    axes.set_ylim(place - 0.4, -0.6)
    axes.set_xlim(0, 100)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("share of test examples (%)")
    axes.set_ylabel("significance level")
    axes.set_title(subject.dataset, loc="left")
    legend_below(figure, handles, labels)
    return figure


def _printed(subject: Subject, label: str) -> dict[float, PaperPoint]:
    variant = subject.variants[label]
    if variant.view != "p-value":
        return {}
    return singletons_of(subject.dataset, variant.method, variant.params)


FIGURE = Figure(
    name="regions-by-level",
    about="shares of singleton (correct, wrong), multiple and empty regions at each level, means over splits",
    draw=draw,
    caption="Fractions of test examples with a singleton region (correct, wrong), a multiple and an "
    "empty one at "
    "each significance level, means over the splits.",
)
