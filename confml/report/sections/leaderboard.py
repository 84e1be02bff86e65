"""All methods by error, selective risk, certificates, regions, calibration and time: ``leaderboard.csv``."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from confml.data.text_table import number_text
from confml.measures import known_metrics
from confml.measures.metric import HIGHER, LOWER, SHARE
from confml.report.answers.advice import unpromised
from confml.report.answers.evidence import Evidence
from confml.report.answers.leaderboard import Column, Entry, Leaderboard, RankedColumn, coverage_name, order
from confml.report.answers.majority import MAJORITY, majority_of
from confml.report.answers.standings import standings_of
from confml.report.captions import setting_text
from confml.report.items import Document, Grid, Item, Mark, Note, Picture, PrintedTable, Table, TableKind
from confml.report.numbers.certificates import DELTA, RISKS
from confml.report.run.one_pass import ViewBlock
from confml.report.sections.base import Section
from confml.report.sections.certified import keep_certified_splits
from confml.report.tables.grid import latex, markdown
from confml.runner.results import CellResult

COVERAGES = (0.9, 0.8)
OF_SUMMARY = ("error", "augrc", "observed_fuzziness", "ece", "log_loss", "brier")
HEADER = "column method view datasets mean median mean_rank critical_difference near_best datasets_low"
TITLE = "Leaderboard"
LEADERBOARD = TableKind("leaderboard.csv", HEADER)
TIMED = TableKind("leaderboard-timings.csv", HEADER)


class LeaderboardSection(Section):
    """``leaderboard.csv``: means and mean ranks of all methods over the data sets, one row per column.

    mean, median: over the data sets, of the means over the splits. mean_rank: 1 for the best. Regions whose
    coverage is shown to be too low on a data set are ranked last there. A region without labels counts as one
    label. critical_difference: of Nemenyi's test at level 0.05, for comparison with published diagrams.
    near_best: whether the method is not shown to differ from the best one (Friedman's test, then Wilcoxon's
    with Holm's correction over all pairs, 5 %). datasets_low: for the coverage, the number of data sets on
    which it is shown to be too low (1 %, Holm's correction over the data sets of the method). A method
    without results on more than a fifth of the data sets is not ranked, and a note names it.

    ``leaderboard-datasets.csv`` has the values by data set, ``tables/leaderboard`` the mean ranks as a table
    for a paper, and ``figures/leaderboard`` draws them.
    """

    name = "leaderboard"
    place = 155
    needs = "leaderboard: true in the config"
    setting = "leaderboard"
    files = {
        "leaderboard.csv": "all methods by error, selective risk, certificates, regions, calibration",
        "leaderboard-datasets.csv": "the same by data set",
        "leaderboard-timings.csv": "all methods by time",
        "leaderboard-datasets-timings.csv": "the same by data set",
        "tables/leaderboard.md": "mean ranks of all methods; also tex",
        "figures/leaderboard": "mean ranks of all methods by every column",
    }
    collectors = (Evidence,)

    def start(self) -> None:
        levels = self.results.config.levels
        self.level = 0.05 if 0.05 in levels else next(iter(levels), None)
        datasets = list(dict.fromkeys(cell.dataset for cell in self.results.cells))
        self.board = Leaderboard(columns(self.level), datasets)
        self._tuned: dict[str, None] = {}
        self._ranked: list[RankedColumn] | None = None

    def prepare(self, blocks: Sequence[ViewBlock]) -> None:
        if not self.results.config.thresholds:  # else another section does it
            keep_certified_splits(blocks)

    def add(self, result: CellResult) -> None:
        cell = result.cell
        label = self.results.label(cell)
        seconds = result.views.fit_seconds + result.views.predict_seconds
        if result.tuning:
            seconds += result.tuning["seconds"]
            self._tuned[label] = None
        for view, case in result.cases.items():
            if not len(case.prediction):
                continue
            entry = Entry(label, view if len(result.views) > 1 else "")
            self.board.add("seconds", entry, cell.dataset, seconds)
            curve = case.curve
            if curve is None:
                continue
            for share in COVERAGES:
                risk = float(curve.risk_at_coverage(share))
                self.board.add(f"risk_at_{number_text(share)}", entry, cell.dataset, risk)
            for one in case.kept.get("certified splits", ()):
                self.board.add(f"certified_at_{number_text(one.risk)}", entry, cell.dataset, one.coverage)

    def items(self) -> Iterator[Item]:
        self._add_metrics()
        ranked = self.ranked
        if not ranked:
            return
        timed = [one for one in ranked if one.column.name == "seconds"]  # not the same in each run
        rest = [one for one in ranked if one.column.name != "seconds"]
        for kind, name, own in ((LEADERBOARD, "", rest), (TIMED, "-timings", timed)):
            yield kind.of(list(_rows(own)))
            values = [
                (one.column.name, dataset, *entry, float(one.values[row, place]))
                for one in own
                for row, dataset in enumerate(one.datasets)
                for place, entry in enumerate(one.entries)
            ]
            header = ("column", "dataset", "method", "view", "value")
            yield Table(f"leaderboard-datasets{name}.csv", header, values)
        setting = f"{setting_text(self.results)} {tuned_text(self._tuned)}"
        names = {dataset for one in ranked for dataset in one.datasets}
        grid = leaderboard_grid(ranked, setting, sorted(filter(self.results.has_groups, names)))
        grid = self._with_constants(grid, ranked)
        yield grid
        yield Document("tables/leaderboard.md", markdown(grid))
        yield Document("tables/leaderboard.tex", latex(grid, "leaderboard", sideways=True))
        if any(one.ranks is not None for one in ranked):
            from confml.report.figures.ranks import draw_table

            caption = (
                "Mean ranks of the methods over the data sets, 1 is best. Dark cells are the best ones. A "
                "dot marks methods that are not shown to differ from the best one of the column (Wilcoxon's "
                "test with Holm's correction, 5 %). Empty cells: the measure needs probabilities. Rows are "
                f"sorted by the mean rank of the error. {setting_text(self.results)}"
            )
            yield Picture(
                "figures/leaderboard", lambda: draw_table(ranked), "leaderboard of all data sets", caption
            )
        if missing := next((one.missing for one in ranked if one.column.name == "error"), ""):
            yield Note(f"leaderboard: {missing}")

    def _with_constants(self, grid: Grid, ranked: Sequence[RankedColumn]) -> Grid:
        """Return the grid with the mean error of the majority class, and a note on unpromised regions."""
        standings, rows, notes = standings_of(self.results), list(grid.rows), list(grid.notes)
        column = next((one for one in ranked if one.column.name == "error"), None)
        own = [majority_of(standings, name) for name in column.datasets] if column is not None else []
        if own and all(own):
            mean = math.fsum(one[0].error.mean for one in own) / len(own)
            texts = [f"({100 * mean:.2f})" if one is column else "" for one in ranked]
            rows.append([MAJORITY, *texts])
        if self.level is not None:
            notes += filter(None, [unpromised(standings, self.level)])
        return replace(grid, rows=rows, notes=notes)

    @property
    def ranked(self) -> list[RankedColumn]:
        if self._ranked is None:
            standings = standings_of(self.results)
            lines = {}
            for line in standings.lines:
                several = standings.label(line) != line.method
                lines[line.dataset, Entry(line.method, line.view if several else "")] = line
            failed = {
                (one.cell.dataset, entry)
                for one in self.results.failures
                for entry in self.board.entries
                if entry.label == self.results.label(one.cell)
            }

            def is_low(entry: Entry, dataset: str, level: float) -> bool:
                line = lines.get((dataset, entry))
                return line is not None and standings.coverage(line, level).too_low

            self._ranked = self.board.ranked(is_low, failed)
        return self._ranked

    def _add_metrics(self) -> None:
        """Add the columns that ``metrics.csv`` has."""
        wanted: dict[tuple[str, float | None], str] = {(name, None): name for name in OF_SUMMARY}
        if self.level is not None:
            wanted["coverage", self.level] = coverage_name(self.level)
            wanted["mean_region_size", self.level] = "region_size"
            wanted["no_class", self.level] = "region_size"
        views: dict[str, set[str]] = {}
        sizes: dict[tuple[str, str], float] = {}
        for row in self.results.metrics:
            if row.view:
                views.setdefault(row.cell.key, set()).add(row.view)
        for row in self.results.metrics:
            column = wanted.get((row.metric, row.level))
            if row.view and column is not None:
                view = row.view if len(views[row.cell.key]) > 1 else ""
                entry = Entry(self.results.label(row.cell), view)
                value = row.value
                if column == "region_size":  # an empty region is an error, not a small one
                    other = sizes.pop((row.cell.key, row.view), None)
                    if other is None:
                        sizes[row.cell.key, row.view] = value
                        continue
                    value += other
                self.board.add(column, entry, row.cell.dataset, value)

    def printed(self) -> Iterator[PrintedTable]:
        headings = {one.name: one.heading for one in self.board.columns}
        ranks: dict[str, dict[Entry, float]] = {}
        for row in (*self.written(LEADERBOARD), *self.written(TIMED)):
            if row["column"] in ("error", "risk_at_0.9", "seconds") and row["mean_rank"]:
                own = ranks.setdefault(headings[row["column"]], {})
                own[Entry(row["method"], row["view"])] = float(row["mean_rank"])
        if ranks:
            first = next(iter(ranks.values()))
            entries = sorted(set().union(*ranks.values()), key=lambda one: (first.get(one, math.inf), one))
            rows = [(one.name, *(_number(own.get(one)) for own in ranks.values())) for one in entries]
            yield PrintedTable("Leaderboard: mean ranks, 1 is best", ("method", *ranks), rows, right=1)


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
