"""`Comparisons`: the methods of a run, or of several, with their means and the verdicts on each data set."""

import functools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from confml.measures.costs import ALWAYS, COSTS
from confml.measures.ranks import holm
from confml.methods import BASELINE
from confml.report.answers.coverage import FEWEST, SHOWN, class_p_value, p_value
from confml.report.answers.datasets import MOST_MISSING
from confml.report.answers.differences import (
    SIGNIFICANCE,
    Comparison,
    Kind,
    LossTable,
    SplitLosses,
    compare_lines,
    mean_interval,
)
from confml.report.answers.losses import COST, ERROR, MISSED, SIZE, CellLosses, losses_of
from confml.report.numbers.summaries import CellMetrics, mean_and_sd
from confml.report.run.cells import with_details
from confml.report.run.results import RunResults, ViewKey
from confml.runner.plan import Cell

Split = tuple[str, str]  # name of the split, digest of its test rows


class Line(NamedTuple):
    """One row of a table: a view of a method variant on a data set.

    method: its label, with the run if there are several.
    """

    dataset: str
    method: str
    view: str


class Estimate(NamedTuple):
    """Mean and sd over n splits.

    best: whether the mean is the best of its data set; only errors, costs of decisions and set sizes are
    compared. p_value: of the comparison with the best one, corrected by Holm over all pairs; NaN if not
    tested. interval: of 95 % of a mean cost, over all test rows.
    """

    mean: float
    sd: float
    n: int
    best: bool = False
    p_value: float = math.nan
    interval: tuple[float, float] | None = None

    @property
    def worse(self) -> bool:
        """Whether the mean is shown to be worse than the best one, at level 0.05."""
        return not self.best and self.p_value < SIGNIFICANCE


class LowClass(NamedTuple):
    """A class that the regions of a line at a level contain too rarely."""

    line: Line
    label: Any
    coverage: float
    level: float


