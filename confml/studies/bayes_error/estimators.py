"""Comparison of the Bayes error estimators where the Bayes error is known: table, files and figure."""

import itertools
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from confml._processes import Progress, each
from confml._seeds import derived_generator, stable_generator
from confml.bayes_error.label_noise import ABOUT, FixedRows
from confml.bayes_error.neighbour_errors import NEIGHBOURS
from confml.bayes_error.soft_labels import soft_label_error
from confml.data.generators import GENERATORS
from confml.errors import ConfigError, DataError
from confml.report.figures.style import BLACK, PAGE, Panels, legend_below, lines_of, save, style
from confml.studies.bayes_error.console import print_rows
from confml.studies.bayes_error.tables import plain, write_json, write_rows

ANNOTATORS = 3
TREES = 3
MOST_ROWS = 20_000
"""Rows of all trials of one point together, with at least `FEWEST_TRIALS`."""
FEWEST_TRIALS = 4
SOFT_LABELS: Mapping[str, str] = {
    "soft-labels": "mean of 1 - largest true probability (Ishida et al. 2023)",
    "annotators": f"votes of {ANNOTATORS} annotators who draw from the true probabilities",
}
"""Estimators that need soft labels, by name."""
NAMES = {**ABOUT, **SOFT_LABELS}


@dataclass(frozen=True)
class Problem:
    """A distribution with a known Bayes error for several numbers of features.

    of_features: parameters of the generator for d features, None where there is no such distribution.
    """

    generator: str
    about: str
    of_features: Callable[[int], dict[str, Any] | None]


PROBLEMS: Mapping[str, Problem] = {
    "near": Problem(
        "two-gaussians", "two Gaussians 2 standard deviations apart", lambda d: {"d": d, "distance": 2.0}
    ),
    "far": Problem(
        "two-gaussians", "two Gaussians 4 standard deviations apart", lambda d: {"d": d, "distance": 4.0}
    ),
    "cut": Problem(
        "half-cube",
        "points of the unit cube, divided by a plane across two features",
        lambda d: {"d": 2, "irrelevant": d - 2} if d >= 2 else None,
    ),
    "mixture": Problem("five-gaussians", "five Gaussians in the plane", lambda d: {} if d == 2 else None),
}


@dataclass(frozen=True)
class Point:
    """Results of an estimator at one number of features and rows.

    truth: Bayes error; mean, bias, rmse: of the estimates over the trials; contains: fraction of trials in
    which the truth is between the lower and upper bound (for "k-nn-limit" and soft labels the 95 % interval).
    """

    problem: str
    features: int
    rows: int
    estimator: str
    trials: int
    truth: float
    mean: float
    bias: float
    rmse: float
    contains: float


