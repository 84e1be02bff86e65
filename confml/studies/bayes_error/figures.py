"""Figures of a Bayes error study: heat maps, errors of classes and of all classes, selections, transforms."""

from pathlib import Path

import numpy as np

from confml.bayes_error.rates import WIDE_BAND
from confml.report.figures.style import (
    BLACK,
    BLUE,
    COLUMN,
    FORMATS,
    GREEN,
    GREY,
    PAGE,
    VERMILION,
    legend_below,
    lines_of,
    new_figure,
    rate_band,
    save,
    style,
)
from confml.studies.bayes_error.study import Study
from confml.studies.bayes_error.tables import noise_score_rows, selection_rows, transform_rows

WRITTEN = 12  # classes up to which the squares of a heat map hold numbers
NAMED = 40  # classes up to which each has its name on an axis
MARKED = 8  # points that have names where there are more classes than that
LONG = 12  # characters of a class's name
FIGURES = tuple(
    f"figures/{name}.{ending}"
    for name in ("heat-map", "one-vs-rest", "neighbours", "noise", "selection", "transforms")
    for ending in FORMATS
)
"""Figures that a study may write below its folder."""


def draw_study(study: Study, folder: Path) -> list[Path]:
    """Draw the figures of a study below ``figures/``."""
    drawn = {"heat-map": heat_map, "one-vs-rest": one_vs_rest}
    if study.assessment.errors.neighbours is not None:
        drawn["neighbours"] = neighbours
    if study.noise is not None:
        drawn["noise"] = noise
    if study.selection is not None:
        drawn["selection"] = selection
    if study.ranked:
        drawn["transforms"] = transforms
    paths = []
    for name, draw in drawn.items():
        with style():
            paths += save(draw(study), folder / "figures" / name)
    return paths


def heat_map(study: Study):
    """Draw the estimates of all pairs, brighter for harder pairs, and a classifier's errors between
    classes."""
    share = 100 * study.assessment.errors.pairwise.estimate
    panels = [(share, "estimated Bayes error / smaller prior (%)", "(a) ")]
    if study.test is not None:
        panels.append((study.test.symmetric, "test errors between two classes", "(b) "))
    side = 3.0 if len(study.classes) <= NAMED else 3.4
    figure = new_figure((PAGE if len(panels) > 1 else side + 0.75), side)
    titles = [f"{study.name}: estimates"]
    if study.test is not None:
        total = int(study.test.confusion.sum())
        titles.append(f"{study.test.classifier}: {study.test.errors} errors in {total} rows")
    for place, (values, label, letter) in enumerate(panels):
        axes = figure.add_subplot(1, len(panels), place + 1)
        _square(figure, axes, values, label, study.classes.tolist(), whole=place == 1)
        axes.set_title((letter if len(panels) > 1 else "") + titles[place], loc="left")
        if place == 0 and len(study.classes) <= NAMED:
            _mark_ties(axes, study)
    return figure


def _mark_ties(axes, study: Study) -> None:
    """Draw a dot in the corner of each pair whose estimate has a wide tie band."""
    rates = study.assessment.errors.pairwise
    with np.errstate(invalid="ignore"):
        wide = np.argwhere(rates.estimate_tie_high - rates.estimate_tie_low > WIDE_BAND)
    if len(wide):
        axes.plot(wide[:, 1] + 0.32, wide[:, 0] - 0.32, ".", color=VERMILION, markersize=2)
        axes.set_xlabel(f"class (dots: tie band wider than {WIDE_BAND:.0%})")


def _square(figure, axes, values: np.ndarray, label: str, classes: list, whole: bool) -> None:
    import matplotlib

    colours = matplotlib.colormaps["viridis"].with_extremes(bad="0.85")
    top = np.nanmax(values)
    image = axes.imshow(
        np.ma.masked_invalid(values), cmap=colours, vmin=0, vmax=top if top > 0 else 1, interpolation="none"
    )
    bar = figure.colorbar(image, ax=axes, shrink=0.85, pad=0.02)
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
    names = [_short(classes[place]) for place in places]
    size = 7 if len(names) <= 15 else 5
    axes.set_xticks(places, names, rotation=90 if _upright(names, 30) else 0, fontsize=size)
    axes.set_yticks(places, names, fontsize=size)


