"""The tables of one data set: results, regions, accepted predictions, certificates, times, tuning."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from confml.measures import Metric, metrics_in
from confml.measures.metric import LEVEL, LOWER, PAGE, RESULTS, THRESHOLD
from confml.report.answers.advice import unpromised
from confml.report.answers.answer import Answer
from confml.report.answers.differences import Difference
from confml.report.answers.standings import COSTS, Line, Standings
from confml.report.answers.text import RULE, listed
from confml.report.answers.thresholds import observed_shares
from confml.report.files import natural
from confml.report.forms.page_table import Cell, PageTable, fixed, short, spread
from confml.report.forms.summary import standing_text
from confml.report.numbers.summaries import SummaryRow
from confml.report.page.material import Material, ViewData
from confml.report.tables.table import KEY

CURVES, CERTIFIED, SUMMARY = "rejection-curves.csv", "certified.csv", "summary.csv"
TIMINGS, TUNING = "timings.csv", "tuning.csv"
Summary = dict[tuple, SummaryRow]
UNRANKED = ("auroc_correct", "ece")
"""Metrics without bold values: a worse classifier, or one that rejects everything, can have the best one."""


class DatasetTables:
    """The tables of one data set of one or several runs.

    id: prefix of identifiers. most: number of views in a table, the first ones of ``best``, labels by AUGRC.
    """

    def __init__(
        self,
        material: Sequence[Material],
        standings: Standings,
        dataset: str,
        id: str,
        most: int,
        best: Sequence[str] = (),
    ):
        self.standings = standings
        self.material, self.dataset, self.id, self.most = material, dataset, id, 3 * most
        self.views = [(one, view) for one in material for view in one.of_dataset(dataset)]
        self.cut = ""
        if len(self.views) > most:
            self.cut = (
                f" {most} of {len(self.views)} methods and views, those with the smallest AUGRC; all of them "
                "are in summary.csv."
            )
            kept = set(best[:most])
            self.views = [pair for pair in self.views if pair[1].label in kept]
        self.summary: dict[tuple, SummaryRow] = {}
        for one in material:
            for row in one.results.summary:
                if row.dataset == dataset:
                    key = (one.run, row.dataset, row.method, row.variant, row.view, row.metric, row.level)
                    self.summary[key] = row
        errors = {view.label: self.value(view, "error") for _, view in self.views}
        known = {label: row.mean for label, row in errors.items() if row is not None}
        self.views.sort(key=lambda pair: known.get(pair[1].label, math.inf))
        self.failed: dict[str, int] = {}  # number of failed cells by label
        for one in material:
            for failure in sorted(one.results.failures, key=lambda one: natural(one.cell.title)):
                if failure.cell.dataset == dataset:
                    label = one.label(failure.cell)
                    self.failed[label] = self.failed.get(label, 0) + 1
        self.splits = max((one.number_of_splits(dataset) for one in material), default=0)

    def value(self, view: ViewData, metric: str, level: float | None = None) -> SummaryRow | None:
        return self.summary.get((view.run, *view.key, metric, level))

    @property
    def protocol(self) -> str:
        """A clause on the splits for captions."""
        splits = f"{self.splits} splits" if self.splits != 1 else "one split"
        if so_far := self.standings.progress(self.dataset).text:
            splits = f"so far {so_far}"
        return f"{self.material[0].results.config.protocol.kind}, {splits}"

    @property
    def _mean(self) -> str:
        return ", mean ± sd" if self.splits > 1 else ""

    def results(self, answer: Answer) -> PageTable:
        """Return errors, areas and differences from the best method, one row per method and view."""
        metrics = [
            one for one in metrics_in(PAGE) if any(self.value(view, one.key) for _, view in self.views)
        ]
        headings = ["method", *(one.label for one in metrics)]
        headings += ["difference from lowest (points)", "95 % interval", "p (Holm)", "chosen at 1 % risk (%)"]
        several = len(self.material) > 1
        grouped = any(one.results.has_groups(self.dataset) for one in self.material)
        tested = "splits, because the rows of a group are dependent" if grouped else "rows"
        unranked = [one.heading for one in metrics if one.key in UNRANKED]
        rest = (
            f", except for {listed(unranked)} (a worse classifier can have a better one)" if unranked else ""
        )
        bold = "" if answer.so_far else f" The best observed values are bold{rest}."
        table = PageTable(
            f"{self.id}.results",
            f"Results on {self.dataset} ({self.protocol}{self._mean}).{bold}",
            headings,
            note="Differences are of the error, with simultaneous intervals for all pairs of methods and "
            "views, "
            f"and p-values of the t test of the {tested} ({RULE}). "
            + ("Means are over all splits of a run, differences over common splits. " if several else "")
            + "Chosen at 1 % risk: largest coverage with an observed risk of at most 1 %; its threshold "
            "was chosen on the test rows, so expect a higher risk. AUGRC, AURC: areas under the "
            "(generalised) "
            "risk-coverage curve. ECE: expected calibration error. "
            f"{self.cut}{self._failures_text}",
            most=self.most,
            file=SUMMARY,
        )
        decided = self._decided()
        for own, view in self.views:
            failed = "failed" if view.label in self.failed else ""
            cells: list[Any] = [Cell(view.label, flag=failed, link="#failures" if failed else "")]
            for one in metrics:
                row = self.value(view, one.key)
                if row is None:
                    cells.append("\N{EN DASH}")
                elif one.key in COSTS:
                    cells.append(standing_text(self.standings.of(own.line(view), one.key), one))
                elif RESULTS in one.tables:
                    cells.append(spread(row.mean, row.sd, one.digits, one.factor))
                else:
                    cells.append(row.mean)
            share = decided.get((view.run, view.key), math.nan)
            table.add(*cells, *self._compared(answer, view.label), share)
        shown = {view.label for _, view in self.views}
        for label in self.failed:
            if label not in shown and not any(other.startswith(f"{label}, ") for other in shown):
                empty = ["\N{EN DASH}"] * (len(headings) - 1)
                table.add(Cell(label, flag="failed", link="#failures"), *empty)
        if not answer.so_far:
            for place, one in enumerate(metrics):
                if one.direction and one.key not in UNRANKED:
                    table.mark_best(1 + place, one.direction == LOWER)
            table.mark_best(len(headings) - 1, lowest=False)
        return table

    @property
    def _failures_text(self) -> str:
        if not self.failed:
            return ""
        parts = [f"{label} {number} cell{'s' * (number > 1)}" for label, number in self.failed.items()]
        return f" Failed: {listed(parts)}."

    def _compared(self, answer: Answer, label: str) -> list[Any]:
        """Return difference from the best method, interval and p-value of a view."""
        if label in answer.tied:
            return ["lowest" if answer.compared else "", "", ""]
        other = next((one for one in answer.others if one.label == label), None)
        if other is None or other.difference is None:
            return ["\N{EN DASH}", other.reason if other else "", "\N{EN DASH}"]
        gap = other.difference
        return [gap.difference, interval_text(gap, answer.pairs), p_text(other.adjusted)]

    def _decided(self) -> dict[tuple, float]:
        """Return the largest coverage of each view's mean curve at a risk of 1 %."""
        return {
            (one.run, key): share
            for one in self.material
            for key, share in observed_shares(one.report.dicts(CURVES, dataset=self.dataset)).items()
        }

    def regions(self) -> PageTable:
        """Return coverage and sizes of regions, one row per method, view and level."""
        columns = metrics_in(PAGE, LEVEL)
        table = PageTable(
            f"{self.id}.regions",
            f"Prediction regions on {self.dataset} ({self.protocol}; rates in %, set size in labels).",
            ["method", "level", *(one.heading for one in columns)],
            heads=2,
            note="Low: the coverage is shown to be too low (1 %, Holm's correction over the data sets of a "
            "method). Bold: smallest regions whose promised coverage is not shown to be too low; an empty "
            "region counts as one label. "
            + unpromised(self.standings, next(iter(self.material[0].results.config.levels), 0.05))
            + self.cut,
            most=self.most,
            file=SUMMARY,
        )
        return self._filled(table, columns, "levels")

    def accepted(self) -> PageTable:
        """Return metrics of acceptance, such as sure correct, at the thresholds of the config."""
        columns = metrics_in(PAGE, THRESHOLD)
        table = PageTable(
            f"{self.id}.accepted",
            f"Accepted and rejected predictions on {self.dataset} ({self.protocol}; %).",
            ["method", "threshold", *(one.heading for one in columns)],
            heads=2,
            note="A prediction is accepted (sure) if its confidence reaches the threshold.",
            most=self.most,
            file=SUMMARY,
        )
        return self._filled(table, columns, "thresholds")

    def _filled(self, table: PageTable, columns: Sequence[Metric], key: str) -> PageTable:
        """Add the rows of views at the levels or thresholds of the config where they have numbers."""
        for one, view in self.views:
            for level in dict.fromkeys(map(float, getattr(one.results.config, key))):
                found = [self.value(view, column.key, level) for column in columns]
                if any(found):
                    cells = [
                        self._marked(one.line(view), level, column, row.mean if row else "\N{EN DASH}")
                        for row, column in zip(found, columns, strict=True)
                    ]
                    table.add(view.label, f"{level!r}", *cells)
        return table

    def _marked(self, line: Line, level: float, metric: Metric, value: float | str) -> Cell:
        """Return a number, marked if it is the best set size, or a coverage that is shown to be too low."""
        standing = self.standings.of(line, metric.key, level)
        low = metric.key == "coverage" and self.standings.coverage(line, level).too_low
        return Cell(value, best=standing is not None and standing.best, flag="low" if low else "")

    def certified(self) -> PageTable:
        """Return the thresholds with a certified risk."""
        grouped = any(one.results.has_groups(self.dataset) for one in self.material)
        sure = "" if grouped else " with probability 95 %"
        table = PageTable(
            f"{self.id}.certified",
            f"Thresholds with a certified risk on {self.dataset}.",
            ["method", "risk (%)", "certified splits", "threshold", "coverage (%)", "observed risk (%)"],
            heads=2,
            note=f"Half of each test part certifies the threshold{sure}; coverage and "
            "observed risk are those of the other half. Coverage counts a split without a certificate as 0. "
            + (
                "There is no guarantee, because the rows of a group are dependent."
                if grouped
                else "Each method is certified by itself: the best of several has no guarantee "
                "(tables/certified-jointly.csv has one for all methods)."
            ),
            most=self.most,
            file=CERTIFIED,
        )
        for one, view in self.views:
            for row in one.report.dicts(CERTIFIED, **dict(zip(KEY, view.key, strict=True))):
                splits = f"{row['certified']} of {row['splits']}"
                table.add(
                    *(view.label, f"{100 * row['risk']:g}", splits),
                    row["threshold"] if row["certified"] else "\N{EN DASH}",
                    *(row["coverage"], row["observed_risk"]),
                )
        return table

    def times(self) -> PageTable:
        """Return mean seconds of fit, inner selection and prediction, one row per method."""
        found = {
            label: rows
            for one in self.material
            for label, rows in one.by_method(TIMINGS, self.dataset).items()
        }
        table = PageTable(
            f"{self.id}.times",
            f"Run times on {self.dataset} (mean seconds per split, one thread).",
            ["method", "fit", "inner selection", "grid points", "prediction", "total"],
            most=self.most // 3,
            file=TIMINGS,
        )
        totals = {}
        for label, rows in found.items():
            means = [
                sum(float(row[name] or 0) for row in rows) / len(rows)
                for name in ("fit_seconds", "tuning_seconds", "predict_seconds")
            ]
            totals[label] = (means, sum(means), rows[0]["configurations"])
        longest = max((total for _, total, _ in totals.values()), default=0.0)
        for label, ((fit, tuning, predict), total, points) in totals.items():
            bar = Cell(short(total, 3), bar=total / longest if longest else 0.0)
            tuned = short(tuning, 3) if points else "\N{EN DASH}"
            table.add(label, short(fit, 3), tuned, points or "\N{EN DASH}", short(predict, 3), bar)
        return table

    def tuning(self) -> PageTable:
        """Return the grid points that inner selection has chosen, and how often."""
        found: dict[str, dict[str, list[Mapping]]] = {}
        for one in self.material:
            for label, rows in one.by_method(TUNING, self.dataset).items():
                for row in rows:
                    found.setdefault(label, {}).setdefault(row["candidate"], []).append(row)
        table = PageTable(
            f"{self.id}.tuning",
            f"Inner selection on {self.dataset}: grid points that were chosen.",
            ["method", "chosen", "splits", "inner score, mean", "grid points", "selected by"],
            heads=2,
            most=self.most,
            file=TUNING,
        )
        for label, points in found.items():
            splits = sum(row["chosen"] for rows in points.values() for row in rows)
            for candidate, rows in points.items():
                chosen = [row for row in rows if row["chosen"]]
                if chosen:
                    means = [row["mean"] for row in chosen if row["mean"] is not None]
                    score = short(sum(means) / len(means)) if means else "\N{EN DASH}"
                    times = Cell(f"{len(chosen)} of {splits}", bar=len(chosen) / splits)
                    table.add(label, candidate, times, score, len(points), rows[0]["select_by"])
        return table


def interval_text(found: Difference, comparisons: int = 1) -> str:
    """Return the interval of a difference in points; a dash without one."""
    low, high = found.interval(comparisons)
    if math.isnan(found.error):
        return "\N{EN DASH}"
    return f"{fixed(low, 2, 100)} to {fixed(high, 2, 100)}"


def p_text(value: float) -> str:
    """Return a p-value with three decimals."""
    if math.isnan(value):
        return "\N{EN DASH}"
    return f"{value:.3f}" if value >= 5e-4 else "<0.001"