def compare_estimators(
    problems: Sequence[str],
    features: Sequence[int],
    rows: Sequence[int],
    *,
    trials: int = 20,
    seed: int = 1,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[Point]:
    """Draw data sets and estimate; `trials_of` says how many per point.

    The results of a point do not depend on the other points or on the number of jobs. progress: as in `each`.
    Raises ConfigError for an unknown problem.
    """
    for name in problems:
        if name not in PROBLEMS:
            raise ConfigError(f"unknown problem '{name}'", near=(name, PROBLEMS))
    if trials < 1 or min(features, default=0) < 1 or min(rows, default=0) < 10:
        raise ConfigError("expected at least one trial, one feature and 10 rows")
    points = [
        (name, d, n)
        for name, d, n in itertools.product(problems, features, rows)
        if PROBLEMS[name].of_features(d) is not None
    ]
    tasks = [(*point, trial, seed) for point in points for trial in range(trials_of(point[2], trials))]
    if jobs > 1:
        _trial("near", 2, 200, 0, 0)  # compile kernels once, before the workers start
    drawn_at = each(lambda task: _trial(*task), tasks, jobs, progress=progress)
    found = dict(zip(tasks, drawn_at, strict=True))
    results: list[Point] = []
    for point in points:
        drawn = [found[task] for task in tasks if task[:3] == point]
        truth = true_error(*point[:2])
        for name in drawn[0]:
            results.append(_point(point, name, truth, np.array([one[name] for one in drawn])))
    return results


def trials_of(rows: int, trials: int) -> int:
    """Return the number of trials at a number of rows: fewer for many rows."""
    return min(trials, max(FEWEST_TRIALS, MOST_ROWS // rows))


def true_error(problem: str, features: int) -> float:
    """Return the Bayes error of a problem."""
    of = PROBLEMS[problem]
    return float(GENERATORS[of.generator].bayes_error(**(of.of_features(features) or {})))


def best_estimators(points: Sequence[Point]) -> list[dict[str, Any]]:
    """Return one row per problem, number of features and rows: the estimator from features and labels with
    the smallest root mean squared error, its error and bias, and the error of each estimator."""
    found = []
    for key, group in itertools.groupby(points, lambda point: (point.problem, point.features, point.rows)):
        errors = {point.estimator: point for point in group}
        tried = [errors[name] for name in ABOUT if name in errors]
        best = min(tried, key=lambda point: point.rmse)
        found.append(
            {
                "problem": key[0],
                "features": key[1],
                "rows": key[2],
                "truth": best.truth,
                "best": best.estimator,
                "bias": best.bias,
                **{name: errors[name].rmse if name in errors else float("nan") for name in NAMES},
            }
        )
    return found


def _point(point: tuple[str, int, int], name: str, truth: float, values: np.ndarray) -> Point:
    """Return values (trials, 3): estimate, lower and upper bound."""
    estimate, lower, upper = values.T
    inside = (lower <= truth + 1e-12) & (truth <= upper + 1e-12)
    return Point(
        *point,
        estimator=name,
        trials=len(values),
        truth=truth,
        mean=float(estimate.mean()),
        bias=float(estimate.mean() - truth),
        rmse=float(np.sqrt(np.mean((estimate - truth) ** 2))),
        contains=float(inside.mean()),
    )


def _trial(problem: str, features: int, rows: int, trial: int, seed: int):
    """Return (estimate, lower, upper) of each estimator for one data set."""
    of = PROBLEMS[problem]
    generator, given = GENERATORS[of.generator], of.of_features(features) or {}
    rng = stable_generator("estimators", seed, problem, features, rows, trial)
    X, y = generator.make(rows, rng, **given)
    codes = np.searchsorted(np.array(sorted(generator.classes)), y)
    c = len(generator.classes)
    try:
        fixed = FixedRows(X, NEIGHBOURS, TREES, derived_generator(rng, "subsamples"))
    except DataError:  # too few rows to extrapolate
        fixed = FixedRows(X, NEIGHBOURS, TREES)
    bounds = fixed.bounds(codes, c, derived_generator(rng, "interval"))
    found = {name: (one.estimate, one.lower, one.upper) for name, one in bounds.items()}
    shares = generator.bayes_probability(X, **given)
    votes = derived_generator(rng, "annotators").multinomial(ANNOTATORS, shares)
    for name, soft_labels in (("soft-labels", shares), ("annotators", votes)):
        if soft_labels.max(axis=1).min() == 1:
            continue  # probabilities of 0 and 1 are labels
        soft = soft_label_error(soft_labels)
        found[name] = (soft.estimate, soft.low, soft.high)
    return found


# ---- table, files and figure


def print_estimators(points: Sequence[Point], stream: IO[str] | None = None) -> None:
    """Print the root mean squared error of each estimator, and the best one from features and labels."""
    stream = stream or sys.stdout
    rows = best_estimators(points)
    shown = [name for name in NAMES if any(not math.isnan(row[name]) for row in rows)]
    columns = {name: f"text {name}" for name in ("problem", "features", "rows")}
    columns |= {"true": "percent truth", "best": "text best", **{name: f"percent {name}" for name in shown}}
    title = "Root mean squared error of Bayes error estimates (%)"
    print_rows(title, rows, [columns], right=5, keys=3, stream=stream)
    for name, problem in PROBLEMS.items():
        if any(row["problem"] == name for row in rows):
            stream.write(f"{name}: {problem.about}\n")
    stream.write("best: smallest error of the estimators that need features and labels only\n")


def estimator_document(points: Sequence[Point]) -> dict[str, Any]:
    """Return the results as plain data for JSON."""
    best = plain(best_estimators(points))
    return {"points": [asdict(point) for point in points], "best": best, "estimators": NAMES}


def write_estimators(points: Sequence[Point], folder: Path) -> list[Path]:
    """Write ``estimators.csv``, ``best.csv``, ``estimators.json`` and the figure below a folder."""
    paths = [
        write_rows(folder / "estimators.csv", [asdict(point) for point in points]),
        write_rows(folder / "best.csv", best_estimators(points)),
        write_json(folder / "estimators.json", estimator_document(points)),
    ]
    with style():
        paths += save(draw_estimators(points), folder / "figures" / "estimators")
    return paths


def draw_estimators(points: Sequence[Point]):
    """Draw the mean estimates by number of rows: a panel per problem and number of features."""
    problems = list(dict.fromkeys(point.problem for point in points))
    features = sorted({point.features for point in points})
    names = [name for name in NAMES if any(point.estimator == name for point in points)]
    lines = dict(zip(names, lines_of(len(names)), strict=True))
    count, columns = len(problems) * len(features), len(features)
    panels = Panels(count, height=1.5, widths=[PAGE] * columns, columns=columns, sharex=True, sharey="row")
    grid = np.array(panels.axes).reshape(len(problems), columns)
    handles = panels.handles
    for problem, axes_of_row in zip(problems, grid, strict=True):
        for d, axes in zip(features, axes_of_row, strict=True):
            here = [point for point in points if (point.problem, point.features) == (problem, d)]
            if not here:
                axes.set_visible(False)
                continue
            handles["true"] = axes.axhline(100 * here[0].truth, color=BLACK, linewidth=0.8, linestyle="--")
            for name in names:
                curve = [point for point in here if point.estimator == name]
                means = [100 * point.mean for point in curve]
                if curve:
                    (handles[name],) = axes.plot(
                        [point.rows for point in curve], means, **lines[name], markersize=2, linewidth=0.9
                    )
            axes.set_xscale("log")
            axes.minorticks_off()
            ticks = sorted({point.rows for point in points})
            shown = ticks if len(ticks) < 4 else [ticks[0], ticks[len(ticks) // 2], ticks[-1]]
            axes.set_xticks(shown, [f"{n:,}" for n in shown])
            axes.set_title(f"{problem}, d = {d}", loc="left")
        axes_of_row[0].set_ylabel("Bayes error (%)")
        axes_of_row[0].set_ylim(bottom=min(0.0, axes_of_row[0].get_ylim()[0]))
    for column in grid.T:  # the lowest panel of each column, if not the last, has its own axis
        lowest = [axes for axes in column if axes.get_visible()][-1]
        lowest.tick_params(labelbottom=True)
        lowest.set_xlabel("rows")
    legend_below(panels.figure, list(handles.values()), list(handles))
    return panels.figure
