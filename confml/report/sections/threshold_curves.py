"""Error against rejection rate over common thresholds: Bayesian transduction and support vector machines.

Graepel, Herbrich and Obermayer, "Bayesian transduction", NIPS 12, section 4. A threshold theta on the
confidence, which is 2 max(p) - 1 of Bayesian transduction (equation 7) and |f| of a support vector machine,
rejects the examples below it.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from confml.measures import Metric
from confml.measures.rejection import RejectionCurve, rejection_curve
from confml.report.figures import Subject, Variant
from confml.report.items import Item, Table
from confml.report.numbers.summaries import SummaryRow, mean_and_sd
from confml.report.sections.base import Section

if TYPE_CHECKING:
    from confml.report.run.results import RunResults

FILE = "threshold-curves.csv"
VOLUMES, MACHINES, POINTS = "bayes-transduction", "kernel-svm", "bayes-point-machine"
RATES = (0.0, 0.1, 0.2, 0.4)  # rejection rates of the errors in tables
ERROR = 0.023  # error at which rejection rates are compared, as in the paper
THRESHOLDS = np.unique(np.concatenate([np.linspace(0, 1, 17), 1 - np.logspace(-3.5, -1.5, 5)]))
_SOURCE = "Graepel, Herbrich and Obermayer 2000, section 4"
METRICS = {
    "risk_at_rejection": Metric(
        "error of the accepted test examples at a rejection rate",
        "lower",
        "#{accepted and wrong} / #{accepted}",
        _SOURCE,
    ),
    "rejection_at_one": Metric(
        "rejection rate of Bayesian transduction at threshold 1", None, "#{rejected at 1} / n", _SOURCE
    ),
    "error_at_one": Metric(
        "error of the test examples accepted at threshold 1",
        "lower",
        "#{accepted at 1 and wrong} / #{accepted at 1}",
        _SOURCE,
    ),
    "theta_max": Metric(
        "threshold at which the first SVM rejects as many examples as Bayesian transduction does at 1",
        None,
        "smallest t with #{rejected by the SVM at t} >= #{rejected at 1}",
        _SOURCE,
    ),
    "fewer_rejections": Metric(
        "rejection rate of the first SVM minus that of Bayesian transduction, at the same error",
        "higher",
        "difference of the smallest rejection rates with this error",
        _SOURCE,
    ),
}
"""Declarations of the metrics of ``threshold-curves.csv``."""
_HEADER = ("dataset", "method", "params", "view", "metric", "level", "mean", "sd", "n")


@dataclass(frozen=True, eq=False)
class ThresholdCurve:
    """Confidence (n,) and correctness (n,) of one variant on each split; thresholds up to ``top``."""

    variant: Variant
    confidence: Sequence[np.ndarray]
    correct: Sequence[np.ndarray]
    top: float

    def at(self, theta: float) -> tuple[np.ndarray, np.ndarray]:
        """Return (splits,) rejection rates and (splits,) errors of the accepted, NaN if none is accepted."""
        kept = [confidence >= theta for confidence in self.confidence]
        rejected = np.array([1.0 - np.mean(one) for one in kept])
        errors = [
            1.0 - np.mean(correct[one]) if one.any() else np.nan
            for correct, one in zip(self.correct, kept, strict=True)
        ]
        return rejected, np.array(errors)

    def rejected(self, theta: float) -> float:
        """Return the mean rejection rate at a threshold."""
        return float(np.mean(self.at(theta)[0]))

    @cached_property
    def points(self) -> np.ndarray:
        """(points, 4) mean rejection rate, mean error and their standard errors, over the thresholds."""
        rows = []
        for theta in THRESHOLDS * self.top:
            rejected, errors = self.at(theta)
            if not np.isnan(errors).all():
                rows.append([*_mean_and_error(rejected), *_mean_and_error(errors[~np.isnan(errors)])])
        return np.array(rows)[:, [0, 2, 1, 3]]

    @cached_property
    def curves(self) -> list[RejectionCurve]:
        return [rejection_curve(*pair) for pair in zip(self.confidence, self.correct, strict=True)]

    def rejection_at_error(self, error: float) -> float:
        """Return the smallest mean rejection rate of the curve at a mean error of ``error``, or NaN."""
        x, y = self.points[:, 0], self.points[:, 1]
        for place in np.flatnonzero(y <= error):
            if place == 0:
                return float(x[0])
            share = (y[place - 1] - error) / (y[place - 1] - y[place])
            return float(x[place - 1] + share * (x[place] - x[place - 1]))
        return float("nan")


def _mean_and_error(values: np.ndarray) -> tuple[float, float]:
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return float(values.mean()), float(error)


def threshold_curves(subject: Subject) -> tuple[dict[str, ThresholdCurve], dict[str, ThresholdCurve]]:
    """Return the curves of Bayesian transduction, and of SVMs up to their theta_max, by label.

    theta_max rejects as many as the first transduction does at theta = 1; infinite thresholds are omitted.
    """
    volumes, machines = {}, {}
    for label, variant in subject.variants.items():
        if (variant.method, variant.view) == (VOLUMES, "probability"):
            volumes[label.removesuffix(", probability")] = _threshold_curve(subject, variant, 1.0)
        elif (variant.method, variant.view) == (MACHINES, "margin"):
            machines[label] = _threshold_curve(subject, variant, math.inf)
    if volumes:
        rate = next(iter(volumes.values())).rejected(1.0)
        machines = {label: replace(one, top=theta_max(one, rate)) for label, one in machines.items()}
    return volumes, machines


def _threshold_curve(subject: Subject, variant: Variant, top: float) -> ThresholdCurve:
    confidence, correct = [], []
    for prediction, truth, _ in subject.predictions(variant):
        values = prediction.confidence
        confidence.append(2.0 * values - 1.0 if variant.method == VOLUMES else values)
        correct.append(prediction.labels == truth)
    return ThresholdCurve(variant, confidence, correct, top)


def theta_max(machine: ThresholdCurve, rate: float) -> float:
    """Return the threshold at which a machine rejects a share ``rate`` on average."""
    values = np.sort(np.concatenate(machine.confidence))
    low, high = 0, len(values) - 1
    while low < high:  # the rejection rate increases with the threshold
        middle = (low + high) // 2
        low, high = (low, middle) if machine.rejected(values[middle]) >= rate else (middle + 1, high)
    return float(values[low])


# ---- the same in numbers


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
    points = [
        _threshold_curve(subject, variant, math.inf)
        for variant in subject.variants.values()
        if variant.method == POINTS
    ]
    for curve in (*machines.values(), *points, *volumes.values()):

        def row(metric: str, values: Sequence[float], level: float | None = None, of=curve.variant):
            key = (subject.dataset, of.method, of.params, of.cells[0].variant, of.view, metric, level)
            return SummaryRow(*key, *mean_and_sd(values))

        for rate in RATES:
            risks = [float(one.risk_at_coverage(1.0 - rate)) for one in curve.curves]
            yield row("risk_at_rejection", risks, rate)
        if curve.variant.method == VOLUMES:
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
    files = {FILE: "error and rejection rate of Bayesian transduction and support vector machines"}
    metrics = {FILE: METRICS}

    @classmethod
    def applies(cls, results: RunResults) -> bool:
        return {VOLUMES, MACHINES} <= {cell.method for cell in results.cells}

    def items(self) -> Iterator[Item]:
        names = dict.fromkeys(cell.dataset for cell in self.results.cells)
        rows = [row for name in sorted(names) for row in threshold_rows(Subject(self.results, name, {}))]
        if rows:
            lines = [(row.dataset, row.method, row.variant, *row[4:]) for row in rows]
            yield Table(FILE, _HEADER, lines)


def read_threshold_curves(path: Path, summary: Sequence[SummaryRow]) -> list[SummaryRow]:
    """Return the rows of a ``threshold-curves.csv`` with the parameters of a summary; none without a file."""
    if not path.is_file():
        return []
    params = {(row.dataset, row.method, row.variant): row.params for row in summary}
    rows = []
    with path.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            key = line["dataset"], line["method"], line["params"]
            level, mean, sd = (float(line[name]) if line[name] else None for name in ("level", "mean", "sd"))
            moments = [math.nan if one is None else one for one in (mean, sd)]
            rows.append(
                SummaryRow(
                    dataset=line["dataset"],
                    method=line["method"],
                    params=params[key],
                    variant=line["params"],
                    view=line["view"],
                    metric=line["metric"],
                    level=level,
                    mean=moments[0],
                    sd=moments[1],
                    n=int(line["n"]),
                )
            )
    return rows
