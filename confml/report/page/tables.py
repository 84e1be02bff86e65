"""The table of results on a data set of the page."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd

from confml.data.text_table import counted
from confml.measures import Metric, metrics_in
from confml.measures.metric import LEVEL, LOWER, PAGE
from confml.report.answers.advice import usual_level
from confml.report.answers.comparisons import Comparisons, Estimate, Line
from confml.report.answers.differences import Comparison
from confml.report.answers.losses import COSTS
from confml.report.answers.text import listed, p_text
from confml.report.forms.summary import estimate_text
from confml.report.report import Report
from confml.report.shown_table import ShownTable

DASH = "\N{EN DASH}"
MOST_ROWS = 30
"""Rows of a table of results; larger runs show those with the lowest errors."""
RISK = 0.01
DIFFERENCE, P, CERTIFIED, TIME = "difference (points)", "p (Holm)", "certified at 1 % risk (%)", "seconds"
ABOUT = {
    "method": "Label of a method variant, with its view if the method has several.",
    DIFFERENCE: "Error minus the lowest error of the data set on common splits. The 95 % intervals are "
    "simultaneous for all pairs of methods and views.",
    P: "p-value of the t test of the test rows, after Holm's correction over all pairs.",
    CERTIFIED: "Mean share of new predictions that are accepted at a certified threshold of the method; 0 on "
    "a split without one. With probability 95 %, the risk is at most 1 %.",
    TIME: "Mean seconds of inner selection, fit and prediction of a split, on one thread.",
}


def results_table(report: Report, comparisons: Comparisons, dataset: str) -> ShownTable:
    """Return error, tests, probabilities, regions, accepted shares and time, one row per method and view."""
    run = report.run
    failed = Counter(run.label(failure.cell) for failure in run.failures if failure.cell.dataset == dataset)
    lines = comparisons.of_dataset(dataset)
    errors = {line: estimate.mean for line in lines if (estimate := comparisons.estimate(line, "error"))}
    lines = sorted(errors, key=lambda line: (math.isnan(errors[line]), errors[line]))
    shown, level = lines[:MOST_ROWS], usual_level(comparisons.results.config.levels)
    comparison = comparisons.comparison(dataset)
    texts, best, about = {"method": list(map(comparisons.label, shown))}, {}, dict(ABOUT)
    for metric in (*metrics_in(PAGE), *(metrics_in(PAGE, LEVEL) if level is not None else ())):
        at = level if metric.per else None
        estimates = [comparisons.estimate(line, metric.key, at) for line in shown]
        if not any(estimates):
            continue
        heading = metric.label if at is None else f"{metric.label} at {at:g}"
        spread = ", mean ± sd over splits" * (metric.key == "error")
        about[heading] = f"{metric.about[:1].upper()}{metric.about[1:]}{spread}."
        texts[heading] = [_text(estimate, metric) for estimate in estimates]
        best[heading] = _best(estimates, metric)
        if metric.key == "coverage" and at is not None:
            low = [" low" * (comparisons.low_coverage(line, at) is not None) for line in shown]
            texts[heading] = [text + mark for text, mark in zip(texts[heading], low, strict=True)]
        if metric.key == "error" and comparison is not None and len(comparison.lines) > 1:
            texts[DIFFERENCE] = [_difference(comparison, line) for line in shown]
            p_values = [comparison.adjusted(line) for line in shown]
            is_best = [line in comparison.best for line in shown]
            texts[P] = [DASH * flag or p_text(p) or DASH for p, flag in zip(p_values, is_best, strict=True)]
    certified = _certified(report, comparisons, dataset)
    if any(certified.values()):
        texts[CERTIFIED] = [f"{100 * certified[line]:.0f}" if line in certified else DASH for line in shown]
    texts[TIME] = [f"{comparisons.seconds(line):.2g}" for line in shown]
    missing = [f"{label} (failed)" for label in failed if label not in texts["method"]]
    frames = [pd.DataFrame(texts), pd.DataFrame({"method": missing})]
    frame = pd.concat(frames, ignore_index=True).fillna(DASH)
    bold = pd.DataFrame(best).reindex(index=frame.index, columns=frame.columns, fill_value=False)
    left_out = comparison.left_out if comparison is not None else {}
    notes = [
        f"{heading} inf: the true label of a row has probability 0."
        for heading in texts
        if "inf" in texts[heading]
    ]
    notes += [f"{comparisons.label(line)}: not compared ({reason})." for line, reason in left_out.items()]
    if failed:
        fits = [f"{label} {counted(number, 'fit')}" for label, number in failed.items()]
        notes.append(f"Failed: {listed(fits)}.")
    if len(lines) > MOST_ROWS:
        notes.append(
            f"{MOST_ROWS} of {len(lines)} methods and views, the lowest errors; summary.csv has all."
        )
    return ShownTable(f"Results on {dataset}", frame, notes, best=bold, about=about)


def _text(estimate: Estimate | None, metric: Metric) -> str:
    if estimate is None or math.isnan(estimate.mean):
        return DASH
    if metric.key not in ("error", *COSTS):
        estimate = estimate._replace(sd=math.nan)
    return estimate_text(estimate, metric).replace("-", "\N{MINUS SIGN}")


def _best(estimates: Sequence[Estimate | None], metric: Metric) -> list[bool]:
    """Return which means are the best; set sizes are compared only where the promise is kept."""
    if metric.per == LEVEL:
        return [estimate is not None and estimate.best for estimate in estimates]
    values = [math.nan if estimate is None else estimate.mean for estimate in estimates]
    means = np.array([round(value, metric.digits + 2) for value in values])
    if metric.direction is None or len(set(means[~np.isnan(means)])) < 2:
        return [False] * len(means)
    best = np.nanmin(means) if metric.direction == LOWER else np.nanmax(means)
    return (means == best).tolist()


def _certified(report: Report, comparisons: Comparisons, dataset: str) -> dict[Line, float]:
    """Return the mean coverage of the thresholds that are certified for a risk of 1 %."""
    shares = {
        tuple(row[name] for name in ("dataset", "method", "params", "view")): float(row["coverage"])
        for row in report.dicts("certified.csv", dataset=dataset)
        if math.isclose(row["risk"], RISK) and not report.run.has_groups(dataset)
    }
    keys = {line: comparisons.key(line) for line in comparisons.of_dataset(dataset)}
    return {line: shares[key] for line, key in keys.items() if key in shares}


def _difference(comparison: Comparison, line: Line) -> str:
    """Return the difference from the best line in percentage points, with its simultaneous interval."""
    if line in comparison.best:
        return "lowest"
    if (gap := comparison.difference(line)) is None:
        return DASH
    values = [gap.difference, *(() if math.isnan(gap.error) else gap.interval(comparison.pairs))]
    first, *ends = [f"{100 * value:.2f}".replace("-", "\N{MINUS SIGN}") for value in values]
    return f"{first} [{', '.join(ends)}]" if ends else first
