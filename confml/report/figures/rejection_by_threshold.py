"""Generalisation error against rejection rate, both driven by one threshold: Bayesian transduction, figure 2.

Graepel, Herbrich and Obermayer, "Bayesian transduction", NIPS 12. A threshold theta on the confidence, which
is 2 max(p) - 1 of Bayesian transduction (equation 7) and |f| of a support vector machine, rejects the
examples below it. For each theta the mean rejection rate and the mean error of the rest, over the splits, are
one point; its bars are the standard errors of both means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from confml.measures.rejection import RejectionCurve, band, rejection_curve
from confml.report.figures import Figure, NotApplicable, Subject
from confml.report.figures.style import PAGE, legend_below, lines_of, new_figure

RATES = (0.0, 0.1, 0.2, 0.4)  # at which errors are told in numbers
THRESHOLDS = np.unique(np.concatenate([np.linspace(0, 1, 17), 1 - np.logspace(-3.5, -1.5, 5)]))

# What the paper says in words about its figure, in per cent and thresholds (section 4).
PAPER: Mapping[str, Mapping[str, str]] = {
    "thyroid": {"near20": "about 0", "fewer": "4", "theta": "2.15"},
    "heart": {"final": "16.4", "theta": "1.54"},
}
SHORT_RUN = (
    "A run of 1000 chords is worth a handful of independent draws of\n"
    "perceptrons: too many examples have confidence 1, and the curve ends\n"
    "early, at an error that the paper takes for the Bayes error. It is an\n"
    "artefact of the short run: longer runs go on to smaller errors."
)


@dataclass(frozen=True, eq=False)
class Linked:
    """Confidence (n,) and whether right (n,) of one method, on each split; thresholds up to ``top``."""

    confidence: Sequence[np.ndarray]
    correct: Sequence[np.ndarray]
    top: float

    def at(self, theta: float) -> tuple[np.ndarray, np.ndarray]:
        """(splits,) rejection rates and (splits,) errors of the rest, NaN where nothing is left."""
        kept = [confidence >= theta for confidence in self.confidence]
        rejected = np.array([1.0 - np.mean(one) for one in kept])
        errors = [
            1.0 - np.mean(correct[one]) if one.any() else np.nan
            for correct, one in zip(self.correct, kept, strict=True)
        ]
        return rejected, np.array(errors)

    def rejected(self, theta: float) -> float:
        """Mean rejection rate at a threshold."""
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
        """The smallest mean rejection rate along the linked curve whose mean error is ``error``, or NaN."""
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


def linked_curves(subject: Subject) -> tuple[dict[str, Linked], dict[str, Linked], str | None]:
    """Curves of Bayesian transduction, those of SVMs with their theta_max, and the first of the former.

    theta_max rejects as many as the first transduction does at theta = 1; infinite thresholds are left out.
    """
    volumes, machines = {}, {}
    for label, variant in subject.variants.items():
        if (variant.method, variant.view) == ("bayes-transduction", "probability"):
            volumes[label.removesuffix(", probability")] = _linked(subject, variant, 1.0, paper=True)
        elif (variant.method, variant.view) == ("kernel-svm", "margin"):
            machines[label] = _linked(subject, variant, np.inf, paper=False)
    first = next(iter(volumes), None)
    if first is not None:
        rate = volumes[first].rejected(1.0)
        machines = {
            label: Linked(one.confidence, one.correct, theta_max(one, rate))
            for label, one in machines.items()
        }
    return volumes, machines, first


def _linked(subject: Subject, variant, top: float, *, paper: bool) -> Linked:
    confidence, correct = [], []
    for prediction, truth, _ in subject.predictions(variant):
        values = prediction.confidence
        confidence.append(2.0 * values - 1.0 if paper else values)
        correct.append(prediction.labels == truth)
    return Linked(confidence, correct, top)


def theta_max(machine: Linked, rate: float) -> float:
    """The threshold at which a machine rejects a share ``rate`` on average."""
    values = np.sort(np.concatenate(machine.confidence))
    low, high = 0, len(values) - 1
    while low < high:  # rejection grows with the threshold
        middle = (low + high) // 2
        low, high = (low, middle) if machine.rejected(values[middle]) >= rate else (middle + 1, high)
    return float(values[low])


def draw(subject: Subject):
    volumes, machines, first = linked_curves(subject)
    if not volumes or not machines:
        raise NotApplicable("it needs bayes-transduction and kernel-svm on the same splits")
    everything = {**machines, **volumes}
    figure = new_figure(PAGE, 3.5)
    grid = figure.add_gridspec(1, 2, width_ratios=[1.0, 1.0])
    axes = figure.add_subplot(grid[0])
    handles = []
    for linked, line in zip(everything.values(), lines_of(len(everything)), strict=True):
        x, y, x_error, y_error = 100 * linked.points.T
        bars = {"elinewidth": 0.6, "capsize": 1.0, "linewidth": 0.9, "markersize": 2}
        handles.append(axes.errorbar(x, y, xerr=x_error, yerr=y_error, **line, **bars))
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("rejection rate (%)")
    axes.set_ylabel("generalisation error of the rest (%)")
    axes.set_title(subject.dataset, loc="left")
    splits = len(next(iter(volumes.values())).correct)
    axes.set_title(f"bars: ± 1 standard error, {splits} splits", loc="right", fontsize=6, color="0.4")
    beside = figure.add_subplot(grid[1])
    beside.set_axis_off()
    beside.text(0, 1, "\n".join(_words(subject.dataset, volumes, machines)), va="top", fontsize=5.6,
                family="DejaVu Sans Mono", linespacing=1.35)  # fmt: skip
    legend_below(figure, handles, list(everything))
    return figure


def _words(dataset: str, volumes: Mapping[str, Linked], machines: Mapping[str, Linked]) -> list[str]:
    """The numbers beside the curves: ours, and what the paper says."""
    lines = [f"error (%) at rejection rate{'':>3}" + "".join(f"{100 * rate:>8.0f} %" for rate in RATES)]
    for label, linked in {**machines, **volumes}.items():
        mean = 100 * band(linked.curves, RATES, what="risk").mean
        lines.append(f"{label[:29]:<30}" + "".join(f"{value:>10.2f}" for value in mean))
    paper = PAPER.get(dataset, {})
    for label, linked in volumes.items():
        rejected, errors = linked.at(1.0)
        lines += ["", f"{label}:"]
        rows = [
            ("error (%) at theta = 1", _percent(np.nanmean(errors) if not np.isnan(errors).all() else np.nan),
             "final"),
            ("rejection rate (%) at theta = 1", _percent(rejected.mean()), ""),
        ]  # fmt: skip
        for label, machine in list(machines.items())[:1]:
            top = theta_max(machine, float(rejected.mean()))
            rows.append((f"theta_max of {label[:24]}", f"{top:.2f}", "theta"))
            fewer = machine.rejection_at_error(0.023) - linked.rejection_at_error(0.023)
            if "fewer" in paper:
                rows.append(("fewer rejections at 2.3 % error (%)", _percent(fewer), "fewer"))
        if "near20" in paper:
            at_20 = float(band(linked.curves, [0.2], what="risk").mean[0])
            rows.append(("error (%) at 20 % rejection", _percent(at_20), "near20"))
        for what, ours, key in rows:
            theirs = f"   paper {paper[key]}" if key in paper else ""
            lines.append(f"  {what:<37}{ours:>7}{theirs}")
    return [*lines, "", *SHORT_RUN.split("\n")]


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


FIGURE = Figure(
    name="rejection-by-threshold",
    about="error of the rest against rejection rate, linked by a threshold: Bayesian transduction and SVM",
    draw=draw,
)
