"""`Standings`: the methods of a run, or of several, with the verdicts on each data set."""

import functools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from confml.measures.costs import ABSTAINING, CHEAPEST, costs_of
from confml.measures.ranks import holm
from confml.methods import BASELINE
from confml.report.answers.computed_once import computed_once
from confml.report.answers.coverage import SplitErrors, p_value, shortfall, shown_too_low
from confml.report.answers.datasets import MOST_MISSING
from confml.report.answers.differences import (
    Difference,
    Kind,
    LossTable,
    SplitLosses,
    best_of,
    mean_interval,
)
from confml.report.answers.evidence import Evidence
from confml.report.answers.family import CoverageVerdict, Family, Line, Progress, Split, Standing
from confml.report.numbers.summaries import CellMetrics, mean_and_sd
from confml.report.run.cells import with_details
from confml.report.run.results import RunResults
from confml.runner.plan import Cell

SIZE = "mean_region_size"
"""Metric of regions that is compared, with 1 in place of 0: an empty region is an error, not a small one."""
COSTS = ("cost", "cost_with_abstaining")
"""Metrics whose means have an interval."""
COST = "decision_cost"
"""Metric of the decisions of least expected cost: with abstaining if it has a price."""


class Standings:
    """The standings of all lines, by metric and level.

    runs: results, and the name that is added to the labels of the methods ("" for a single run). lines: in
    the order of the CSV files, which does not depend on the config.
    """

    def __init__(self, runs: Sequence[tuple[str, RunResults]]):
        self.runs = runs
        self._cells: dict[Line, dict[Split, tuple[CellMetrics, Evidence]]] = {}
        self._run: dict[Line, int] = {}
        self._views: dict[tuple[str, str], list[str]] = {}
        self._names: dict[Line, tuple[str, str]] = {}
        self._baselines: set[Line] = set()
        for number, (name, results) in enumerate(runs):
            evidence = Evidence(results)
            for one in results.metrics:  # in the order of the CSV files
                for view in one.views:
                    line = self.line(name, results, one.cell, view)
                    own = self._cells.setdefault(line, {})
                    own[one.cell.split, evidence.splits[one.cell.key].digest] = one, evidence
                    self._run[line], self._names[line] = number, (results.label(one.cell), name)
                    if one.cell.method == BASELINE:
                        self._baselines.add(line)
                    views = self._views.setdefault(line[:2], [])
                    views += [view] if view not in views else []
        self.lines = list(self._cells)
        self._of_dataset: dict[str, list[Line]] = {}
        for line in self.lines:
            self._of_dataset.setdefault(line.dataset, []).append(line)
        self.kept: dict[tuple, Any] = {}  # of functions that are `computed_once`

    @staticmethod
    def line(name: str, results: RunResults, cell: Cell, view: str) -> Line:
        """Return the line of a view of a cell. name: of the run."""
        return Line(cell.dataset, ", ".join(filter(None, [results.label(cell), name])), view)

    # ---- what is there

    @property
    def results(self) -> RunResults:
        """The results of the first run."""
        return self.runs[0][1]

    def of_dataset(self, dataset: str) -> list[Line]:
        return self._of_dataset.get(dataset, [])

    def compared(self, dataset: str) -> list[Line]:
        """Return the lines of a data set without those of the baseline."""
        return [line for line in self.of_dataset(dataset) if line not in self._baselines]

    def in_config_order(self) -> list[Line]:
        """Return the lines in the order of the config."""
        cells = [(name, results, cell) for name, results in self.runs for cell in results.cells]
        datasets = list(dict.fromkeys(cell.dataset for _, _, cell in cells))
        labels = list(dict.fromkeys(self.line(*one, "").method for one in cells))
        return sorted(self.lines, key=lambda line: (datasets.index(line.dataset), labels.index(line.method)))

    def label(self, line: Line) -> str:
        """Return the name of a line: its method, its view if there are several, and its run."""
        method, run = self._names[line]
        view = line.view if len(self._views[line[:2]]) > 1 else ""
        return with_details(method, view, run)

    def is_first(self, line: Line) -> bool:
        """Return whether the view is the first one of its method."""
        return self._views[line[:2]][0] == line.view

    def cells_of(self, line: Line) -> list[tuple[CellMetrics, Evidence]]:
        """Return the metrics of the finished cells of a line, each with the evidence of its run."""
        return list(self._cells[line].values())

    def seconds(self, line: Line) -> float:
        """Return the mean time of inner selection, fit and prediction of a split."""
        own = [evidence.seconds[one.cell.key] for one, evidence in self._cells[line].values()]
        return math.fsum(own) / len(own)

    def test_rows(self, line: Line) -> int:
        """Return the mean number of test rows of a split."""
        own = [len(evidence.splits[one.cell.key].rows) for one, evidence in self._cells[line].values()]
        own = [rows for rows in own if rows]
        return round(math.fsum(own) / max(len(own), 1))

    def run_of(self, line: Line) -> str:
        """Return the name of the run of a line, "" if there is one run only."""
        return self._names[line][1]

    def splits(self, dataset: str) -> int:
        """Return the largest number of splits of a line of a data set."""
        return max((len(self._cells[line]) for line in self.of_dataset(dataset)), default=0)

    @functools.cached_property
    def _progress(self) -> dict[str, Progress]:
        planned: dict[str, list[str]] = {}  # splits of the cells of a data set
        pending: dict[str, list[str]] = {}
        for _, results in self.runs:
            for cells, own in ((results.cells, planned), (results.pending, pending)):
                for cell in cells:
                    own.setdefault(cell.dataset, []).append(cell.split)
        found = {}
        for name, splits in planned.items():
            left, whole = pending.get(name, []), len({*splits})
            found[name] = Progress(whole - len({*left}), whole, len(left))
        return found

    def progress(self, dataset: str) -> Progress:
        """Return how much of a data set is computed; there are no verdicts before everything is."""
        return self._progress[dataset]

    @property
    def unfinished(self) -> dict[str, str]:
        """How much of each data set with cells to compute is done, also of those without results."""
        return {name: one.text for name, one in self._progress.items() if one.pending}

    def cell(self, line: Line, split: Split) -> Cell:
        """Return the cell of a line on a split."""
        return self._cells[line][split][0].cell

    # ---- verdicts

    def of(self, line: Line, metric: str, level: float | None = None) -> Standing | None:
        """Return the standing of a line; None if it does not have the metric."""
        return self._standings(line.dataset, metric, level).get(line)

    def family(self, dataset: str, metric: str = "error", level: float | None = None) -> Family | None:
        """Return the comparison of the lines of a data set by error or set size.

        Set sizes are compared among lines that promise a coverage which is not shown to be too low. None for
        other metrics, and while cells are still to be computed.
        """
        return self._family(dataset, metric, level)

    def pair(self, first: Line, second: Line) -> Difference | None:
        """Return the difference of the errors of two compared lines on the common splits of their family."""
        family = self.family(first.dataset)
        if family is None or first not in family.lines or second not in family.lines:
            return None
        both = [
            [self._losses(line, split, "error", None) for split in family.splits] for line in (first, second)
        ]
        return LossTable(both, *self.kind_of(first), 1.0).pair(0, 1)

    def coverage(self, line: Line, level: float) -> CoverageVerdict:
        """Return the verdict on the coverage of a line at a level."""
        found = self._verdicts(line.method, line.view, level)
        return found.get(line.dataset, CoverageVerdict(math.nan, False, math.nan))

    def promise(self, line: Line, level: float) -> list[str] | None:
        """Return why the promised coverage of a line is approximate ([]: it is not); None without one."""
        cells = self.cells_of(line)
        if not all(evidence.has_regions(one.cell, line.view, level) for one, evidence in cells):
            return None
        reasons = [evidence.promise(one.cell, line.view) for one, evidence in cells]
        return None if None in reasons else reasons[0]

    # ---- parts

    def _values(self, line: Line, metric: str, level: float | None) -> dict[Split, float]:
        return {
            split: value
            for split, (one, _) in self._cells[line].items()
            if (value := one.values.get((line.view, metric, level))) is not None
        }

    @computed_once
    def _standings(self, dataset: str, metric: str, level: float | None) -> dict[Line, Standing]:
        values = {
            line: own for line in self.of_dataset(dataset) if (own := self._values(line, metric, level))
        }
        plain = {line: Standing(*mean_and_sd(list(own.values()))) for line, own in values.items()}
        if metric in COSTS:
            return {line: one._replace(interval=self._interval(line, metric)) for line, one in plain.items()}
        family = self.family(dataset, metric, level)
        if family is None:
            return plain
        for line, p_values in family.baselines.items():
            plain[line] = plain[line]._replace(p_value=float(p_values[family.found.best].max(initial=0.0)))
        if len(family.lines) < 2:
            return plain
        return {
            line: one._replace(
                best=line in family.best, p_value=family.adjusted(line), difference=family.difference(line)
            )
            if line in family.lines and line not in family.best
            else one._replace(best=line in family.best)
            for line, one in plain.items()
        }

    @computed_once
    def _family(self, dataset: str, metric: str, level: float | None) -> Family | None:
        if metric not in ("error", COST, SIZE) or self.progress(dataset).pending:
            return None
        lines = [line for line in self.of_dataset(dataset) if self._values(line, metric, level)]
        if metric == COST:
            # The decisions of the class frequencies are always one of the constant ones.
            repeated = [line for line in self._baselines if line.view not in (CHEAPEST, ABSTAINING)]
            lines = [
                line for line in self.of_dataset(dataset) if self._has_costs(line) and line not in repeated
            ]
        baselines = [line for line in lines if line in self._baselines and metric != SIZE]
        lines = [line for line in lines if line not in self._baselines]
        if metric == SIZE:
            lines = [line for line in lines if self.promise(line, level or 0.0) is not None]
            lines = [line for line in lines if not self.coverage(line, level or 0.0).too_low]
        lines, common, left_out = self._comparable(lines)
        if not lines:
            return None
        lines = sorted(lines, key=lambda line: not self.is_first(line))
        losses = [[self._losses(line, split, metric, level) for split in common] for line in lines]
        kind, online = self.kind_of(lines[0])
        if metric == SIZE:
            table = LossTable(losses, "regions", online)
        elif metric == COST:
            costs = [self._cells[line][common[0]][1].results.config.costs for line in lines]
            largest = max(costs_of(one).largest for one in costs)
            table = LossTable(losses, kind, online, largest, rare=True)
        else:
            table = LossTable(losses, kind, online, 1.0)
        found = best_of(table)
        if metric == SIZE and len(found.best) > 1:
            decided = {place: self._decided_correctly(lines[place], common, level) for place in found.best}
            most = max(decided.values()) - 1e-12
            found = replace(found, best=[k for k in found.best if decided[k] >= most])
        return Family(
            lines,
            found,
            left_out,
            common,
            table.row_means.shape[1],
            self._above_baselines(table, baselines, common, metric),
        )

    def _above_baselines(
        self, table: LossTable, baselines: Sequence[Line], common: Sequence[Split], metric: str
    ) -> dict[Line, np.ndarray]:
        """Return the p-values of `Family.baselines`, of the baselines that have the common splits."""
        baselines = [line for line in baselines if {*common} <= {*self._cells[line]}]
        p_values = []
        for line in baselines:
            constant = [self._losses(line, split, metric, None) for split in common]
            for losses in table.methods:
                both = LossTable([losses, constant], table.kind, table.online, table.bound, table.rare)
                pair = both.pair(0, 1)
                is_lower = pair is not None and pair.difference < 0 and not math.isnan(pair.p_value)
                p_values.append(pair.p_value if pair is not None and is_lower else 1.0)
        return dict(zip(baselines, holm(p_values).reshape(len(baselines), len(table.methods)), strict=True))

    def _losses(self, line: Line, split: Split, metric: str, level: float | None) -> SplitLosses:
        one, evidence = self._cells[line][split]
        if metric == SIZE:
            found = evidence.filled_sizes(one.cell, line.view, level or 0.0)
        elif metric == COST:
            found = evidence.costs(one.cell, line.view)
        else:
            found = evidence.errors(one.cell, line.view)
        if found is None:
            raise ValueError(f"no {metric} of {self.label(line)} on {line.dataset}, split {split[0]}")
        return found

    def _interval(self, line: Line, metric: str) -> tuple[float, float] | None:
        """Return the 95 % interval of the mean cost of a line; None where a cost is not defined."""
        found = [
            (evidence, evidence.costs(one.cell, line.view, metric)) for one, evidence in self.cells_of(line)
        ]
        costs = found[0][0].results.config.costs
        if costs is None or any(own is None for _, own in found):
            return None
        low, high = mean_interval(
            [own for _, own in found if own is not None], *self.kind_of(line), costs_of(costs).largest
        )
        return None if math.isnan(low) else (low, high)

    def _has_costs(self, line: Line) -> bool:
        cells = self._cells[line].values()
        return all(evidence.costs(one.cell, line.view) is not None for one, evidence in cells)

    def kind_of(self, line: Line) -> tuple[Kind, bool]:
        """Return how the rows of a line depend on each other, and whether they are those of online passes."""
        found = self._cells[line].values()
        grouped = any(evidence.results.has_groups(line.dataset) for _, evidence in found)
        return "groups" if grouped else "rows", any(
            evidence.splits[one.cell.key].online for one, evidence in found
        )

    def _decided_correctly(self, line: Line, common: Sequence[Split], level: float | None) -> float:
        """Return the share of rows whose region is the true label alone, over the common splits."""
        shares = []
        for split in common:
            one, _ = self._cells[line][split]
            single = one.values.get((line.view, "one_class", level))
            right = one.values.get((line.view, "correct_of_one_class", level))
            shares.append((single or 0.0) * (right if right is not None and right == right else 0.0))
        return math.fsum(shares) / len(shares)

    def _comparable(self, lines: Sequence[Line]) -> tuple[list[Line], list[Split], dict[Line, str]]:
        """Return the lines that are compared, their common splits, and the others with the reason.

        A line without results on more than a fifth of the splits of its run is left out, otherwise the split.
        """
        left_out: dict[Line, str] = {}
        errors = {line: self._values(line, "error", None) for line in lines}
        # A split without test rows has no error.
        own = {line: [split for split, value in errors[line].items() if value == value] for line in lines}
        done: dict[int, set[str]] = {}
        for line in lines:
            done.setdefault(self._run[line], set()).update(name for name, _ in own[line])
        complete = []
        for line in lines:
            has, known = len(own[line]), len(done[self._run[line]])
            if not has or known - has > MOST_MISSING * known:
                left_out[line] = f"results on {has} of {known} splits"
            else:
                complete.append(line)
        if not complete:
            return [], [], left_out
        means = {line: mean_and_sd(list(errors[line].values()))[0] for line in complete}
        first = min(complete, key=lambda line: (means[line], line))
        common, compared = own[first], [first]
        names = {name for name, _ in common}
        for line in sorted(complete, key=lambda line: (-len({*own[line]} & {*own[first]}), line)):
            if line == first:
                continue
            if shared := [split for split in common if split in own[line]]:
                common = shared
                compared.append(line)
            else:
                same = any(name in names for name, _ in own[line])
                left_out[line] = "different test examples" if same else "no common split"
        return [line for line in lines if line in compared], common, left_out

    @computed_once
    def _verdicts(self, method: str, view: str, level: float) -> dict[str, CoverageVerdict]:
        found: dict[str, list[SplitErrors]] = {}
        for line in self.lines:
            if (line.method, line.view) == (method, view) and not self.progress(line.dataset).pending:
                own = [
                    evidence.coverage(one.cell, view, level) for one, evidence in self._cells[line].values()
                ]
                grouped = any(
                    evidence.results.has_groups(line.dataset) for _, evidence in self._cells[line].values()
                )
                if own and not grouped and all(one is not None for one in own):
                    found[line.dataset] = [one for one in own if one is not None]
        p_values = {name: p_value(own, level) for name, own in found.items()}
        low = shown_too_low(p_values)
        return {
            name: CoverageVerdict(p_values[name], low[name], shortfall(own, level))
            for name, own in found.items()
        }


@functools.lru_cache(maxsize=1)  # tables, page and console use them
def standings_of(results: RunResults) -> Standings:
    """Return the standings of a run."""
    return Standings([("", results)])


@computed_once
def not_above_baseline(standings: Standings, dataset: str) -> str:
    """Return a sentence on the methods that are not shown to have a lower error than the baseline.

    "" without such methods, and while cells are still to be computed.
    """
    family = standings.family(dataset)
    if family is None:
        return ""
    sentences = []
    first = [line for line in family.lines if standings.is_first(line)]
    for baseline in family.baselines:
        error = standings.of(baseline, "error")
        weak = [standings.label(line) for line in first if not family.beats(line, baseline)]
        if weak and error is not None:
            shown = f"{standings.label(baseline)} (error {100 * error.mean:.2f} %)"
            sentences.append(f"{dataset}: not shown to be better than {shown}: {', '.join(weak)}")
    return "; ".join(sentences)
