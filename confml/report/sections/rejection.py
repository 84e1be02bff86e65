"""Accuracy-rejection curves, and views at the proportions of the envelope: ``matched.csv``.

Krzanowski et al. (2006), section 3.3: for each threshold of the envelope, the threshold of reject with the
same sure-incorrect proportion (the largest of several), and the multiple of the standard deviation at which
the posterior has the same sure-correct proportion (the one nearest to Phi^-1 of the envelope's threshold)."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from confml.measures import Metric
from confml.measures.rejection import Match, band, curve_of, match, sureness
from confml.report.items import Item, TableKind
from confml.report.numbers.summaries import SummaryRow, lines_of_variants, with_params
from confml.report.run.results import RunResults
from confml.report.sections.base import Section, ViewSection
from confml.runner.results import CellResult

RATES = np.arange(51) / 50  # rejection rates of the CSV file: 0, 0.02, ... 1
CURVES = TableKind(
    "rejection-curves.csv",
    (
        *("dataset", "method", "params", "view", "rejection_rate", "splits", "sure_incorrect"),
        *("sure_incorrect_sd", "sure_incorrect_low", "sure_incorrect_high", "risk", "risk_sd"),
    ),
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
        wrong, risk = band(found, RATES), band(found, RATES, what="risk")
        columns = [column.tolist() for column in (*wrong[1:], risk.mean, risk.sd)]
        rows = []
        for place in np.flatnonzero(~np.isnan(wrong.mean)).tolist():
            numbers = (round(column[place], 12) for column in columns)  # 0.02, not 0.0200000000018
            rows.append((*key, RATES[place], len(found), *numbers))
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


MATCHED = TableKind(
    "matched.csv", ("dataset", "method", "params", "split", "view", "metric", "level", "value")
)


class Matched(Section):
    """``matched.csv``: one number per row, ``level`` the envelope's threshold.

    matched_threshold is the threshold of reject, or the multiple of the posterior's sd. It is empty if no
    prediction is accepted at it. matched_exactly: 1 if the proportions are equal, 0 if ties prevent it.
    """

    name = "matched"
    place = 80
    needs = "thresholds in the config, and a method with the views envelope, reject and posterior"
    files = {"matched.csv": "reject and posterior at the envelope's proportions"}
    metrics = {MATCHED.path: METRICS}

    def start(self) -> None:
        self._rows: list[tuple] = []

    @classmethod
    def applies(cls, results: RunResults) -> bool:
        return bool(results.config.thresholds)

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
