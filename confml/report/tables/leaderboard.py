"""All methods by error, selective risk, certificates, regions, calibration and time: ``leaderboard.csv``."""

import functools
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from confml.data.text_table import number_text
from confml.measures import known_metrics
from confml.measures.metric import HIGHER, LOWER, SHARE
from confml.methods import BASELINE
from confml.report.answers.advice import unpromised
from confml.report.answers.evidence import evidence_of
from confml.report.answers.leaderboard import Column, Entry, Leaderboard, RankedColumn, coverage_name, order
from confml.report.answers.standings import standings_of
from confml.report.captions import setting_text
from confml.report.files import place_of, read_csv
from confml.report.forms.grid import Grid, Mark, latex, markdown
from confml.report.report import Report
from confml.report.run.results import RunResults, Variant
from confml.report.shown_table import ShownTable
from confml.report.tables.certified import DELTA, RISKS, certified_splits
from confml.report.tables.table import Files

COVERAGES = (0.9, 0.8)
OF_SUMMARY = ("error", "augrc", "observed_fuzziness", "ece", "log_loss", "brier")
HEADER = (
    *("column", "method", "view", "datasets", "mean", "median", "mean_rank", "critical_difference"),
    *("near_best", "datasets_low"),
)
TITLE = "Leaderboard"


def level_of(run: RunResults) -> float | None:
    """Return the significance level of the regions of the leaderboard; None without levels."""
    levels = run.config.levels
    return 0.05 if 0.05 in levels else next(iter(levels), None)


class SplitValues(NamedTuple):
    """Values of one variant by column and view, one for each split, and whether its parameters are tuned."""

    dataset: str
    label: str
    views: list[str]
    values: dict[tuple[str, str], list[float]]
    tuned: bool


def split_values(variant: Variant) -> SplitValues:
    """Return the values of a variant that are not in ``metrics.csv``."""
    certified: dict[tuple[str, str], list] = {}
    for point in certified_splits(variant):
        certified.setdefault((point.split, point.view), []).append(point)
    values: dict[tuple[str, str], list[float]] = {}
    for result in variant.splits:
        seconds = result.views.fit_seconds + result.views.predict_seconds
        seconds += result.tuning["seconds"] if result.tuning else 0.0
        for view, case in variant.of_split(result):
            if not len(case.truth):
                continue
            values.setdefault(("seconds", view), []).append(seconds)
            if case.curve is None:
                continue
            for share in COVERAGES:
                risk = float(case.curve.risk_at_coverage(share))
                values.setdefault((f"risk_at_{number_text(share)}", view), []).append(risk)
            for point in certified.get((result.cell.split, view), ()):
                name = f"certified_at_{number_text(point.risk)}"
                values.setdefault((name, view), []).append(point.coverage)
    views = list(variant.views) if any(len(result.truth) for result in variant.splits) else []
    tuned = any(result.tuning for result in variant.splits)
    return SplitValues(variant.dataset, variant.label, views, values, tuned)


@functools.lru_cache(maxsize=1)  # several files show it
def ranked_columns(run: RunResults) -> list[RankedColumn]:
    """Return the columns of the leaderboard of a run."""
    datasets = list(dict.fromkeys(cell.dataset for cell in run.cells))
    board = Leaderboard(columns(level_of(run)), datasets)
    baselines = {run.label(cell) for cell in run.cells if cell.method == BASELINE}
    for found in run.collected(split_values):
        if found.label in baselines:
            continue
        several = len(found.views) > 1
        for (column, view), values in found.values.items():
            for value in values:
                board.add(column, Entry(found.label, view if several else ""), found.dataset, value)
    _add_metrics(board, run)
    standings = standings_of(run)
    lines = {}
    for line in standings.lines:
        several = standings.label(line) != line.method
        lines[line.dataset, Entry(line.method, line.view if several else "")] = line
    failed = {
        (failure.cell.dataset, entry)
        for failure in run.failures
        for entry in board.entries
        if entry.label == run.label(failure.cell)
    }

    def is_low(entry: Entry, dataset: str, level: float) -> bool:
        line = lines.get((dataset, entry))
        return line is not None and standings.coverage(line, level).too_low

    return board.ranked(is_low, failed)


def _add_metrics(board: Leaderboard, run: RunResults) -> None:
    """Add the columns that ``metrics.csv`` has."""
    wanted: dict[tuple[str, float | None], str] = {(name, None): name for name in OF_SUMMARY}
    level = level_of(run)
    if level is not None:
        wanted["coverage", level] = coverage_name(level)
    for metrics in run.metrics:
        if metrics.cell.method == BASELINE:
            continue
        for (view, name, at), value in metrics.values.items():
            shown = view if len(metrics.views) > 1 else ""
            entry = Entry(run.label(metrics.cell), shown)
            if view and (name, at) in wanted:
                board.add(wanted[name, at], entry, metrics.cell.dataset, value)
            elif view and level is not None and (name, at) == ("mean_region_size", level):
                # an empty region is an error, not a small one
                empty = metrics.values[view, "no_class", level]
                board.add("region_size", entry, metrics.cell.dataset, value + empty)


