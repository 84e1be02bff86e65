"""Prediction regions by significance level: errors with the band of valid p-values, and efficiency.

Valid regions are below the diagonal of error against significance level, and above that of coverage against
confidence level, as papers draw it.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from confml._seeds import stable_generator
from confml.measures import Case
from confml.measures.coverage_band import coverage_band
from confml.measures.prediction import Prediction
from confml.plugins.parameters import Flag, Integer, Number
from confml.report.figures.figure import DatasetResults, Figure, of_views
from confml.report.figures.style import PAGE, Panels, add_legend, log_ticks, new_figure
from confml.report.run.results import Split, Variant
from confml.report.tables.class_coverage import calibration_parts, fewest, has_p_values

LINES = 20  # that are distinguishable
CURVES = 14
STEPS = 200  # between the levels of a figure
SIZE_LEVELS = np.linspace(0, 0.2, STEPS + 1)  # significance levels up to 20 %


def level_counts(prediction: Prediction, levels: np.ndarray) -> np.ndarray:
    """Return (n, c) the number of ``levels`` (m,), in ascending order, at which a region contains the class.

    Regions shrink with the level, so a region at ``levels[j]`` contains the classes with a count above j, as
    `Prediction.region` computes it.
    """
    scores = prediction.scores
    if prediction.kind == "p-value":
        return np.where(np.isnan(scores), 0, np.searchsorted(levels, scores, side="left"))
    limits, m = (1 - levels - 1e-12)[::-1], len(levels)
    return m - np.searchsorted(limits, prediction.sums_before, side="right")


class RegionErrors(NamedTuple):
    """Fraction of regions without the true label at each level.

    levels, errors: (levels,) mean over the splits. rows: number of different test rows. conformal: whether
    the view has p-values. counted: number of examples that p-values are computed from; None without p-values
    and for an online pass; 0, for which there is no band, if all are weighted.
    """

    levels: np.ndarray
    errors: np.ndarray
    rows: int
    conformal: bool
    counted: int | None


def region_errors(
    splits: Sequence[Split], variant: Variant, max_level: float = 1.0, instances: int | None = None
) -> RegionErrors | None:
    """Return the errors of the regions of a view.

    instances: number of test examples of each split, the same ones for every method; None for all.
    """
    levels = np.linspace(0, float(max_level), STEPS + 1)
    usable = [split for split in splits if split.case.prediction.has_regions and len(split.case.truth)]
    if not usable:
        return None
    errors, rows = [], []
    for result, case in usable:
        numbers = result.rows
        if instances is not None and instances < len(numbers):
            some = _some(numbers, instances, variant)
            case, numbers = Case(case.prediction.take(some), case.truth[some]), numbers[some]
        counts = level_counts(case.prediction, levels)[np.arange(len(numbers)), case.true_columns]
        missed = np.bincount(np.where(case.known, counts, 0), minlength=len(levels) + 1).cumsum()[:-1]
        errors.append(missed / len(numbers))
        rows.append(numbers)
    conformal = all(case.prediction.kind == "p-value" for _, case in usable)
    different = len(np.unique(np.concatenate(rows)))
    return RegionErrors(levels, np.mean(errors, axis=0), different, conformal, _counted(usable))


def _counted(splits: Sequence[Split]) -> int | None:
    """Return ``counted`` of `RegionErrors`; no region contains an absent class, of which it is 0."""
    parts = calibration_parts([split for split in splits if has_p_values(split.case)])
    present = {key: counted for key, (_, counted) in parts.items() if counted != 0}
    if not present:
        return 0 if parts else None
    if any(case.is_label_conditional for _, case in splits):
        sizes = list(present.values())
    else:  # the classes of a group of by are computed from the same examples
        groups = dict.fromkeys(name for _, name in present)
        sizes = [fewest(present[key] for key in present if key[1] == name) for name in groups]
    # Label-conditional classes add up to about one sample of all of them.
    return None if None in sizes else sum(filter(None, sizes))


def _some(numbers: np.ndarray, instances: int, variant: Variant) -> np.ndarray:
    """Return positions of random test examples from those with these row numbers, by the run's seed."""
    seed = variant.run.config.seed
    rng = stable_generator("instances", seed, variant.dataset, sorted(numbers.tolist()))
    drawn = rng.choice(np.sort(numbers), instances, replace=False)
    return np.flatnonzero(np.isin(numbers, drawn))


def region_sizes(splits: Sequence[Split], variant: Variant) -> np.ndarray | None:
    """Return the mean set sizes (criterion N) at `SIZE_LEVELS` of a view with p-values."""
    sizes = []
    for _, case in splits:
        if case.prediction.kind == "p-value" and len(case.truth):
            p = np.sort(case.prediction.scores, axis=None)
            sizes.append((p.size - np.searchsorted(p, SIZE_LEVELS, side="right")) / len(case.truth))
    return np.mean(sizes, axis=0) if sizes else None


