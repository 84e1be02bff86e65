"""Accuracy-rejection curves, and views at the proportions of the envelope: ``matched.csv``.

Krzanowski et al. (2006), section 3.3: for each threshold of the envelope, the threshold of reject with the
same sure-incorrect proportion (the largest of several), and the multiple of the standard deviation at which
the posterior has the same sure-correct proportion (the one nearest to Phi^-1 of the envelope's threshold).

Graepel, Herbrich and Obermayer, "Bayesian transduction", NIPS 12, section 4: a threshold theta on the
confidence, which is 2 max(p) - 1 of Bayesian transduction (equation 7) and |f| of a support vector machine,
rejects the examples below it: ``threshold-curves.csv``.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from confml.measures import Metric
from confml.measures.rejection import Match, band, curve_of, match, sureness
from confml.report.figures import Subject
from confml.report.figures.accuracy_rejection import threshold_curves
from confml.report.items import Item, Table, TableKind
from confml.report.numbers.outcomes import (
    ERROR,
    MACHINES,
    POINTS,
    RATES,
    VOLUMES,
    ThresholdCurve,
    theta_max,
)
from confml.report.numbers.summaries import SummaryRow, lines_of_variants, mean_and_sd, with_params
from confml.report.numbers.variant_numbers import OfVariants
from confml.report.run.results import RunResults
from confml.report.sections.base import Section, ViewSection
from confml.runner.results import CellResult

CSV_RATES = np.arange(51) / 50  # rejection rates of the CSV file: 0, 0.02, ... 1
CURVES = TableKind(
    "rejection-curves.csv",
    "dataset method params view rejection_rate splits sure_incorrect sure_incorrect_sd "
    "sure_incorrect_low sure_incorrect_high risk risk_sd",
    read=True,
)


class RejectionCurves(ViewSection):
    """``rejection-curves.csv``: one row per view and rejection rate.

    sure_incorrect: errors among the accepted as a share of all, mean over the splits, with sd, smallest and
    largest; risk: as a share of the accepted. Rates that a split cannot attain have no row. Splits without
    test examples, or with a NaN confidence, have no curve.
    """

    name = "rejection-curves"
    place = 70
    files = {"rejection-curves.csv": "errors against rejection rate"}

    tables = (CURVES,)

    def takes(self, case):
        return len(case.truth) > 0 and case.curve is not None

    def add_view(self, found, result, view, case):
        found.append(case.curve)

    def rows_of(self, key, found):
        wrong, risk = band(found, CSV_RATES), band(found, CSV_RATES, what="risk")
        columns = [column.tolist() for column in (*wrong[1:], risk.mean, risk.sd)]
        rows = []
        for place in np.flatnonzero(~np.isnan(wrong.mean)).tolist():
            numbers = (round(column[place], 12) for column in columns)  # 0.02, not 0.0200000000018
            rows.append((*key, CSV_RATES[place], len(found), *numbers))
        return (rows,)


VIEWS = {"envelope", "reject", "posterior"}
_SOURCE = "Krzanowski et al. 2006, table 2"
METRICS = {
    "matched_threshold": Metric(
        "threshold of reject, or multiple of the posterior's sd, that matches the envelope",
        None,
        "largest t with sure_incorrect of reject at t = that of the envelope; for the posterior the c with "
        "the sure_correct of the envelope",
        _SOURCE,
    ),
    "matched_sure_correct": Metric(
        "share of test examples accepted at matched_threshold and predicted correctly",
        "higher",
        "#{accepted and correct} / n",
        _SOURCE,
    ),
    "matched_unsure": Metric(
        "share of test examples rejected at matched_threshold", "lower", "#{rejected} / n", _SOURCE
    ),
    "matched_sure_incorrect": Metric(
        "share of test examples accepted at matched_threshold and predicted wrongly",
        "lower",
        "#{accepted and wrong} / n",
        _SOURCE,
    ),
    "matched_exactly": Metric(
        "1 if the proportions are equal, 0 if ties prevent it",
        None,
        "1{proportion = that of the envelope}",
        _SOURCE,
    ),
}
"""Declarations of the metrics of ``matched.csv``."""


MATCHED = TableKind("matched.csv", "dataset method params split view metric level value")


class Matched(Section):
    """``matched.csv``: one number per row, ``level`` the envelope's threshold.

    matched_threshold is the threshold of reject, or the multiple of the posterior's sd. It is empty if no
    prediction is accepted at it. matched_exactly: 1 if the proportions are equal, 0 if ties prevent it.
    """

    name = "matched"
    place = 80
    needs = "thresholds in the config, and a method with the views envelope, reject and posterior"
    setting = "thresholds"
    files = {"matched.csv": "reject and posterior at the envelope's proportions"}
    metrics = {MATCHED.path: METRICS}

    def start(self) -> None:
        self._rows: list[tuple] = []

    def add(self, result: CellResult) -> None:
        if set(result.views) >= VIEWS and len(result.truth):
            cell = (result.cell.dataset, result.cell.method, result.cell.variant, result.cell.split)
            self._rows += [(*cell, *row) for row in _matched(result, self.results.config.thresholds)]

    def items(self) -> Iterator[Item]:
        if self._rows:
            yield MATCHED.of(self._rows)


def _matched(result: CellResult, thresholds: Sequence[float]) -> Iterator[tuple[str, str, float, float]]:
    """Yield (view, metric, level, value) of one cell."""
    from scipy.special import ndtri

    envelope = result.views["envelope"]
    reject, posterior = (curve_of(result.views[view], result.truth) for view in ("reject", "posterior"))
    for level in thresholds:
        reference = sureness(envelope.accepted(level), envelope.labels == result.truth)
        found = {
            "reject": match(reject, reference, by="incorrect"),
            "posterior": match(posterior, reference, by="correct", near=float(ndtri(level))),
        }
        for view, one in found.items():
            for metric, value in _numbers(one).items():
                yield view, metric, level, value


def _numbers(found: Match) -> dict[str, float]:
    return {
        "matched_threshold": found.threshold if np.isfinite(found.threshold) else math.nan,
        "matched_sure_correct": found.sureness.correct,
        "matched_unsure": found.sureness.unsure,
        "matched_sure_incorrect": found.sureness.incorrect,
        "matched_exactly": float(found.exact),
    }


def matched_rows(path: Path, summary: Sequence[SummaryRow]) -> list[SummaryRow]:
    """Return the means over the splits of a ``matched.csv``, for the variants of a summary."""
    found: dict[tuple, list[float]] = {}
    for key, line in lines_of_variants(path, summary):
        own = (*key, line["view"], line["metric"], float(line["level"]))
        found.setdefault(own, []).append(float(line["value"] or "nan"))
    return with_params(found, summary)


THRESHOLD_CURVES = "threshold-curves.csv"
_GRAEPEL = "Graepel, Herbrich and Obermayer 2000, section 4"
CURVE_METRICS = {
    "risk_at_rejection": Metric(
        "error of the accepted test examples at a rejection rate",
        "lower",
        "#{accepted and wrong} / #{accepted}",
        _GRAEPEL,
    ),
    "rejection_at_one": Metric(
        "rejection rate of Bayesian transduction at threshold 1", None, "#{rejected at 1} / n", _GRAEPEL
    ),
    "error_at_one": Metric(
        "error of the test examples accepted at threshold 1",
        "lower",
        "#{accepted at 1 and wrong} / #{accepted at 1}",
        _GRAEPEL,
    ),
    "theta_max": Metric(
        "threshold at which the first SVM rejects as many examples as Bayesian transduction does at 1",
        None,
        "smallest t with #{rejected by the SVM at t} >= #{rejected at 1}",
        _GRAEPEL,
    ),
    "fewer_rejections": Metric(
        "rejection rate of the first SVM minus that of Bayesian transduction, at the same error",
        "higher",
        "difference of the smallest rejection rates with this error",
        _GRAEPEL,
    ),
}
"""Declarations of the metrics of ``threshold-curves.csv``."""
_HEADER = ("dataset", "method", "params", "view", "metric", "level", "mean", "sd", "n")


def threshold_rows(subject: Subject) -> Iterator[SummaryRow]:
    """Return numbers of the curves of one data set; none without Bayesian transduction and an SVM.

    For each variant, also of Bayes point machines: ``risk_at_rejection`` at the rates `RATES`. For Bayesian
    transduction: ``rejection_at_one`` and ``error_at_one`` (theta = 1). In comparison with the config's first
    SVM: ``theta_max``, its threshold that rejects as many, and ``fewer_rejections`` at error `ERROR`. Values
    are fractions, with sd over splits where defined.
    """
    volumes, machines = threshold_curves(subject)
    if not volumes or not machines:
        return
    machine = next(iter(machines.values()))
    found = subject.numbers(ThresholdCurve)
    variants = {curve: subject.variants[label] for label, curve in found.items()}
    points = [curve for curve, variant in variants.items() if variant.method == POINTS]
    for curve in (*machines.values(), *points, *volumes.values()):

        def row(metric: str, values: Sequence[float], level: float | None = None, of=variants[curve]):
            key = (subject.dataset, of.method, of.params, of.cells[0].variant, of.view, metric, level)
            return SummaryRow(*key, *mean_and_sd(values))

        for rate in RATES:
            risks = [float(one.risk_at_coverage(1.0 - rate)) for one in curve.curves]
            yield row("risk_at_rejection", risks, rate)
        if curve in volumes.values():
            rejected, errors = curve.at(1.0)
            fewer = machine.rejection_at_error(ERROR) - curve.rejection_at_error(ERROR)
            yield row("rejection_at_one", rejected.tolist())
            yield row("error_at_one", errors.tolist())
            for metric, value, level in (
                ("theta_max", theta_max(machine, curve.rejected(1.0)), None),
                ("fewer_rejections", fewer, ERROR),
            ):  # of all splits together
                yield row(metric, [value], level)._replace(n=len(curve.correct))


class ThresholdCurves(Section):
    """``threshold-curves.csv``: Bayesian transduction and support vector machines at common thresholds."""

    name = "threshold-curves"
    place = 130
    needs = f"the methods {VOLUMES} and {MACHINES} in one run"
    files = {
        THRESHOLD_CURVES: "error and rejection rate of Bayesian transduction and support vector machines"
    }
    metrics = {THRESHOLD_CURVES: CURVE_METRICS}
    collectors = (OfVariants(ThresholdCurve),)

    @classmethod
    def applies(cls, results: RunResults) -> bool:
        return {VOLUMES, MACHINES} <= {cell.method for cell in results.cells}

    def items(self) -> Iterator[Item]:
        names = dict.fromkeys(cell.dataset for cell in self.results.cells)
        rows = [row for name in sorted(names) for row in threshold_rows(Subject(self.results, name, {}))]
        if rows:
            lines = [(row.dataset, row.method, row.variant, *row[4:]) for row in rows]
            yield Table(THRESHOLD_CURVES, _HEADER, lines)


def read_threshold_curves(path: Path, summary: Sequence[SummaryRow]) -> list[SummaryRow]:
    """Return the rows of a ``threshold-curves.csv`` with the parameters of a summary; none without a file."""
    params = {(row.dataset, row.method, row.variant): row.params for row in summary}
    rows = []
    for key, line in lines_of_variants(path, summary):
        level, mean, sd = (float(line[name]) if line[name] else None for name in ("level", "mean", "sd"))
        moments = (math.nan if one is None else one for one in (mean, sd))
        own = (line["view"], line["metric"], level, *moments, int(line["n"]))
        rows.append(SummaryRow._make((*key[:2], params[key], key[2], *own)))
    return rows
