"""`Standings`: the methods of a run, or of several, with the verdicts on each data set."""

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from confml.measures.costs import ABSTAINING, CHEAPEST, costs_of
from confml.methods import BASELINE
from confml.report.answers.coverage import p_value, shortfall, shown_too_low
from confml.report.answers.datasets import MOST_MISSING
from confml.report.answers.differences import (
    Comparison,
    Difference,
    Kind,
    LossTable,
    SplitLosses,
    against_baselines,
    compare_lines,
    mean_interval,
)
from confml.report.answers.lines import CoverageVerdict, Line, Progress, Split, Standing
from confml.report.answers.losses import COST, COSTS, ERROR, SIZE, CellLosses, losses_of
from confml.report.numbers.summaries import CellMetrics, mean_and_sd
from confml.report.run.cells import with_details
from confml.report.run.results import RunResults
from confml.runner.plan import Cell


@dataclass
class _Cells:
    """The finished cells of a line by split. run: number and name of the run; label: of the method."""

    run: int
    run_name: str
    label: str
    costs: Any
    metrics: dict[Split, CellMetrics] = field(default_factory=dict)
    losses: dict[Split, CellLosses] = field(default_factory=dict)


class Standings:
    """The standings of all lines, by metric and level.

    runs: results, and the name that is added to the labels of the methods ("" for a single run). lines: in
    the order of the CSV files, which does not depend on the config.
    """

    def __init__(self, runs: Sequence[tuple[str, RunResults]]):
        self.runs = runs
        self._of: dict[Line, _Cells] = {}
        self._views: dict[tuple[str, str], list[str]] = {}
        for number, (name, results) in enumerate(runs):
            losses = {one.cell.key: one for of_variant in results.collected(losses_of) for one in of_variant}
            for metrics in results.metrics:  # in the order of the CSV files
                cell = metrics.cell
                split = cell.split, losses[cell.key].digest
                for view in metrics.views:
                    line, label = self.line(name, results, cell, view), results.label(cell)
                    new = _Cells(number, name, label, results.config.costs)
                    cells = self._of.setdefault(line, new)
                    cells.metrics[split], cells.losses[split] = metrics, losses[cell.key]
                    self._views.setdefault(line[:2], [])
                    self._views[line[:2]] += [view] if view not in self._views[line[:2]] else []
        self.lines = list(self._of)
        self._baselines = [
            line for line, cells in self._of.items()
            if next(iter(cells.metrics.values())).cell.method == BASELINE
        ]  # fmt: skip
        self._means = functools.cache(self._means_of)
        self._compare = functools.cache(self._comparison)
        self._coverage = functools.cache(self._coverage_of)

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
        return [line for line in self.lines if line.dataset == dataset]

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
        cells = self._of[line]
        return with_details(cells.label, line.view if len(self._views[line[:2]]) > 1 else "", cells.run_name)

    def is_first(self, line: Line) -> bool:
        """Return whether the view is the first one of its method."""
        return self._views[line[:2]][0] == line.view

    def metrics(self, line: Line) -> dict[Split, CellMetrics]:
        """Return the metrics of the finished cells of a line by split."""
        return self._of[line].metrics

    def losses(self, line: Line) -> dict[Split, CellLosses]:
        """Return the losses of the finished cells of a line by split."""
        return self._of[line].losses

    def seconds(self, line: Line) -> float:
        """Return the mean time of inner selection, fit and prediction of a split."""
        times = [cell.seconds for cell in self.losses(line).values()]
        return math.fsum(times) / len(times)

    def test_rows(self, line: Line) -> int:
        """Return the mean number of test rows of a split."""
        numbers = [len(cell.rows) for cell in self.losses(line).values() if len(cell.rows)]
        return round(math.fsum(numbers) / max(len(numbers), 1))

    def run_of(self, line: Line) -> str:
        """Return the name of the run of a line, "" if there is one run only."""
        return self._of[line].run_name

    @functools.cached_property
    def _progress(self) -> dict[str, Progress]:
        planned: dict[str, list[str]] = {}  # splits of the cells of a data set
        pending: dict[str, list[str]] = {}
        for _, results in self.runs:
            for cells, splits in ((results.cells, planned), (results.pending, pending)):
                for cell in cells:
                    splits.setdefault(cell.dataset, []).append(cell.split)
        progress = {}
        for name in planned:
            left, whole = pending.get(name, []), len({*planned[name]})
            progress[name] = Progress(whole - len({*left}), whole, len(left))
        return progress

    def progress(self, dataset: str) -> Progress:
        """Return how much of a data set is computed; there are no verdicts before everything is."""
        return self._progress[dataset]

    @property
    def unfinished(self) -> dict[str, str]:
        """How much of each data set with cells to compute is done, also of those without results."""
        return {name: one.text for name, one in self._progress.items() if one.pending}

    # ---- verdicts

    def of(self, line: Line, metric: str, level: float | None = None) -> Standing | None:
        """Return the standing of a line; None if it does not have the metric."""
        return self._means(line.dataset, metric, level).get(line)

    def family(self, dataset: str, metric: str = ERROR, level: float | None = None) -> Comparison | None:
        """Return the comparison of the lines of a data set by error, cost of decisions or set size.

        Set sizes are compared among lines that promise a coverage which is not shown to be too low. None for
        other metrics, and while cells are still to be computed.
        """
        return self._compare(dataset, metric, level)

    def pair(self, first: Line, second: Line) -> Difference | None:
        """Return the difference of the errors of two compared lines on the splits common to all of them."""
        comparison = self.family(first.dataset)
        if comparison is None or first not in comparison.lines or second not in comparison.lines:
            return None
        both = [self._on(line, comparison.splits, ERROR, None) for line in (first, second)]
        return LossTable(both, *self.kind_of(first), 1.0).pair(0, 1)

    def coverage(self, line: Line, level: float) -> CoverageVerdict:
        """Return the verdict on the coverage of a line at a level."""
        verdicts = self._coverage(line.method, line.view, level)
        return verdicts.get(line.dataset, CoverageVerdict(math.nan, False, math.nan))

    def promise(self, line: Line, level: float) -> list[str] | None:
        """Return why the promised coverage of a line is approximate ([]: it is not); None without one."""
        cells = self.losses(line).values()
        if not all(cell.has_regions(line.view, level) for cell in cells):
            return None
        reasons = [cell.views[line.view].promise for cell in cells]
        return None if None in reasons else reasons[0]

    def not_above_baseline(self, dataset: str) -> str:
        """Return a sentence on the methods that are not shown to have a lower error than the baseline.

        "" without such methods, and while cells are still to be computed.
        """
        comparison = self.family(dataset)
        if comparison is None:
            return ""
        sentences = []
        for baseline in comparison.baselines:
            error = self.of(baseline, ERROR)
            first = filter(self.is_first, comparison.lines)
            weak = [self.label(line) for line in first if not comparison.beats(line, baseline)]
            if weak and error is not None:
                shown = f"{self.label(baseline)} (error {100 * error.mean:.2f} %)"
                sentences.append(f"{dataset}: not shown to be better than {shown}: {', '.join(weak)}")
        return "; ".join(sentences)

    # ---- parts

    def _values(self, line: Line, metric: str, level: float | None) -> dict[Split, float]:
        return {
            split: value
            for split, metrics in self.metrics(line).items()
            if (value := metrics.values.get((line.view, metric, level))) is not None
        }

    def _means_of(self, dataset: str, metric: str, level: float | None) -> dict[Line, Standing]:
        values = {line: self._values(line, metric, level) for line in self.of_dataset(dataset)}
        means = {line: Standing(*mean_and_sd(list(own.values()))) for line, own in values.items() if own}
        if metric in COSTS:
            return {line: one._replace(interval=self._interval(line, metric)) for line, one in means.items()}
        comparison = self.family(dataset, metric, level)
        if comparison is None:
            return means
        for line in (*comparison.baselines, *(comparison.lines if len(comparison.lines) > 1 else ())):
            if line in comparison.best:
                means[line] = means[line]._replace(best=True)
            else:
                means[line] = means[line]._replace(p_value=comparison.adjusted(line))
        return means

    def _comparison(self, dataset: str, metric: str, level: float | None) -> Comparison | None:
        if metric not in (ERROR, COST, SIZE) or self.progress(dataset).pending:
            return None
        lines = self.of_dataset(dataset)
        if metric == COST:
            # The decisions of the class frequencies are always one of the constant ones.
            constant = [line for line in self._baselines if line.view in (CHEAPEST, ABSTAINING)]
            lines = [line for line in lines if line not in self._baselines or line in constant]
            lines = [line for line in lines if None not in self._on(line, self.losses(line), COST, None)]
        else:
            lines = [line for line in lines if self._values(line, metric, level)]
        baselines = [line for line in lines if line in self._baselines and metric != SIZE]
        lines = [line for line in lines if line not in self._baselines]
        if metric == SIZE:
            lines = [line for line in lines if self.promise(line, level or 0.0) is not None]
            lines = [line for line in lines if not self.coverage(line, level or 0.0).too_low]
        lines, splits, left_out = self._comparable(lines)
        if not lines:
            return None
        lines = sorted(lines, key=lambda line: not self.is_first(line))
        losses = [self._on(line, splits, metric, level) for line in lines]
        kind, online = self.kind_of(lines[0])
        if metric == SIZE:
            table = LossTable(losses, "regions", online)
        elif metric == COST:
            largest = max(costs_of(self._of[line].costs).largest for line in lines)
            table = LossTable(losses, kind, online, largest, rare=True)
        else:
            table = LossTable(losses, kind, online, 1.0)
        comparison = compare_lines(table, lines)
        best = comparison.best
        if metric == SIZE and len(best) > 1:
            right = {line: self._decided_correctly(line, splits, level) for line in best}
            best = [line for line in best if right[line] >= max(right.values()) - 1e-12]
        baselines = [line for line in baselines if {*splits} <= {*self.losses(line)}]
        return replace(
            comparison,
            best=best,
            left_out=left_out,
            splits=splits,
            rows=table.row_means.shape[1],
            baselines=against_baselines(
                table, {line: self._on(line, splits, metric, None) for line in baselines}
            ),
        )

    def _on(self, line: Line, splits: Iterable[Split], metric: str, level: float | None) -> list[SplitLosses]:
        """Return the losses of a line on some splits."""
        cells = self.losses(line)
        return [cells[split].of(line.view, metric, level) for split in splits]  # type: ignore[misc]

    def _interval(self, line: Line, metric: str) -> tuple[float, float] | None:
        """Return the 95 % interval of the mean cost of a line; None where a cost is not defined."""
        losses, costs = self._on(line, self.losses(line), metric, None), self._of[line].costs
        if costs is None or None in losses:
            return None
        low, high = mean_interval(losses, *self.kind_of(line), costs_of(costs).largest)
        return None if math.isnan(low) else (low, high)

    def kind_of(self, line: Line) -> tuple[Kind, bool]:
        """Return how the rows of a line depend on each other, and whether they are those of online passes."""
        cells = self.losses(line).values()
        return "groups" if any(cell.grouped for cell in cells) else "rows", any(cell.online for cell in cells)

    def _decided_correctly(self, line: Line, splits: Sequence[Split], level: float | None) -> float:
        """Return the share of rows whose region is the true label alone, over some splits."""
        shares = []
        for split in splits:
            values = self.metrics(line)[split].values
            single = values.get((line.view, "one_class", level))
            right = values.get((line.view, "correct_of_one_class", level))
            shares.append((single or 0.0) * (right if right is not None and right == right else 0.0))
        return math.fsum(shares) / len(shares)

    def _comparable(self, lines: Sequence[Line]) -> tuple[list[Line], list[Split], dict[Line, str]]:
        """Return the lines that are compared, their common splits, and the others with the reason.

        A line without results on more than a fifth of the splits of its run is left out, otherwise the split.
        """
        left_out: dict[Line, str] = {}
        errors = {line: self._values(line, ERROR, None) for line in lines}
        # A split without test rows has no error.
        own = {line: [split for split, value in errors[line].items() if value == value] for line in lines}
        done: dict[int, set[str]] = {}
        for line in lines:
            done.setdefault(self._of[line].run, set()).update(name for name, _ in own[line])
        complete = []
        for line in lines:
            has, known = len(own[line]), len(done[self._of[line].run])
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

    def _coverage_of(self, method: str, view: str, level: float) -> dict[str, CoverageVerdict]:
        """Return the verdicts on a method by data set, without unfinished ones and those with groups."""
        errors = {}
        for line in self.lines:
            if (line.method, line.view) == (method, view) and not self.progress(line.dataset).pending:
                cells = self.losses(line).values()
                splits = [one for cell in cells if (one := cell.region_errors(view, level)) is not None]
                if len(splits) == len(cells) and not any(cell.grouped for cell in cells):
                    errors[line.dataset] = splits
        p_values = {name: p_value(splits, level) for name, splits in errors.items()}
        low = shown_too_low(p_values)
        return {
            name: CoverageVerdict(p_values[name], low[name], shortfall(splits, level))
            for name, splits in errors.items()
        }


@functools.lru_cache(maxsize=1)  # tables, page and console use them
def standings_of(results: RunResults) -> Standings:
    """Return the standings of a run."""
    return Standings([("", results)])
