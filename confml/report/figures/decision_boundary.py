"""Regions of predicted classes over the plane of two features.

The figure fits the method again, because stored results have predictions of test examples only. It is not
drawn if the data set is missing.
"""

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from confml.data.generators import true_probability
from confml.plugins.parameters import Integer
from confml.report.figures import Figure, NotApplicable, Subject, Variant, numbers_of
from confml.report.figures.refit import data_at_hand, first_split
from confml.report.figures.style import BLACK, COLUMN, PAGE, Panels
from confml.report.numbers.outcomes import first_split as details_of_first_split

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#999999", "#000000")


class Plane(NamedTuple):
    """One fit over a plane: grid (g,) of both axes, predicted class codes (g, g), and training examples.

    X: (m, 2) and codes: (m,), with noise, before the steps. kept: (m,) bool, examples that the steps keep.
    """

    x: np.ndarray
    y: np.ndarray
    regions: np.ndarray
    X: np.ndarray
    codes: np.ndarray
    kept: np.ndarray


def draw(subject: Subject):
    chosen = _first_of_each(subject)
    names, classes, planes, truth = [], None, {}, None
    with data_at_hand(subject) as (data, folder):
        if data.X.shape[1] != 2 or (subject.results.config.noise or _NoNoise).irrelevant:
            raise NotApplicable(f"it has {data.X.shape[1]} features, not 2")
        names, classes = data.attributes, data.classes
        if len(classes) > len(COLOURS):
            raise NotApplicable(f"{len(classes)} classes are too many for distinguishable colours")
        truth = true_boundary(subject)
        shown, title = subject.some_of(chosen, int(subject.option("panels", 6)))
        for label, variant in shown.items():
            planes[label] = fitted_plane(subject, variant, data, folder, int(subject.option("grid", 150)))
    widths = COLUMN, PAGE, PAGE
    panels = Panels(len(planes), height=2.4, top=0.4, widths=widths, sharex=True, sharey=True)
    for axes, (label, plane) in zip(panels.axes, planes.items(), strict=True):
        _draw_plane(axes, plane, len(classes), truth)
        axes.set_title(textwrap.fill(label, 48, break_on_hyphens=False), loc="left", fontsize=7)
    panels.label_y(names[1])
    panels.label_x(names[0])
    split = next(iter(shown.values())).cells[0].split
    steps = " + ".join(step.name for step in subject.results.config.steps)
    title = f"{title}, split {split}" + (f", steps: {steps}" if steps else "")
    title = textwrap.fill(title, 50 if panels.columns == 1 else 100, break_on_hyphens=False)
    words = [str(label) for label in classes]
    words += ["removed by a step"] if any(not plane.kept.all() for plane in planes.values()) else []
    words += ["true Bayes boundary"] if truth is not None else []
    handles = max((_handles(plane, len(classes), truth) for plane in planes.values()), key=len)
    panels.handles = dict(zip(words, handles, strict=True))
    return panels.finish(title)


def fitted_plane(subject: Subject, variant: Variant, data, folder: Path, places: int) -> Plane:
    """Fit a variant on its first split as the run did, and predict a grid of ``places`` by ``places``."""
    parts, point, rng = first_split(subject, variant, data, folder)
    X, labels = parts.untransformed
    low, high = X.min(axis=0), X.max(axis=0)
    margin = np.where(high > low, 0.04 * (high - low), 0.5)
    x, y = (np.linspace(low[i] - margin[i], high[i] + margin[i], places) for i in (0, 1))
    over = np.column_stack([one.ravel() for one in np.meshgrid(x, y)])
    method = parts.method(point)
    ((_, views),) = method.evaluate_path(parts.X, parts.y, parts.transform(over), [point], rng)
    kept = np.zeros(len(X), dtype=bool)
    kept[parts.kept] = True
    regions = np.searchsorted(data.classes, views[variant.view].labels).reshape(places, places)
    return Plane(x, y, regions, X, np.searchsorted(data.classes, labels), kept)


