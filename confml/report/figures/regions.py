"""Prediction regions by significance level: shares, errors with bands, validity per class, and efficiency.

Valid regions are below the diagonal of error against significance level, and above that of coverage against
confidence level, as papers draw it.
"""

import math
import statistics

import numpy as np

from confml.measures.coverage_band import coverage_band
from confml.plugins.parameters import Flag, Integer, Number
from confml.report.figures import Figure, NotApplicable, Subject, Variant
from confml.report.figures.style import (
    BLACK,
    BLUE,
    COLUMN,
    GREY,
    PAGE,
    SKY,
    VERMILION,
    Panels,
    add_legend,
    legend_below,
    lines_of,
    log_ticks,
    new_figure,
)
from confml.report.numbers.published_points import PaperPoint, singletons_of
from confml.report.numbers.region_levels import ClassErrors, RegionErrors, RegionSizes

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


def draw_shares(subject: Subject):
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


REGIONS_BY_LEVEL = Figure(
    name="regions-by-level",
    about="shares of singleton (correct, wrong), multiple and empty regions at each level, means over splits",
    draw=draw_shares,
    caption="Fractions of test examples with a singleton region (correct, wrong), a multiple and an "
    "empty one at "
    "each significance level, means over the splits.",
)


MOST_LINES = 20  # lines that are distinguishable


def draw_errors(subject: Subject):
    curves, title = subject.some_of(
        subject.numbers(RegionErrors), MOST_LINES, "no method has prediction regions"
    )
    figure = new_figure(COLUMN, 3.1)
    axes = figure.add_subplot()
    levels = next(iter(curves.values())).levels
    n = max(one.rows for one in curves.values())
    sizes = [one.counted for one in curves.values() if one.counted is not None]
    weighted = 0 in sizes
    counted = min((size for size in sizes if size), default=0 if weighted else None)
    if subject.results.has_groups(subject.dataset):
        counted = 0  # the rows are not independent
    ends = [coverage_band([(n, counted)], level) for level in levels.tolist()]
    high, low = 1 - np.array(ends).T
    right = bool(subject.option("confidence", False))
    turned = (lambda share: 100 - 100 * share) if right else (lambda share: 100 * share)
    x = turned(levels)
    band = axes.fill_between(x, turned(low), turned(high), color=GREY, alpha=0.3, linewidth=0)
    (diagonal,) = axes.plot(x[[0, -1]], x[[0, -1]], color=BLACK, linewidth=0.6)
    handles, labels = [diagonal], ["exact validity"]
    if counted != 0:
        text = f"95 % binomial band, n = {n}" if counted is None else f"95 % band of valid p-values, {n} rows"
        handles, labels = [diagonal, band], [*labels, text]
    for label, one in curves.items():
        look = {"marker": ""} if one.conformal else {"marker": "", "linestyle": ":", "linewidth": 1.0}
        handles += axes.plot(x, turned(one.errors), **(subject.look(label) | look))
        labels.append(label if one.conformal else f"{label} (no p-values)")
    axes.set_xlim(x.min(), x.max())
    axes.set_ylim(x.min(), x.max())
    axes.set_xlabel("confidence level (%)" if right else "significance level (%)")
    axes.set_ylabel("regions with the true label (%)" if right else "regions without the true label (%)")
    if subject.option("instances", None) is not None:
        title = f"{title}, {n} random instances"
    axes.set_title(title, loc="left")
    add_legend(figure, handles, labels)
    return figure


COVERAGE_BY_LEVEL = Figure(
    name="coverage-by-level",
    about="empirical error of regions against significance level, with the diagonal and the 95 % band of "
    "valid p-values on one split. The band is exact for split conformal prediction; TCM-NN with k = 1 "
    "leaves it in 6 to 11 % of the splits. It is binomial where no method has p-values",
    draw=draw_errors,
    numbers=(RegionErrors,),
    caption="Share of regions without (or with) the true label against the level, mean over the splits. "
    "Other lines: views with p-values, which are valid if the examples are exchangeable; dotted "
    "lines: other views, without a guarantee. Grey band: pointwise 95 % range of valid p-values, as if all "
    "different test rows were one test part; a line is a mean over the splits.",
    options={
        "max_level": Number("largest significance level shown", low=0, high=1, low_open=True),
        "confidence": Flag(
            "draw coverage against confidence level instead of error against significance level"
        ),
        "instances": Integer(
            "number of test examples per split, drawn by the run's seed; all by default", low=1
        ),
    },
)


PANELS = 12
CLASSES = 6  # lines that are distinguishable in a small panel


def distance_text(values: list[float]) -> str:
    """Return the Kolmogorov-Smirnov distances of the splits as a caption."""
    values = [value for value in values if not math.isnan(value)]
    if not values:
        return "KS distance: not computed without counts"
    shown = f"KS distance {statistics.median(values):.3f}"
    return shown if len(values) == 1 else f"{shown} (median of {len(values)})"


