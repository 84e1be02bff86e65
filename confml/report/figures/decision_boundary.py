"""Regions of predicted classes over the plane of two features.

The figure fits the method again, because stored results have predictions of test examples only. It is not
drawn if the data set is missing.
"""

import textwrap
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from confml.data.generators import true_probability
from confml.plugins.parameters import Integer
from confml.report.figures.figure import DatasetResults, Figure, NotApplicable, View, of_views
from confml.report.figures.refit import first_fit
from confml.report.figures.style import BLUE, COLUMN, GREEN, ORANGE, PAGE, PURPLE, SKY, VERMILION, Panels
from confml.report.numbers.outcomes import first_split

COLOURS = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, "0.6", "black")
GRID = 150  # points of each axis
Probability = Callable[[np.ndarray], np.ndarray]


class Plane(NamedTuple):
    """One fit over a plane: grid (g,) of both axes, predicted class codes (g, g), and training examples.

    names: of the features. classes: (c,). X: (m, 2) and codes: (m,), with noise, before the steps. kept: (m,)
    bool, examples that the steps keep.
    """

    names: tuple[str, ...]
    classes: np.ndarray
    x: np.ndarray
    y: np.ndarray
    regions: np.ndarray
    X: np.ndarray
    codes: np.ndarray
    kept: np.ndarray


def draw(data: DatasetResults, *, panels: int = 6):
    """Predicted classes over the plane of two features, with the training examples of the first split;
    Crosses are examples that a step removed. The dashed line is the true Bayes boundary if it is known.
    """
    first = {view.label: view for view in reversed(data.views.values())}  # the first view of each variant
    shown, title = data.shown({label: first[label] for label in reversed(first)}, panels)
    planes = {label: fitted_plane(data, view, GRID) for label, view in shown.items()}
    noise = data.run.config.noise
    (spec,) = [spec for spec in data.run.config.datasets if spec.name == data.name]
    truth = None if noise is not None and noise.attributes else true_probability(spec.as_dict())
    wide = PAGE if len(planes) > 1 else COLUMN
    grid = Panels(len(planes), height=2.5, width=wide, sharex=True, sharey=True)
    for axes, (label, plane) in zip(grid.axes, planes.items(), strict=True):
        _draw_plane(axes, plane, grid.handles)
        axes.set_title(textwrap.fill(label, 48, break_on_hyphens=False))
        if truth is not None:
            (line,) = axes.plot([], "--", color="black", linewidth=1.0)
            _draw_truth(axes, plane.x, plane.y, truth)
            grid.handles["true Bayes boundary"] = line
    steps = " + ".join(step.name for step in data.run.config.steps)
    title = f"{title}, split {next(iter(shown.values())).cells[0].split}" + (
        f", steps: {steps}" if steps else ""
    )
    title = textwrap.fill(title, int(wide / COLUMN * 50), break_on_hyphens=False)
    return grid.finish(title, *plane.names)


def fitted_plane(data: DatasetResults, view: View, points: int) -> Plane:
    """Fit a variant on its first split as the run did, and predict a grid of ``points`` by ``points``."""
    noise = data.run.config.noise
    with first_fit(data, view) as (loaded, parts, point, rng):
        if loaded.X.shape[1] != 2 or (noise is not None and noise.irrelevant):
            raise NotApplicable(f"it has {loaded.X.shape[1]} features, not 2")
        if len(loaded.classes) > len(COLOURS):
            raise NotApplicable(f"{len(loaded.classes)} classes are too many for distinguishable colours")
        X, labels = parts.untransformed
        low, high = X.min(axis=0), X.max(axis=0)
        margin = np.where(high > low, 0.04 * (high - low), 0.5)
        x, y = np.linspace(low - margin, high + margin, points).T
        paths = parts.method(point).evaluate_path(
            parts.X, parts.y, parts.transform(_grid(x, y)), [point], rng
        )
        ((_, views),) = paths
        regions = np.searchsorted(loaded.classes, views[view.name].labels).reshape(points, points)
        kept_rows = np.isin(np.arange(len(X)), parts.kept)
        codes = np.searchsorted(loaded.classes, labels)
        return Plane(tuple(loaded.attributes), loaded.classes, x, y, regions, X, codes, kept_rows)


def _grid(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.column_stack([axis.ravel() for axis in np.meshgrid(x, y)])


def _draw_truth(axes, x: np.ndarray, y: np.ndarray, truth: Probability) -> None:
    """Draw the lines on which the two most probable classes are equally probable; x, y: grid of the axes."""
    probability = truth(_grid(x, y))
    for code in range(probability.shape[1] if probability.shape[1] > 2 else 1):
        gap = probability[:, code] - np.delete(probability, code, axis=1).max(axis=1)
        if gap.min() < 0 < gap.max():
            line = {"colors": "black", "linewidths": 1.0, "linestyles": "dashed"}
            axes.contour(x, y, gap.reshape(len(y), len(x)), levels=[0.0], **line)


def _draw_plane(axes, plane: Plane, handles: dict[str, Any]) -> None:
    """Draw regions and examples, and add the handles of the legend."""
    from matplotlib.colors import ListedColormap

    classes = plane.classes
    extent = (plane.x[0], plane.x[-1], plane.y[0], plane.y[-1])
    colours = {"cmap": ListedColormap(COLOURS[: len(classes)]), "vmin": -0.5, "vmax": len(classes) - 0.5}
    axes.imshow(plane.regions, extent=extent, origin="lower", aspect="auto", alpha=0.25, **colours)
    for code, label in enumerate(classes.tolist()):
        if 0 < np.mean(plane.regions == code) < 1:
            axes.contour(
                plane.x, plane.y, plane.regions == code, levels=[0.5], colors="black", linewidths=0.5
            )
        remaining, removed = (plane.X[rows & (plane.codes == code)] for rows in (plane.kept, ~plane.kept))
        axes.scatter(*remaining.T, s=3, color=COLOURS[code], linewidths=0, rasterized=True)
        handles[str(label)] = axes.scatter([], [], s=10, color=COLOURS[code])
        if len(removed):
            cross = axes.scatter(
                *removed.T, s=7, marker="x", color=COLOURS[code], linewidths=0.6, rasterized=True
            )
            handles["removed by a step"] = cross


DECISION_BOUNDARY = Figure(
    draw,
    refits=True,
    collects=of_views(first_split),
    options={"panels": Integer("largest number of variants; default 6", low=1)},
)
