"""Rows of the estimates for all classes of a study: each estimator, k-NN by k, and the noise series."""

from typing import Any

import numpy as np

from confml.bayes_error.label_noise import ABOUT, BOUNDS, INTERVALS, MEASURED_LEVEL
from confml.studies.bayes_error.study import Study

NAN = float("nan")


def overall_rows(study: Study) -> list[dict[str, Any]]:
    """Return one row per estimator of the Bayes error of all classes.

    estimate; interval_low, interval_high: interval of the Bayes error; lower, upper: bounds of the Bayes
    error for infinitely many rows, without sampling error; interval_holds, bounds_hold: in which share of
    simulated data sets they contained the Bayes error (the 95 % interval); definition.
    """
    errors = study.assessment.errors
    tree, near = errors.global_tree, errors.neighbours
    found = [_row("global-tree", tree.estimate, NAN, NAN, tree.lower, tree.upper, ABOUT["global-tree"])]
    if near is not None:
        first = study.assessment.neighbours
        middle = min((first.error + first.lower) / 2, near.most)
        found.append(_row("1-nn", middle, NAN, NAN, first.lower, first.error, ABOUT["1-nn"]))
        value, lower, upper = near.bounds
        low, high = near.interval(study.request.level)
        found.append(_row("k-nn", value, low, high, lower, upper, ABOUT["k-nn"]))
    if errors.limit is not None:
        limit = errors.limit
        about = f"the same for {limit.k}-NN, extrapolated to infinitely many rows"
        found.append(_row("k-nn-limit", limit.estimate, limit.low, limit.high, NAN, NAN, about))
    if study.soft_labels is not None:
        soft = study.soft_labels
        about = "mean of 1 - largest probability (Ishida et al. 2023)"
        lower, kind = NAN, "soft-labels"
        if soft.annotated:
            kind = "annotators"
            lower, about = soft.mean, "votes of annotators: mean of vote risk and error of the held-out one"
        ends = (soft.low, soft.high, lower, soft.held_out)
        found.append(_row("soft-labels", soft.estimate, *ends, about, kind))
    if study.request.level != MEASURED_LEVEL:
        found = [row | {"interval_holds": ""} for row in found]
    return found


def _row(name, estimate, low, high, lower, upper, definition, kind=None) -> dict[str, Any]:
    return {
        "estimator": name,
        "estimate": float(estimate),
        "interval_low": float(low),
        "interval_high": float(high),
        "lower": float(lower),
        "upper": float(upper),
        "interval_holds": "" if np.isnan(low) else _shares(INTERVALS.get(kind or name)),
        "bounds_hold": _shares(BOUNDS.get(kind or name)),
        "definition": definition,
    }


def _shares(measured: tuple[float, float] | None) -> str:
    """Return the smallest and largest share as text, empty if nothing was measured."""
    return "" if measured is None else f"{100 * measured[0]:.0f}-{100 * measured[1]:.0f} %"


def neighbour_rows(study: Study) -> list[dict[str, Any]]:
    """Return one row per k: leave-one-out error, vote risk, lower bound from the error, estimate and its
    standard error."""
    near = study.assessment.errors.neighbours
    if near is None:
        return []
    fields = ("k", "error", "vote_risk", "lower", "estimate", "standard_error")
    columns = [getattr(near, name).tolist() for name in fields]
    return [dict(zip(fields, values, strict=True)) for values in zip(*columns, strict=True)]


def subsample_rows(study: Study) -> list[dict[str, Any]]:
    """Return one row per size of the subsamples: error, vote risk and the fitted curve."""
    limit = study.assessment.errors.limit
    if limit is None:
        return []
    columns = (values.tolist() for values in (limit.sizes, limit.error, limit.vote_risk, limit.curve))
    names = ("rows", "error", "vote_risk", "fitted")
    return [{"k": limit.k} | dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def delta_rows(study: Study) -> list[dict[str, Any]]:
    """Return the share of the edges of the tree of all rows between each two classes, divided by 2."""
    tree, classes = study.assessment.errors.global_tree, study.classes.tolist()
    return [
        {"class_a": classes[a], "class_b": classes[b], "delta": float(tree.delta[a, b])}
        for a, b in zip(*np.triu_indices(len(classes), 1), strict=True)
    ]


def noise_rows(study: Study) -> list[dict[str, Any]]:
    """Return one row per estimator and noise rate: means over the draws, the standard deviation of the
    estimate, and the range in which the Bayes error must be."""
    series = study.noise
    if series is None:
        return []
    return [
        {
            "estimator": name,
            "rate": float(rate),
            "estimate": float(series.estimate[name][place].mean()),
            "deviation": float(series.estimate[name][place].std()),
            "lower": float(series.lower[name][place].mean()),
            "upper": float(series.upper[name][place].mean()),
            "known_low": float(series.known_low[place]),
            "known_high": float(series.known_high[place]),
        }
        for name in series.estimate
        for place, rate in enumerate(series.rates)
    ]


def noise_score_rows(study: Study) -> list[dict[str, Any]]:
    """Return one row per estimator, best first: the areas outside the known range of estimate, lower bound
    and upper bound; see `NoiseSeries.area`."""
    series = study.noise
    if series is None:
        return []
    rows = [
        {
            "estimator": name,
            "area": series.area(name),
            "area_lower": series.area(name, "lower"),
            "area_upper": series.area(name, "upper"),
            "definition": ABOUT[name],
        }
        for name in series.estimate
    ]
    return sorted(rows, key=lambda row: row["area"])