def draw_validity(subject: Subject):
    most = int(subject.option("classes", CLASSES))
    shown, title = subject.some_of(subject.numbers(ClassErrors), PANELS, "no method has p-values")
    levels = next(iter(shown.values())).levels
    top = float(levels[-1])
    chosen: list = []
    for one in shown.values():
        chosen += [label for label in one.farthest(most) if label not in chosen]
    if len(chosen) > most:  # the same classes in every panel, for one legend
        sums = {label: sum(label in one.farthest(most) for one in shown.values()) for label in chosen}
        chosen = sorted(sorted(chosen), key=lambda label: -sums[label])[:most]
    chosen.sort()
    bands: dict[tuple, np.ndarray] = {}
    panels = Panels(len(shown), height=2.4, sharex=True, sharey=True)
    for axes, (name, one) in zip(panels.axes, shown.items(), strict=True):
        variant = subject.variants[name]
        own_parts = [] if subject.results.has_groups(subject.dataset) else one.parts.all_classes()
        key = tuple(own_parts), one.parts.smoothed
        if key not in bands:  # most variants have the band of another one
            bands[key] = 1 - np.array([coverage_band(key[0], level, key[1]) for level in levels.tolist()]).T
        high, low = bands[key]
        band = axes.fill_between(100 * levels, 100 * low, 100 * high, color=GREY, alpha=0.35, linewidth=0)
        axes.plot([0, 100 * top], [0, 100 * top], color=BLACK, linewidth=0.5)
        for label, style in zip(chosen, lines_of(len(chosen)), strict=True):
            if label in one.errors:
                options = style | {"marker": "", "linewidth": 0.9}
                (line,) = axes.plot(100 * levels, 100 * one.errors[label], **options)
                panels.handles.setdefault(f"class {label}", line)
        (line,) = axes.plot(100 * levels, 100 * one.errors[None], color=BLACK, linewidth=1.6)
        own = {"all classes": line}
        if np.isfinite(low).any():  # weighted p-values have no band
            own = {"95 % band of all classes": band, **own}
        panels.handles = {**own, **panels.handles}
        distance = distance_text(subject.values(variant, "ks_statistic"))
        axes.set_title(f"{name}\n{distance}", loc="left", fontsize=7)
        axes.set_xlim(0, 100 * top)
        axes.set_ylim(0, 100 * top)
    labels = {label for one in shown.values() for label in one.errors if label is not None}
    if len(labels) > len(chosen):
        title += f"; {len(chosen)} of {len(labels)} classes with the largest deviation"
    panels.label_x("significance level (%)")
    return panels.finish(title, "regions without the true label (%)")


VALIDITY = Figure(
    name="validity",
    about="error of regions against significance level by class, with the distance of smoothed p-values "
    "from uniform. All classes together have the pointwise 95 % band of valid p-values, which is "
    "exact for split conformal prediction; TCM-NN with k = 1 leaves it in 6 to 11 % of the splits",
    draw=draw_validity,
    numbers=(ClassErrors,),
    caption="Share of regions without the true label against significance level, per class (at most 6, "
    "those that deviate most) and for all classes together. The curves pool the p-values of all splits; "
    "valid p-values are at or below the diagonal. Grey band: pointwise 95 % band of valid p-values, all "
    "classes together, as if all different test rows were one test part.",
    options={
        "max_level": Number(
            "largest significance level shown; default twice the largest of the config",
            low=0,
            high=1,
            low_open=True,
        ),
        "classes": Integer("number of classes with a line each", low=0, high=28),
    },
)


MOST_CURVES = 14
CRITERIA = {
    "observed_fuzziness": "observed fuzziness (OF)",
    "observed_unconfidence": "observed unconfidence (OU)",
    "fuzziness": "fuzziness (F)",
    "unconfidence": "unconfidence (U)",
    "sum_of_p": "sum of p-values (S)",
}


def criteria(subject: Subject, variant: Variant) -> dict[str, float]:
    """Return the mean over the splits of each of `CRITERIA`."""
    found = {}
    for metric in CRITERIA:
        values = [value for value in subject.values(variant, metric) if not math.isnan(value)]
        found[metric] = statistics.fmean(values) if values else math.nan
    return found


def draw_efficiency(subject: Subject):
    from matplotlib.lines import Line2D

    found, title = subject.some_of(subject.numbers(RegionSizes), MOST_CURVES, "no method has p-values")
    levels = next(iter(found.values())).levels
    curves = {label: one.sizes for label, one in found.items()}
    figure = new_figure(PAGE, 2.9)
    left, right = figure.subplots(1, 2)
    left.axhline(1, color=GREY, linewidth=0.6)
    handles = []
    places = np.arange(len(CRITERIA))
    for number, (label, sizes) in enumerate(curves.items()):
        line = subject.look(label)
        left.plot(100 * levels[1:], sizes[1:], **(line | {"marker": ""}))
        handles.append(Line2D([], [], **line))  # the line of the left and the marker of the right
        values = list(criteria(subject, subject.variants[label]).values())
        shift = 0.6 * ((number + 0.5) / len(curves) - 0.5)
        style = {"color": line["color"], "marker": line["marker"], "linestyle": ""}
        right.plot(values, places - shift, **style)
    least, most = (bound(bound(sizes[1:]) for sizes in curves.values()) for bound in (min, max))
    if most > 4 * max(least, 0.25):
        left.set_yscale("log")
        log_ticks(left.yaxis)
    right.set_xscale("log")
    log_ticks(right.xaxis)
    left.set_xlim(0, 100 * levels[-1])
    left.set_xlabel("significance level (%)")
    left.set_ylabel("mean set size (labels)")
    left.set_title(title, loc="left")
    right.set_yticks(places, list(CRITERIA.values()))
    right.set_xlabel("mean over test examples (smaller is better)")
    right.set_title("criteria without a level", loc="left")
    add_legend(figure, handles, list(curves))
    return figure


EFFICIENCY = Figure(
    name="efficiency",
    about="mean set size against significance level, and the criteria S, U, F, OU, OF (Vovk et al.)",
    draw=draw_efficiency,
    numbers=(RegionSizes,),
    caption="Left: mean set size (criterion N) against significance level. Right: the criteria S (sum of "
    "p-values), U (unconfidence), F (fuzziness), OU (observed unconfidence) and OF (observed "
    "fuzziness) of Vovk et al. 2016; smaller is better. Means over the splits.",
    options={"max_level": Number("largest significance level shown", low=0, high=1, low_open=True)},
)