def one_vs_rest(study: Study):
    """Draw the one-vs-rest estimates with their bounds, and the test errors of a classifier, if any."""
    rates = study.assessment.errors.one_vs_rest
    prior = np.minimum(study.rows, study.rows.sum() - study.rows) / study.rows.sum()
    estimate = rates.estimate * prior
    order = np.argsort(-estimate, kind="stable")
    classes = [_short(study.classes.tolist()[k]) for k in order]
    tried = study.test is not None
    many = len(classes) > NAMED
    width = PAGE if tried or len(classes) > 12 else COLUMN
    room = 55 if tried else (35 if width < PAGE else 100)  # characters on the axis of classes
    upright = not many and _upright(classes, room)
    figure = new_figure(width, 2.6 + 0.055 * max(map(len, classes)) * upright)
    grid = figure.add_gridspec(1, 2, width_ratios=(1.6, 1)) if tried else figure.add_gridspec(1, 1)
    axes = figure.add_subplot(grid[0, 0])
    places = np.arange(len(classes))
    percent = 100 * estimate[order]
    low, high = 100 * rates.lower[order], 100 * rates.upper[order]
    size = 3 if not many else 1.5
    bars = axes.vlines(places, low, high, color=BLUE, alpha=0.35, linewidth=4 if not many else 1)
    (points,) = axes.plot(places, percent, "o", color=BLUE, markersize=size, clip_on=False)
    handles, labels = [points, bars], ["estimated Bayes error", "bounds"]
    if tried and study.test is not None:
        rate = 100 * study.test.confusion_rate[order]
        handles += axes.plot(
            places, rate, "D", color=VERMILION, markersize=size, markerfacecolor="none", clip_on=False
        )
        labels.append(f"test errors, {study.test.classifier}")
    if np.nanmax(rates.estimate_tie_high - rates.estimate_tie_low) > WIDE_BAND:
        ends = (100 * (one * prior)[order] for one in (rates.estimate_tie_low, rates.estimate_tie_high))
        handles.append(axes.vlines(places, *ends, color=BLACK, linewidth=0.7))
        labels.append("tie band (other orders of equal distances)")
    if many:
        axes.set_xticks([])
    else:
        size = 7 if len(classes) <= 20 else 5
        axes.set_xticks(places, classes, rotation=90 if upright else 0, fontsize=size)
    axes.set_xlabel("class, largest estimate first")
    axes.set_ylabel("one-vs-rest (%)")
    axes.set_ylim(bottom=0)
    axes.set_title(study.name if not tried else f"(a) {study.name}", loc="left")
    if tried:
        _scatter(figure.add_subplot(grid[0, 1]), percent, rate, prior[order], classes)
    legend_below(figure, handles, labels)
    return figure


def _scatter(axes, estimate: np.ndarray, rate: np.ndarray, prior: np.ndarray, classes: list[str]) -> None:
    """Draw test errors against estimates, with the correlation of class sizes alone for comparison."""
    axes.plot(estimate, rate, "o", color=VERMILION, markersize=2.5)
    top = 1.12 * max(estimate.max(), rate.max(), 1e-9)
    axes.plot([0, top], [0, top], color=GREY, linewidth=0.7, linestyle="--", zorder=0)
    axes.set_xlim(-0.02 * top, top)
    axes.set_ylim(-0.02 * top, top)
    axes.set_aspect("equal")
    _label_points(axes, estimate, rate, classes, top)
    told = correlation_texts(estimate, rate)
    title = "(b)"
    if told:
        title += f" r = {told[0]}, rank r = {told[1]}"
        sizes = correlation_texts(prior, rate)
        title += f"\nclass sizes alone: {sizes[0]}, {sizes[1]}" if sizes else ""
    axes.set_title(title, loc="left")
    axes.set_xlabel("estimated Bayes error (%)")
    axes.set_ylabel("test errors (%)")