class Comparisons:
    """The means and verdicts of all lines, by metric and level.

    runs: results by the name that is added to the labels of the methods ("" for a single run). lines: in the
    order of the CSV files, which does not depend on the config. metrics, losses: of the finished cells of a
    line by split. run_of: name of its run. unfinished: the finished splits of data sets with cells to
    compute, such as "7 of 10 splits".
    """

    def __init__(self, runs: Sequence[tuple[str, RunResults]]):
        self.runs = dict(runs)
        self.metrics: dict[Line, dict[Split, CellMetrics]] = {}
        self.losses: dict[Line, dict[Split, CellLosses]] = {}
        self.run_of: dict[Line, str] = {}
        for name, run in runs:
            losses = [cell for of_variant in run.collected(losses_of) for cell in of_variant]
            for metrics, of_cell in zip(run.metrics, losses, strict=True):  # in the order of the CSV files
                for view in metrics.views:
                    line = self.line(name, run, metrics.cell, view)
                    self.run_of[line], split = name, (metrics.cell.split, of_cell.digest)
                    self.metrics.setdefault(line, {})[split] = metrics
                    self.losses.setdefault(line, {})[split] = of_cell
        self.lines = list(self.losses)
        self._views = Counter((line.dataset, line.method) for line in self.lines)
        self._first = {line[:2]: line for line in reversed(self.lines)}
        planned = [cell for _, run in runs for cell in run.cells]
        pending = [cell for _, run in runs for cell in run.pending]
        self.unfinished: dict[str, str] = {}
        for name in dict.fromkeys(cell.dataset for cell in pending):
            n, rest = (len({c.split for c in cells if c.dataset == name}) for cells in (planned, pending))
            self.unfinished[name] = f"{n - rest} of {n} split{'s' * (n > 1)}"
        self._estimates = functools.cache(self._estimates_of)
        self._comparisons = functools.cache(self._compare)
        self._low_coverages = functools.cache(self._low_coverages_of)
        self._class_tests = functools.cache(self._class_tests_of)

    @staticmethod
    def line(name: str, results: RunResults, cell: Cell, view: str) -> Line:
        """Return the line of a view of a cell. name: of the run."""
        return Line(cell.dataset, ", ".join(filter(None, [results.label(cell), name])), view)

    # ---- lines

    @property
    def results(self) -> RunResults:
        """The results of the first run."""
        return next(iter(self.runs.values()))

    def of_dataset(self, dataset: str) -> list[Line]:
        return [line for line in self.lines if line.dataset == dataset]

    def is_baseline(self, line: Line) -> bool:
        return self.cell(line).method == BASELINE

    def in_config_order(self) -> list[Line]:
        """Return the lines in the order of the config."""
        cells = [(name, run, cell) for name, run in self.runs.items() for cell in run.cells]
        datasets = list(dict.fromkeys(cell.dataset for _, _, cell in cells))
        methods = list(dict.fromkeys(self.line(*of_run, "").method for of_run in cells))
        return sorted(self.lines, key=lambda line: (datasets.index(line.dataset), methods.index(line.method)))

    def label(self, line: Line) -> str:
        """Return the name of a line: its method, its view if there are several, and its run."""
        view = line.view if self._views[line[:2]] > 1 else ""
        return with_details(self.method(line), view, self.run_of[line])

    def method(self, line: Line) -> str:
        """Return the label of the method of a line, without its run."""
        return self.runs[self.run_of[line]].label(self.cell(line))

    def is_first(self, line: Line) -> bool:
        """Return whether the view is the first one of its method."""
        return self._first[line[:2]] == line

    def cell(self, line: Line) -> Cell:
        """Return the first finished cell of a line."""
        return next(iter(self.losses[line].values())).cell

    def key(self, line: Line) -> ViewKey:
        """Return the key of a line in the tables of its run."""
        cell = self.cell(line)
        return cell.dataset, cell.method, cell.variant, line.view

    def seconds(self, line: Line) -> float:
        """Return the mean time of inner selection, fit and prediction of a split."""
        times = [cell.seconds for cell in self.losses[line].values()]
        return math.fsum(times) / len(times)

    # ---- verdicts

    def estimate(self, line: Line, metric: str, level: float | None = None) -> Estimate | None:
        """Return the mean of a line by a metric; None if it does not have the metric."""
        return self._estimates(line.dataset, metric, level).get(line)

    def comparison(self, dataset: str, metric: str = ERROR, level: float | None = None) -> Comparison | None:
        """Return the comparison of the lines of a data set by error, cost of decisions or set size.

        Set sizes are compared among lines that promise a coverage which is not shown to be too low. None for
        other metrics, and while cells are still to be computed.
        """
        return self._comparisons(dataset, metric, level)

    def errors(self, comparison: Comparison) -> LossTable:
        """Return the errors of the lines of a comparison on its splits."""
        losses = [self._on(line, comparison.splits, ERROR) for line in comparison.lines]
        return LossTable(losses, *self.kind_of(comparison.lines[0]), 1.0)

    def low_coverage(self, line: Line, level: float) -> float | None:
        """Return the corrected p-value of a coverage that is shown to be too low; None for others."""
        return self._low_coverages(line.method, line.view, level).get(line.dataset)

    def low_classes(self, lines: Iterable[tuple[Line, float]]) -> list[LowClass]:
        """Return the classes of lines whose coverage at a level is shown to be too low, the lowest first.

        lines: with levels; of several at which a class is too low, the first is returned. Corrected by Holm
        over the lines, levels and classes.
        """
        tests = [(line, level, test) for line, level in lines for test in self._class_tests(line, level)]
        low: dict[tuple[Line, Any], LowClass] = {}
        for (line, level, test), p in zip(tests, holm([test[-1] for *_, test in tests]), strict=True):
            if p <= SHOWN:
                label, coverage, _ = test
                low.setdefault((line, label), LowClass(line, label, coverage, level))
        return sorted(low.values(), key=lambda of_class: of_class.coverage)

    def promise(self, line: Line, level: float) -> list[str] | None:
        """Return why the promised coverage of a line is approximate ([]: it is not); None without one."""
        if None in self._on(line, self.losses[line], SIZE, level):
            return None
        reasons = [cell.promises[line.view] for cell in self.losses[line].values()]
        return None if None in reasons else reasons[0]

    def has_regions(self, line: Line, level: float) -> bool:
        """Return whether a line has regions at a level."""
        return any(self._on(line, self.losses[line], SIZE, level))

    def decides(self, line: Line) -> bool:
        """Return whether the decisions of a line have a cost, on all of its splits."""
        return None not in self._on(line, self.losses[line], COST)

    def not_above_baseline(self, dataset: str) -> str:
        """Return a sentence on the methods that are not shown to have a lower error than the baseline.

        "" without such methods, and while cells are still to be computed.
        """
        comparison = self.comparison(dataset)
        if comparison is None:
            return ""
        sentences = []
        for baseline in comparison.baselines:
            weak = [
                self.label(line)
                for line in filter(self.is_first, comparison.lines)
                if comparison.p_value(line, baseline) >= SIGNIFICANCE
            ]
            if weak and (error := self.estimate(baseline, ERROR)):
                name = f"{self.label(baseline)} (error {100 * error.mean:.2f} %)"
                sentences.append(f"{dataset}: not shown to be better than {name}: {', '.join(weak)}")
        return "; ".join(sentences)

    def kind_of(self, line: Line) -> tuple[Kind, bool]:
        """Return how the rows of a line depend on each other, and whether they are those of online passes."""
        cells = self.losses[line].values()
        return "groups" if any(cell.grouped for cell in cells) else "rows", any(cell.online for cell in cells)

    # ---- parts

    def _values(self, line: Line, metric: str, level: float | None) -> dict[Split, float]:
        return {
            split: value
            for split, metrics in self.metrics[line].items()
            if (value := metrics.values.get((line.view, metric, level))) is not None
        }

    def _on(
        self, line: Line, splits: Iterable[Split], metric: str, level: float | None = None
    ) -> list[SplitLosses]:
        """Return the losses of a line on some splits."""
        cells = self.losses[line]
        return [cells[split].of(line.view, metric, level) for split in splits]  # type: ignore[misc]

    def _estimates_of(self, dataset: str, metric: str, level: float | None) -> dict[Line, Estimate]:
        values = {line: self._values(line, metric, level) for line in self.of_dataset(dataset)}
        means = {
            line: Estimate(*mean_and_sd(list(of_splits.values())))
            for line, of_splits in values.items()
            if of_splits
        }
        if metric in COSTS:
            return {
                line: mean._replace(interval=self._interval(line, metric)) for line, mean in means.items()
            }
        comparison = self.comparison(dataset, metric, level)
        if comparison is None:
            return means
        for line in (*comparison.baselines, *(comparison.lines if len(comparison.lines) > 1 else ())):
            if line in comparison.best:
                means[line] = means[line]._replace(best=True)
            else:
                means[line] = means[line]._replace(p_value=comparison.adjusted(line))
        return means

    def _interval(self, line: Line, metric: str) -> tuple[float, float] | None:
        """Return the 95 % interval of the mean cost of a line.

        None where a cost is not defined, and for a constant decision with the same cost on every row. Its
        largest loss is the spread of its own costs.
        """
        losses, costs = self._on(line, self.losses[line], metric), self.runs[self.run_of[line]].costs
        if costs is None or None in losses:
            return None
        largest = costs.largest
        if self.is_baseline(line) and line.view.startswith(ALWAYS):
            largest = float(np.ptp(np.concatenate([split.values for split in losses])))
            if not largest:
                return None
        low, high = mean_interval(losses, *self.kind_of(line), largest)
        return None if math.isnan(low) else (low, high)

    def _compare(self, dataset: str, metric: str, level: float | None) -> Comparison | None:
        if metric not in (ERROR, COST, SIZE) or dataset in self.unfinished:
            return None
        lines = self.of_dataset(dataset)
        if metric == COST:
            lines = list(filter(self.decides, lines))
            # The decisions of the class frequencies are always one of the constant ones.
            lines = [line for line in lines if not self.is_baseline(line) or line.view.startswith(ALWAYS)]
        else:
            lines = [line for line in lines if self._values(line, metric, level)]
        if metric == SIZE:
            lines = [line for line in lines if not self.is_baseline(line)]
            lines = [line for line in lines if self.promise(line, level or 0.0) is not None]
            lines = [line for line in lines if self.low_coverage(line, level or 0.0) is None]
        baselines = list(filter(self.is_baseline, lines))
        lines, splits, left_out = self._comparable([line for line in lines if line not in baselines])
        if not lines:
            return None
        lines.sort(key=lambda line: not self.is_first(line))
        baselines = [line for line in baselines if {*splits} <= {*self.losses[line]}]
        losses = [self._on(line, splits, metric, level) for line in (*lines, *baselines)]
        kind, online = self.kind_of(lines[0])
        if metric == SIZE:
            table = LossTable(losses, "regions", online)
        elif metric == COST:
            costs = (self.runs[self.run_of[line]].costs for line in lines)
            largest = max(of_run.largest for of_run in costs if of_run is not None)
            table = LossTable(losses, kind, online, largest, rare=True)
        else:
            table = LossTable(losses, kind, online, 1.0)
        comparison = compare_lines(table, lines, baselines)
        best = comparison.best
        if metric == SIZE and len(best) > 1:
            right = {line: self._correct_singletons(line, splits, level) for line in best}
            best = [line for line in best if right[line] >= max(right.values()) - 1e-12]
        return replace(comparison, best=best, left_out=left_out, splits=splits)

    def _correct_singletons(self, line: Line, splits: Sequence[Split], level: float | None) -> float:
        """Return the share of rows whose region is the true label alone, over some splits."""
        shares = []
        for split in splits:
            values = self.metrics[line][split].values
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
        splits_of = {
            line: [split for split, value in errors[line].items() if value == value] for line in lines
        }
        done: dict[str, set[str]] = {}
        for line in lines:
            done.setdefault(self.run_of[line], set()).update(name for name, _ in splits_of[line])
        complete = []
        for line in lines:
            has, planned = len(splits_of[line]), len(done[self.run_of[line]])
            if not has or planned - has > MOST_MISSING * planned:
                left_out[line] = f"results on {has} of {planned} splits"
            else:
                complete.append(line)
        if not complete:
            return [], [], left_out
        means = {line: mean_and_sd(list(errors[line].values()))[0] for line in complete}
        first = min(complete, key=lambda line: (means[line], line))
        common, compared = splits_of[first], []
        for line in sorted(complete, key=lambda line: (-len({*splits_of[line]} & {*splits_of[first]}), line)):
            if shared := [split for split in common if split in splits_of[line]]:
                common = shared
                compared.append(line)
            else:
                same = {name for name, _ in splits_of[line]} & {name for name, _ in splits_of[first]}
                left_out[line] = "different test examples" if same else "no common split"
        return [line for line in lines if line in compared], common, left_out

    def _low_coverages_of(self, method: str, view: str, level: float) -> dict[str, float]:
        """Return the corrected p-values of coverages that are shown to be too low, by data set.

        There is no verdict on unfinished data sets, and on those with groups.
        """
        p_values = {}
        for line in self.lines:
            cells = self.losses[line].values()
            if line[1:] == (method, view) and line.dataset not in self.unfinished:
                errors = [cell.region_errors(view, level) for cell in cells if not cell.grouped]
                defined = [split for split in errors if split is not None]
                if len(defined) == len(cells):
                    p_values[line.dataset] = p_value(defined, level)
        tested = [name for name, p in p_values.items() if not math.isnan(p)]
        corrected = holm([p_values[name] for name in tested]).tolist()
        return {name: p for name, p in zip(tested, corrected, strict=True) if p <= SHOWN}

    def _class_tests_of(self, line: Line, level: float) -> list[tuple[Any, float, float]]:
        """Return the classes that are tested, with their coverages and p-values.

        Classes with fewer than `FEWEST` different test rows are not tested. Rows of a class that is absent
        from training do not count where a coverage is promised.
        """
        cells = list(self.losses[line].values())
        if line.dataset in self.unfinished or any(cell.grouped for cell in cells):
            return []
        if any(cell.of(line.view, MISSED, level) is None for cell in cells):
            return []
        tests = []
        for label in np.unique(np.concatenate([cell.truth for cell in cells])).tolist():
            errors = [cell.class_errors(line.view, level, label) for cell in cells]
            errors = [split for split in errors if len(split.missed.rows) and split.parts != ()]
            if not errors:
                continue
            rows = len(np.unique(np.concatenate([split.missed.rows for split in errors])))
            if rows >= FEWEST and not math.isnan(p := class_p_value(errors, level)):
                missed = np.concatenate([split.missed.values for split in errors])
                tests.append((label, 1 - float(missed.mean()), p))
        return tests


@functools.lru_cache(maxsize=1)  # tables, page and console use them
def comparisons_of(results: RunResults) -> Comparisons:
    """Return the comparisons of a run."""
    return Comparisons([("", results)])