def has_leaderboard(run: RunResults) -> bool:
    return bool(run.config.leaderboard)


def write(report: Report) -> None:
    """Means and mean ranks of all methods over the data sets, one row per column.

    mean, median: over the data sets, of the means over the splits. mean_rank: 1 for the best. Regions whose
    coverage is shown to be too low on a data set are ranked last there. A region without labels counts as one
    label. critical_difference: of Nemenyi's test at level 0.05, for comparison with published diagrams.
    near_best: whether the method is not shown to differ from the best one (Friedman's test, then Wilcoxon's
    with Holm's correction over all pairs, 5 %). datasets_low: for the coverage, the number of data sets on
    which it is shown to be too low (1 %, Holm's correction over the data sets of the method). A method
    without results on more than a fifth of the data sets is not ranked, and a note names it. The baseline
    (majority-class) is not ranked: Friedman's test would show that a method which is always last differs.

    ``leaderboard-datasets.csv`` has the values by data set, ``tables/leaderboard`` the mean ranks as a table
    for a paper.
    """
    run = report.run
    ranked = ranked_columns(run)
    if not ranked:
        return
    timed = [one for one in ranked if one.column.name == "seconds"]  # not the same in each run
    rest = [one for one in ranked if one.column.name != "seconds"]
    for ending, shown in (("", rest), ("-timings", timed)):
        report.write_csv(f"leaderboard{ending}.csv", HEADER, _rows(shown))
        values = [
            (one.column.name, dataset, *entry, float(one.values[row, at]))
            for one in shown
            for row, dataset in enumerate(one.datasets)
            for at, entry in enumerate(one.entries)
        ]
        header = ("column", "dataset", "method", "view", "value")
        report.write_csv(f"leaderboard-datasets{ending}.csv", header, values)
    tuned = dict.fromkeys(found.label for found in run.collected(split_values) if found.tuned)
    setting = f"{setting_text(run)} {tuned_text(tuned)}"
    names = {dataset for one in ranked for dataset in one.datasets}
    grid = leaderboard_grid(ranked, setting, sorted(filter(run.has_groups, names)))
    if (level := level_of(run)) is not None and (text := unpromised(standings_of(run), level)):
        grid = replace(grid, notes=[*grid.notes, text])
    report.grids[TITLE] = grid
    report.write("tables/leaderboard.md", markdown(grid))
    report.write("tables/leaderboard.tex", latex(grid, "leaderboard", sideways=True))
    if missing := next((one.missing for one in ranked if one.column.name == "error"), ""):
        report.notes.append(f"leaderboard: {missing}")


def shown(run: RunResults, folder: Path) -> Iterator[ShownTable]:
    headings = {one.name: one.heading for one in columns(level_of(run))}
    ranks: dict[str, dict[Entry, float]] = {}
    for name in ("leaderboard.csv", "leaderboard-timings.csv"):
        for row in read_csv(folder / place_of(name)):
            if row["column"] in ("error", "risk_at_0.9", "seconds") and row["mean_rank"]:
                of_column = ranks.setdefault(headings[row["column"]], {})
                of_column[Entry(row["method"], row["view"])] = float(row["mean_rank"])
    if ranks:
        first = next(iter(ranks.values()))
        entries = sorted(set().union(*ranks.values()), key=lambda one: (first.get(one, math.inf), one))
        rows = [(one.name, *(_number(of_column.get(one)) for of_column in ranks.values())) for one in entries]
        frame = pd.DataFrame(rows, columns=["method", *ranks])
        yield ShownTable("Leaderboard: mean ranks, 1 is best", frame)


def columns(level: float | None) -> list[Column]:
    """Return the columns of the leaderboard. level: significance level of the regions, None without."""
    found = [
        _of_metric("error"),
        *(
            Column(
                f"risk_at_{number_text(share)}",
                f"risk at {share:.0%} coverage",
                f"error rate of the {share:.0%} most confident predictions",
                LOWER,
            )
            for share in COVERAGES
        ),
        _of_metric("augrc"),
        *(
            Column(
                f"certified_at_{number_text(risk)}",
                f"certified at {risk:.0%} risk",
                f"accepted share of new examples at a threshold whose risk is at most {risk:g} with "
                f"probability {1 - DELTA:g}; 0 where none can be certified",
                HIGHER,
            )
            for risk in sorted(RISKS, reverse=True)
        ),
    ]
    if level is not None:
        about = f"mean number of labels of the regions at level {level:g}, 1 for empty ones"
        found += [
            _of_metric("coverage", level)._replace(name=coverage_name(level)),
            Column("region_size", f"set size at level {level:g}", about, LOWER, False, level),
        ]
    seconds = Column("seconds", "seconds", "inner selection, fit and prediction of one split", LOWER, False)
    return [*found, *map(_of_metric, OF_SUMMARY[2:]), seconds]