def correlation_texts(x: np.ndarray, y: np.ndarray) -> tuple[str, str] | None:
    """Return Pearson's and Spearman's correlation; None if they are undefined."""
    from scipy.stats import pearsonr, spearmanr

    if len(x) <= 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return _correlation(float(pearsonr(x, y)[0])), _correlation(float(spearmanr(x, y)[0]))


def _correlation(r: float) -> str:
    """Return a correlation as text; values below 1 are never rounded to 1."""
    return f"{r:.2f}" if not 0.995 <= abs(r) < 1 - 1e-9 else f"{np.copysign(min(abs(r), 0.999), r):.3f}"


def _label_points(axes, x: np.ndarray, y: np.ndarray, names: list[str], top: float) -> None:
    """Label points whose names do not overlap; the other names are in the left panel only."""
    taken: list[tuple[float, float, float, float]] = []
    most = NAMED if len(names) <= NAMED else MARKED
    height = 0.045 * top
    for place in np.argsort(-np.abs(y - x) - 0.5 * (x + y), kind="stable"):
        width = 0.022 * top * len(names[place]) + 0.01 * top
        for dx, dy in ((0.015, 0.012), (-0.02, 0.012), (0.015, -0.045), (-0.02, -0.045)):
            left = x[place] + dx * top - (width if dx < 0 else 0)
            bottom = y[place] + dy * top
            box = left, bottom, left + width, bottom + height
            # with space for the markers; the name's own point is farther away
            near = 0.014 * top
            points = (x > box[0] - near) & (x < box[2] + near) & (y > box[1] - near) & (y < box[3] + near)
            met = any(box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3] for b in taken)
            if (
                len(taken) < most
                and not met
                and not points.any()
                and box[2] < top
                and min(box[:2]) > -0.02 * top
            ):
                right = dx < 0
                axes.text(
                    left + (width if right else 0),
                    bottom,
                    names[place],
                    ha="right" if right else "left",
                    fontsize=5.5,
                    color="0.25",
                )
                taken.append(box)
                break


def _upright(names: list[str], room: int) -> bool:
    """Return whether names on an axis must be vertical because they are too long."""
    longest = max(map(len, names))
    return longest > 2 and longest * len(names) > room


def neighbours(study: Study):
    """Draw error, vote risk and estimate of k-NN by k, and by number of rows with the fitted curve."""
    near, limit = study.assessment.errors.neighbours, study.assessment.errors.limit
    assert near is not None  # drawn only with k-NN estimates
    figure = new_figure(COLUMN if limit is None else PAGE, 2.4)
    axes = figure.add_subplot(1, 1 if limit is None else 2, 1)
    handles = [
        *axes.plot(near.k, 100 * near.error, "-", color=VERMILION),
        *axes.plot(near.k, 100 * near.vote_risk, "-", color=GREEN),
        *axes.plot(near.k, 100 * near.estimate, "-", color=BLUE),
        *axes.plot(near.k, 100 * near.lower, ":", color=GREY),
    ]
    labels = ["leave-one-out error", "vote risk", "estimate", "lower bound from the error"]
    labels.append("estimate of all k")
    handles.append(axes.axhline(100 * near.bounds[0], color=BLUE, linewidth=0.7, linestyle="-."))
    axes.set_xlabel("k")
    axes.set_ylabel("Bayes error of all classes (%)")
    letter = "" if limit is None else "(a) "
    axes.set_title(f"{letter}{study.name}: {study.rows.sum()} rows", loc="left")
    panels = [axes]
    if limit is not None:
        other = figure.add_subplot(1, 2, 2, sharey=axes)
        other.plot(limit.sizes, 100 * limit.error, "o", color=VERMILION)
        other.plot(limit.sizes, 100 * limit.vote_risk, "o", color=GREEN)
        handles += other.plot(limit.sizes, 100 * limit.curve, "--", color=BLUE)
        handles.append(other.axhline(100 * limit.estimate, color=BLUE, linewidth=0.7))
        handles.append(other.axhspan(100 * limit.low, 100 * limit.high, color=BLUE, alpha=0.12, linewidth=0))
        labels += ["fitted curve", "limit for infinitely many rows", f"its {limit.level:.0%} interval"]
        other.set_xscale("log")
        other.minorticks_off()
        other.set_xticks(limit.sizes[::2], [str(size) for size in limit.sizes[::2]])
        other.set_xlabel("rows of a subsample")
        other.set_title(f"(b) {limit.k}-NN by number of rows", loc="left")
        panels.append(other)
    if study.true_error is not None:
        for panel in panels:
            line = panel.axhline(100 * study.true_error, color=BLACK, linewidth=0.8, linestyle="--")
        handles.append(line)
        labels.append("true Bayes error")
    axes.set_ylim(bottom=0)
    legend_below(figure, handles, labels)
    return figure