def true_boundary(subject: Subject) -> Callable[[np.ndarray], np.ndarray] | None:
    """Return the true class probabilities (n, 2) -> (n, c), or None if unknown or with noise on features."""
    (spec,) = [one for one in subject.results.config.datasets if one.name == subject.dataset]
    noise = subject.results.config.noise
    return None if noise is not None and noise.attributes else true_probability(spec.spec())


def draw_truth(axes, x: np.ndarray, y: np.ndarray, truth: Callable[[np.ndarray], np.ndarray]) -> None:
    """Draw the lines on which the two most probable classes are equally probable; x, y: grid of the axes."""
    over = np.column_stack([one.ravel() for one in np.meshgrid(x, y)])
    probability = truth(over)
    for code in range(probability.shape[1]):
        others = np.delete(probability, code, axis=1).max(axis=1)
        gap = (probability[:, code] - others).reshape(len(y), len(x))
        if gap.min() < 0 < gap.max():
            axes.contour(x, y, gap, levels=[0.0], colors=BLACK, linewidths=1.0, linestyles="dashed")
        if probability.shape[1] == 2:
            break


def _draw_plane(axes, plane: Plane, classes: int, truth=None) -> None:
    """Draw one panel."""
    from matplotlib.colors import ListedColormap

    axes.imshow(
        plane.regions,
        extent=(plane.x[0], plane.x[-1], plane.y[0], plane.y[-1]),
        origin="lower",
        aspect="auto",
        cmap=ListedColormap(COLOURS[:classes]),
        vmin=-0.5,
        vmax=classes - 0.5,
        alpha=0.25,
        interpolation="nearest",
    )
    for code in range(classes):
        if 0 < np.mean(plane.regions == code) < 1:
            axes.contour(plane.x, plane.y, plane.regions == code, levels=[0.5], colors=BLACK, linewidths=0.5)
        own = plane.kept & (plane.codes == code)
        axes.scatter(*plane.X[own].T, s=3, color=COLOURS[code], linewidths=0, rasterized=True)
        gone = ~plane.kept & (plane.codes == code)
        axes.scatter(*plane.X[gone].T, s=7, marker="x", color=COLOURS[code], linewidths=0.6, rasterized=True)
    if truth is not None:
        draw_truth(axes, plane.x, plane.y, truth)


def _handles(plane: Plane, classes: int, truth) -> list:
    """Return the handles of the legend: classes, removed rows, true boundary."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=COLOURS[code], marker="o", linestyle="") for code in range(classes)]
    if not plane.kept.all():
        handles.append(Line2D([], [], color=BLACK, marker="x", linestyle=""))
    if truth is not None:
        handles.append(Line2D([], [], color=BLACK, linestyle="--", linewidth=1.0))
    return handles


def _first_of_each(subject: Subject) -> dict[str, Variant]:
    """Return the variants by label, each with its first view."""
    found: dict[tuple, tuple[str, Variant]] = {}
    for variant in subject.variants.values():
        label = subject.results.label(variant.cells[0])
        found.setdefault((variant.method, label), (label, variant))
    shown = {label: variant for label, variant in found.values()}
    subject.variants.update(shown)  # so that `some_of` finds them by these names
    if not shown:
        raise NotApplicable("no cell is finished")
    return shown


class _NoNoise:
    irrelevant = 0


FIGURE = Figure(
    name="decision-boundary",
    about="regions of predicted classes over two features, with training examples and the true boundary "
    "if it is known; needs the data",
    draw=draw,
    caption="Predicted classes over the plane of two features, with the training examples of the first split;"
    " crosses are examples that a step removed, the dashed line is the true Bayes boundary where it "
    "is known.",
    refits=True,
    collects=numbers_of(details_of_first_split),
    options={
        "panels": Integer("largest number of variants; default 6", low=1),
        "grid": Integer("grid points per axis; default 150", low=10, high=1000),
    },
)