def _of_metric(name: str, level: float | None = None) -> Column:
    """Return the column of a declared metric."""
    metric = known_metrics()[name]
    heading = metric.heading if level is None else f"{metric.heading} at level {level:g}"
    return Column(name, heading, metric.about, metric.direction, metric.unit == SHARE, level)


def _rows(ranked: list[RankedColumn]) -> Iterator[tuple]:
    for one in ranked:
        means, medians = one.means.tolist(), one.medians.tolist()
        for place, entry in enumerate(one.entries):
            rank = width = near = None
            if one.ranks is not None:
                rank, width = float(one.ranks.mean_ranks[place]), one.ranks.critical_difference
                near = one.near_best(place)
            low = None if one.low is None else int(one.low[place])
            yield (
                *(one.column.name, *entry, len(one.datasets), means[place], medians[place]),
                *(rank, width, near, low),
            )


# ---- tables for a paper


def leaderboard_grid(ranked: list[RankedColumn], setting: str, grouped: list[str]) -> Grid:
    """Return mean ranks with mean values, and notes.

    setting: a sentence on the run. grouped: data sets whose rows of a group are not independent.
    """
    entries = list(dict.fromkeys(entry for one in ranked for entry in one.entries))
    rows = []
    for entry in order(entries, next((one for one in ranked if one.column.name == "error"), None)):
        row: list[str | Mark] = [entry.name]
        for one in ranked:
            if entry not in one.entries:
                row.append("")
                continue
            place = one.entries.index(entry)
            value = _value(float(one.typical[place]), one.column)
            if one.ranks is None:
                low = int(one.low[place]) if one.low is not None else 0
                row.append(f"{value} ({low} low)" if low else value)
            else:
                text = f"{one.ranks.mean_ranks[place]:.2f} ({value})"
                row.append(Mark(text, one.best(place), "+" if one.near_best(place) else ""))
        rows.append(row)
    notes = [
        setting,
        "Mean rank over the data sets, 1 is best, and in parentheses the mean value (seconds: the median); "
        "shares in per cent.",
        "Bold: best mean rank; +: not shown to differ from it (Wilcoxon's test with Holm's correction over "
        "all pairs, 5 %, after Friedman's test). The tests take the data sets as independent, and each "
        "column by itself.",
    ]
    if any(one.low is not None for one in ranked):
        notes.append(
            "Low: number of data sets on which the coverage is shown to be too low (1 %, Holm's correction "
            "over the data sets of a method); regions are ranked last there."
        )
    if any(one.column.name.startswith("certified") for one in ranked):
        notes.append(
            "Certified shares are those of each method by itself. The guarantee does not hold for the best "
            "of several methods; `certified-jointly.csv` has certificates that allow for the choice."
        )
        if grouped:
            notes.append(
                "Certified shares have no guarantee on data sets whose rows of a group are not independent: "
                f"{', '.join(grouped)}."
            )
    if len({entry.label for entry in entries}) < len(entries):
        notes.append("Each view of a method is ranked as a method; views of one fit are not independent.")
    untested = [one.column.heading for one in ranked if one.verdict is not None and not one.verdict.testable]
    if untested:
        notes.append(f"Too few data sets for a test of: {', '.join(untested)}.")
    if missing := next((one.missing for one in ranked if one.column.name == "error"), ""):
        notes.append(missing)
    for one in ranked:
        count = f"{len(one.datasets)} data set{'s' * (len(one.datasets) != 1)}"
        notes.append(f"{one.column.heading}: {one.column.about}, {count}.")
    return Grid(TITLE, ["method", *(one.column.heading for one in ranked)], rows, 1, notes)


def tuned_text(labels: Iterable[str]) -> str:
    """Return which methods are tuned, as a sentence."""
    names = ", ".join(labels)
    if not names:
        return "The parameters of all methods are fixed."
    return f"Inner cross-validation chooses parameters of {names}; those of the others are fixed."


def _value(value: float, column: Column) -> str:
    if math.isnan(value):
        return "-"
    return f"{100 * value:.2f}" if column.per_cent else f"{value:.3g}"


def _number(value: Any) -> str:
    return "" if value is None else f"{value:.2f}"


LEADERBOARD = Files(
    "leaderboard",
    {
        "tables/leaderboard.csv": "all methods by error, selective risk, certificates, regions, calibration",
        "tables/leaderboard-datasets.csv": "the same by data set",
        "tables/leaderboard-timings.csv": "all methods by time",
        "tables/leaderboard-datasets-timings.csv": "the same by data set",
        "tables/leaderboard.md": "mean ranks of all methods; also tex",
    },
    write,
    needs="leaderboard: true in the config",
    applies=has_leaderboard,
    collects=lambda run: (evidence_of, split_values),
    shown=shown,
)
