"""Table, files and figure of the comparison of Bayes error estimators."""

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from confml.bayes_error.label_noise import ABOUT
from confml.report.console import print_table
from confml.report.figures.style import BLACK, PAGE, legend_below, lines_of, new_figure, save, style
from confml.report.files import write_csv, write_file
from confml.studies.bayes_error.estimators import PROBLEMS, SOFT_LABELS, Point, best_estimators

NAMES = {**ABOUT, **SOFT_LABELS}


def print_estimators(points: Sequence[Point], stream: IO[str] | None = None) -> None:
    """Print the root mean squared error of each estimator, and the best one from features and labels."""
    stream = stream or sys.stdout
    rows = best_estimators(points)
    shown = [name for name in NAMES if any(not math.isnan(row[name]) for row in rows)]
    print_table(
        ["problem", "features", "rows", "true", "best", *shown],
        [
            [
                row["problem"],
                row["features"],
                row["rows"],
                _percent(row["truth"]),
                row["best"],
                *(_percent(row[name]) for name in shown),
            ]
            for row in rows
        ],
        title="Root mean squared error of Bayes error estimates (%)",
        right=5,
        keys=3,
        stream=stream,
    )
    for name, problem in PROBLEMS.items():
        if any(row["problem"] == name for row in rows):
            stream.write(f"{name}: {problem.about}\n")
    stream.write("best: smallest error of the estimators that need features and labels only\n")


def estimator_document(points: Sequence[Point]) -> dict[str, Any]:
    """Return the results as plain data for JSON."""
    best = [
        {key: None if isinstance(value, float) and math.isnan(value) else value for key, value in row.items()}
        for row in best_estimators(points)
    ]
    return {"points": [asdict(point) for point in points], "best": best, "estimators": NAMES}


def write_estimators(points: Sequence[Point], folder: Path) -> list[Path]:
    """Write ``estimators.csv``, ``best.csv``, ``estimators.json`` and the figure below a folder."""
    rows, best = [asdict(point) for point in points], best_estimators(points)
    paths = [
        write_csv(folder / "estimators.csv", list(rows[0]), [list(row.values()) for row in rows]),
        write_csv(folder / "best.csv", list(best[0]), [list(row.values()) for row in best]),
        write_file(folder / "estimators.json", json.dumps(estimator_document(points), indent=1) + "\n"),
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
    figure = new_figure(PAGE, 0.3 + 1.5 * len(problems))
    grid = figure.subplots(len(problems), len(features), sharex=True, sharey="row", squeeze=False)
    handles: dict[str, Any] = {}
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
    legend_below(figure, list(handles.values()), list(handles))
    return figure


def _percent(value: float) -> str:
    return "-" if math.isnan(value) else f"{100 * value:.2f}"
