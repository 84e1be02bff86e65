"""Numbers of figure 2 of Graepel, Herbrich & Obermayer, Bayesian transduction, NIPS 12 (2000)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confml.report.published import Ours, OwnRows, PublishedTable

SOURCE = "Graepel, Herbrich & Obermayer, NIPS 12 (2000), section 4 and figure 2"

VOLUMES, POINT = "bayes-transduction", "bayes-point-machine"
_CHORDS, _LONG = "1000 chord bounces", "long"
_RUNS: Mapping[str, Mapping[str, Any]] = {
    _CHORDS: {"sampler": "chord", "stopping": "fixed"},
    _LONG: {"sampler": "geodesic", "stopping": "fixed", "ridge": 0},
}
# Runs of the configs transduction-*-variants: method, parameters and view.
_STOPPED: Mapping[str, Mapping[str, Any]] = {
    "equation 8": {"sampler": "chord", "stopping": "hoeffding"},
    "equation 8, effective draws": {"sampler": "geodesic", "stopping": "ess"},
}
_VARIANTS: Mapping[str, tuple[str, Mapping[str, Any], str]] = {
    **{
        f"λ = {ridge}": (VOLUMES, {"sampler": "geodesic", "stopping": "fixed", "ridge": ridge}, "probability")
        for ridge in (0.01, 0.1, 1)
    },
    "EP": (VOLUMES, {"sampler": "ep", "ridge": 0}, "probability"),
    "EP, λ = 1, noise": (VOLUMES, {"sampler": "ep", "ridge": 1, "predictive": "noisy"}, "probability"),
    "BPM, EP": (POINT, {"sampler": "ep", "ridge": 0}, "margin"),
    "BPM, EP, λ = 1": (POINT, {"sampler": "ep", "ridge": 1}, "margin"),
}
# Quantities: metric, level and factor to the table's unit.
_QUANTITIES: Mapping[str, tuple[str, float | None, float]] = {
    "theta_max": ("theta_max", None, 1.0),
    "error at theta = 1": ("error_at_one", None, 100.0),
    "rejection rate at theta = 1": ("rejection_at_one", None, 100.0),
    "effective sample size": ("ess", None, 1.0),
    "bounces": ("bounces", None, 1.0),
    "fewer rejections at 2.3 % error": ("fewer_rejections", 0.023, 100.0),
    **{
        f"error at {100 * rate:.0f} % rejection": ("risk_at_rejection", rate, 100.0)
        for rate in (0.0, 0.1, 0.2, 0.4)
    },
}


def _transduction(quantity: str, run: str) -> Ours:
    metric, level, factor = _QUANTITIES[quantity]
    view = None if metric in ("ess", "bounces") else "probability"
    return Ours(VOLUMES, metric, {**_RUNS, **_STOPPED}[run], view, level, factor)


def _variant(quantity: str, run: str) -> Ours:
    metric, level, factor = _QUANTITIES[quantity]
    method, params, view = _VARIANTS[run]
    return Ours(method, metric, params, view, level, factor)


def _svm(quantity: str, bias: bool) -> Ours:
    metric, level, factor = _QUANTITIES[quantity]
    return Ours("kernel-svm", metric, {"bias": bias}, "margin", level, factor)


def _beside(dataset: str) -> OwnRows:
    rows: OwnRows = [
        ((quantity, run), "stated", _transduction(quantity, run))
        for quantity in ("rejection rate at theta = 1", "effective sample size", "bounces")
        for run in (*_RUNS, *_STOPPED)
    ]
    for quantity, (metric, *_) in _QUANTITIES.items():
        if metric == "risk_at_rejection":
            rows += [((quantity, run), "stated", _transduction(quantity, run)) for run in (*_RUNS, *_STOPPED)]
            rows += [((quantity, "SVM"), "stated", _svm(quantity, False))]
            rows += [((quantity, "SVM with bias"), "stated", _svm(quantity, True))]
            rows += [((quantity, run), "stated", _variant(quantity, run)) for run in _VARIANTS]
    if dataset == "thyroid":
        rows += [
            (("error at theta = 1", run), "stated", _transduction("error at theta = 1", run)) for run in _RUNS
        ]
    rows += [
        (("error at theta = 1", run), "stated", _transduction("error at theta = 1", run)) for run in _STOPPED
    ]
    return rows


FIGURE2 = PublishedTable(
    name="transduction-figure2",
    title="Error and rejection rates of Bayesian transduction and of the SVM, stated in the text",
    source=SOURCE,
    keys={"dataset": "data set", "what": "quantity", "run": "run"},
    columns={"stated": "stated"},
    unit="per cent; theta_max is a threshold on |f|, the effective sample size and bounces are counted",
    ours=lambda row, column: _transduction(row["what"], row["run"]),
    beside=_beside,
    notes=(
        "long: 100,000 bounces on great circles with random directions. 1000 chord bounces: the paper's "
        "rules and its number of bounces.",
        "equation 8: the paper's stopping rule. A probability is too large by less than 0.05 with "
        "probability 0.99 if bounces are independent draws. effective draws: until the effective sample size "
        "is that large.",
        "λ: constant on the diagonal of the kernel matrix, 20,000 bounces. EP: expectation propagation "
        "instead of sampling. noise: λ also as variance of the noise in the prediction. BPM: Bayes point "
        "machine.",
        "theta_max: the threshold on |f| at which the SVM (hard margin, no bias) rejects as many examples as "
        "transduction does at theta = 1.",
        "fewer rejections: rejection rate of this SVM minus that of transduction.",
        "effective sample size: number of independent draws from version space with the same variance as the "
        "run, median over the distances to the walls.",
        "heart: the effective sample size of 1000 chord bounces is about 5, so that too many examples have "
        "confidence 1. The paper's 16.4 % and 1.54 agree with such a run and are not the Bayes error of the "
        "function class. A long run rejects more examples at theta = 1 and has a smaller error.",
        "thyroid: theta_max is not reproduced. It depends on the rejection rate at theta = 1, which grows "
        "with the number of bounces and which the paper does not state.",
        "thyroid: the 0 is the paper's 'approaches zero' at a rejection rate of 'approximately 20 %'.",
        "±: standard deviation over the 100 splits. The standard error, which the error bars of the figure "
        "show, is a tenth of it.",
    ),
)
