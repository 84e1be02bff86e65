"""``threshold-curves.csv``: Bayesian transduction and support vector machines at common thresholds.

Graepel, Herbrich and Obermayer, "Bayesian transduction", NIPS 12, section 4: a threshold theta on the
confidence, which is 2 max(p) - 1 of Bayesian transduction (equation 7) and |f| of a support vector machine,
rejects the examples below it.
"""

import math
from collections.abc import Iterator

from confml.measures import Metric
from confml.report.figures.accuracy_rejection import volumes_and_machines
from confml.report.figures.figure import DatasetResults
from confml.report.numbers.outcomes import (
    ERROR,
    MACHINES,
    POINTS,
    RATES,
    VOLUMES,
    ViewNumbers,
    theta_max,
    threshold_curves,
)
from confml.report.numbers.summaries import mean_and_sd
from confml.report.report import Report
from confml.report.tables.table import Row, Table

_GRAEPEL = "Graepel, Herbrich and Obermayer 2000, section 4"
METRICS = {
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
COLUMNS = ("dataset", "method", "params", "view", "metric", "level", "mean", "sd", "n")


def rows(report: Report) -> Iterator[Row]:
    """Bayesian transduction and support vector machines at common thresholds.

    No rows for a data set without Bayesian transduction and an SVM.
    For each variant, also of Bayes point machines: ``risk_at_rejection`` at the rates `RATES`. For Bayesian
    transduction: ``rejection_at_one`` and ``error_at_one`` (theta = 1). In comparison with the config's first
    SVM: ``theta_max``, its threshold that rejects as many, and ``fewer_rejections`` at error `ERROR`. Values
    are fractions, with sd over splits where defined.
    """
    for name in sorted({cell.dataset for cell in report.run.cells}):
        data = DatasetResults(report.run, name)
        volumes, machines = volumes_and_machines(data)
        if not volumes or not machines:
            continue
        machine = next(iter(machines.values()))
        views = {curve: data.views[label] for label, curve in data.collected(threshold_curves).items()}
        points = [curve for curve, view in views.items() if view.method == POINTS]
        for curve in (*machines.values(), *points, *volumes.values()):
            view = views[curve]
            key = name, view.method, view.cells[0].variant, view.name
            for rate in RATES:
                risks = [float(of_split.risk_at_coverage(1.0 - rate)) for of_split in curve.curves]
                yield *key, "risk_at_rejection", rate, *mean_and_sd(risks)
            if curve in volumes.values():
                rejected, errors = curve.at(1.0)
                fewer = machine.rejection_at_error(ERROR) - curve.rejection_at_error(ERROR)
                top, splits = theta_max(machine, curve.rejected(1.0)), len(curve.correct)
                yield *key, "rejection_at_one", None, *mean_and_sd(rejected.tolist())
                yield *key, "error_at_one", None, *mean_and_sd(errors.tolist())
                yield *key, "theta_max", None, top, math.nan, splits  # of all splits together
                yield *key, "fewer_rejections", ERROR, fewer, math.nan, splits


TABLE = Table(
    "threshold-curves.csv",
    "error and rejection rate of Bayesian transduction and support vector machines",
    COLUMNS,
    rows,
    needs=f"the methods {VOLUMES} and {MACHINES} in one run",
    applies=lambda run: {VOLUMES, MACHINES} <= {cell.method for cell in run.cells},
    metrics=METRICS,
    of_run=True,
    collects=lambda run: (ViewNumbers(threshold_curves),),
)