def draw_errors(
    data: DatasetResults, *, max_level: float = 1.0, confidence: bool = False, instances: int | None = None
):
    """Share of regions without (or with) the true label, mean over the splits. Dotted: views without
    p-values, which have no guarantee. Grey: pointwise 95 % range of valid p-values, as if all different test
    rows were one test part. It is exact for split conformal prediction; TCM-NN with k = 1 leaves it in 6 to
    11 % of the splits.
    """
    options = {"max_level": max_level} if max_level < 1 else {}
    options |= {"instances": instances} if instances else {}
    views = data.collected(region_errors, **options)
    shown, title = data.shown(views, LINES, "no method has prediction regions")
    levels = next(iter(shown.values())).levels
    turn = (lambda share: 100 - 100 * share) if confidence else (lambda share: 100 * share)
    x = turn(levels)
    panels = Panels(1, height=2.8)
    (axes,), handles = panels.axes, panels.handles
    (handles["exact validity"],) = axes.plot(x[[0, -1]], x[[0, -1]], color="black", linewidth=0.6)
    n = max(view.rows for view in shown.values())
    counted = [view.counted for view in shown.values() if view.counted is not None]
    smallest = min(
        filter(None, counted), default=0 if counted else None
    )  # 0: weighted p-values, without a band
    if smallest != 0 and not data.run.has_groups(data.name):  # rows of a group are not independent
        low, high = np.array([coverage_band([(n, smallest)], level) for level in levels.tolist()]).T
        text = f"95 % band of valid p-values, {n} rows" if smallest else f"95 % binomial band, n = {n}"
        band = axes.fill_between(x, turn(1 - high), turn(1 - low), color="0.6", alpha=0.3, linewidth=0)
        handles[text] = band
    for label, view in shown.items():
        look = {"marker": ""} if view.conformal else {"marker": "", "linestyle": ":", "linewidth": 1.0}
        text = label if view.conformal else f"{label} (no p-values)"
        (handles[text],) = axes.plot(x, turn(view.errors), **data.look(label) | look)
    axes.set(xlim=(x.min(), x.max()), ylim=(x.min(), x.max()))
    title += f", {n} random instances" if instances else ""
    x_label, y_label = ("confidence", "with") if confidence else ("significance", "without")
    return panels.finish(title, f"{x_label} level (%)", f"regions {y_label} the true label (%)")


COVERAGE_BY_LEVEL = Figure(
    draw_errors,
    collects=of_views(region_errors),
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

CRITERIA = {
    "observed_fuzziness": "observed fuzziness (OF)",
    "observed_unconfidence": "observed unconfidence (OU)",
    "fuzziness": "fuzziness (F)",
    "unconfidence": "unconfidence (U)",
    "sum_of_p": "sum of p-values (S)",
}


def draw_efficiency(data: DatasetResults):
    """Efficiency of p-values: smaller is better, means over the splits. Left: mean set size (criterion N).
    Right: sum of p-values, unconfidence and fuzziness, and those of the observed labels (Vovk et al. 2016).
    """
    from matplotlib.lines import Line2D

    shown, title = data.shown(data.collected(region_sizes), CURVES, "no method has p-values")
    figure = new_figure(PAGE, 2.9)
    left, right = figure.subplots(1, 2)
    left.axhline(1, color="0.6", linewidth=0.6)
    handles, smallest, largest = {}, math.inf, 0.25
    lines = np.arange(len(CRITERIA))
    for number, (label, sizes) in enumerate(shown.items()):
        look = data.look(label)
        handles[label] = Line2D([], [], **look)  # the line of the left and the marker of the right
        left.plot(100 * SIZE_LEVELS[1:], sizes[1:], **look | {"marker": ""})
        smallest, largest = min(smallest, sizes[1:].min()), max(largest, sizes[1:].max())
        means = [np.nanmean(data.values(data.views[label], metric) or [math.nan]) for metric in CRITERIA]
        shift = 0.6 * ((number + 0.5) / len(shown) - 0.5)
        right.plot(means, lines - shift, **look | {"linestyle": ""})
    if largest > 4 * max(smallest, 0.25):
        left.set_yscale("log")
        log_ticks(left.yaxis)
    right.set_xscale("log")
    log_ticks(right.xaxis)
    left.set(xlim=(0, 20), xlabel="significance level (%)", ylabel="mean set size (labels)")
    left.set_title(title)
    right.set_yticks(lines, list(CRITERIA.values()))
    right.set_xlabel("mean (smaller is better)")
    right.set_title("criteria without a level")
    add_legend(figure, handles)
    return figure


EFFICIENCY = Figure(draw_efficiency, collects=of_views(region_sizes))