def noise(study: Study):
    """Draw the estimates by noise rate against the range in which the Bayes error must be."""
    series = study.noise
    assert series is not None  # drawn only with a noise series
    figure = new_figure(COLUMN, 2.8)
    axes = figure.add_subplot()
    rates = 100 * series.rates
    handles, labels = [], []
    if series.true_error is None:
        handles.append(
            axes.fill_between(
                rates, 100 * series.known_low, 100 * series.known_high, color="0.88", linewidth=0
            )
        )
        labels.append(f"possible, if the best classifier has {100 * series.best_error:.1f} % errors")
    else:
        handles += axes.plot(rates, 100 * series.known_low, "--", color=BLACK)
        labels.append("true Bayes error")
    rows = noise_score_rows(study)
    for row, line in zip(rows, lines_of(len(rows)), strict=True):
        found = 100 * series.estimate[row["estimator"]]
        mean, deviation = found.mean(axis=1), found.std(axis=1)
        handles += axes.plot(rates, mean, **line)
        axes.fill_between(rates, *rate_band(mean, deviation), color=line["color"], alpha=0.15, linewidth=0)
        labels.append(f"{row['estimator']} (area {100 * row['area']:.2f} %)")
    axes.set_xlabel("label noise (%)")
    axes.set_ylabel("Bayes error of all classes (%)")
    axes.set_ylim(bottom=0)
    axes.set_title(f"{study.name}: mean ± sd over {study.request.repeats} draws", loc="left")
    legend_below(figure, handles, labels)
    return figure


def selection(study: Study):
    """Draw the criterion after each feature of the forward selection."""
    rows = selection_rows(study)
    names = [_short(row["attribute"], 2 * LONG) for row in rows]
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


def transforms(study: Study):
    """Draw the mean and worst estimate of the pairs for each transform."""
    rows = transform_rows(study)[::-1]
    figure = new_figure(COLUMN, 0.9 + 0.17 * len(rows))
    axes = figure.add_subplot()
    places = np.arange(len(rows))
    kinds = [("mean_of_pairs", "mean of the pairs", "o", BLUE), ("worst_pair", "worst pair", "D", VERMILION)]
    if len(study.classes) == 2:
        kinds = [("mean_of_pairs", "the pair of classes", "o", BLUE)]
    handles = [
        axes.plot([row[key] for row in rows], places, marker, color=colour)[0]
        for key, _, marker, colour in kinds
    ]
    axes.set_yticks(places, [f"{row['transform']} ({row['columns']})" for row in rows])
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_xlim(0, 1.04 * max(row["worst_pair"] for row in rows) or 1)
    axes.grid(axis="y", linewidth=0.3, color="0.9")
    axes.set_xlabel("estimated Bayes error / smaller prior")
    axes.set_title(f"{study.name}: transforms (columns)", loc="left")
    legend_below(figure, handles, [label for _, label, _, _ in kinds])
    return figure


def _short(name, most: int = LONG) -> str:
    text = str(name)
    return text if len(text) <= most else f"{text[: most - 1]}…"
