"""Generalisation error against rejection rate over common thresholds: Bayesian transduction, figure 2.

Graepel, Herbrich and Obermayer, "Bayesian transduction", NIPS 12. A threshold theta on the confidence, which
is 2 max(p) - 1 of Bayesian transduction (equation 7) and |f| of a support vector machine, rejects the
examples below it. Each theta gives one point: mean rejection rate and mean error of the accepted, over the
splits, with bars of the standard errors of both means.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from confml.measures.rejection import band
from confml.published import known_tables
from confml.report.figures import Figure, NotApplicable, Subject
from confml.report.figures.style import PAGE, legend_below, lines_of, new_figure
from confml.report.sections.threshold_curves import ERROR, RATES, ThresholdCurve, theta_max, threshold_curves

SHORT_RUN = (
    "A run of 1000 chords is worth a handful of independent draws of\nperceptrons: too many examples have "
    "confidence 1, and the curve ends\nearly. It is an artefact of the short run"
)
ITS_END = ", whose last error the paper\ntakes for the Bayes error: longer runs go on to smaller errors"

FEWER = "fewer rejections at 2.3 % error"


def draw(subject: Subject):
    volumes, machines = threshold_curves(subject)
    if not volumes or not machines:
        raise NotApplicable("it needs bayes-transduction and kernel-svm on the same splits")
    everything = {**machines, **volumes}
    words = _words(subject.dataset, volumes, machines, _has_chords(subject))
    figure = new_figure(PAGE, max(3.5, 0.4 + 0.105 * len(words)))
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
    axes.set_title(
        f"bars: ± 1 standard error, {splits} split{'s' * (splits > 1)}", loc="right", fontsize=6, color="0.4"
    )
    beside = figure.add_subplot(grid[1])
    beside.set_axis_off()
    style = {"family": "DejaVu Sans Mono", "linespacing": 1.35, "fontsize": 5.6}
    beside.text(0, 1, "\n".join(words), va="top", **style)
    legend_below(figure, handles, list(everything))
    return figure


def _words(
    dataset: str,
    volumes: Mapping[str, ThresholdCurve],
    machines: Mapping[str, ThresholdCurve],
    short: bool,
) -> list[str]:
    """Return the numbers of the curves as text: confml's and the paper's.

    short: whether a method samples chords, as the paper does.
    """
    lines = [f"error (%) at rejection rate{'':>3}" + "".join(f"{100 * rate:>8.0f} %" for rate in RATES)]
    for label, linked in {**machines, **volumes}.items():
        mean = 100 * band(linked.curves, RATES, what="risk").mean
        lines.append(f"{label[:29]:<30}" + "".join(f"{value:>10.2f}" for value in mean))
    paper = _stated(dataset)
    if len(volumes) > 2:
        lines += ["", *_table(volumes, machines, paper)]
    else:
        for label, linked in volumes.items():
            lines += ["", f"{label}:", *_block(linked, machines, paper)]
    if not short:
        return lines
    note = SHORT_RUN + (ITS_END if "error at theta = 1" in paper else "") + "."
    return [*lines, "", *note.split("\n")]


def _block(
    linked: ThresholdCurve, machines: Mapping[str, ThresholdCurve], paper: Mapping[str, str]
) -> Iterator[str]:
    """Yield the numbers of one run, a line for each."""
    rejected = linked.rejected(1.0)
    rows = [
        ("error (%) at theta = 1", _percent(_error_at_one(linked)), "error at theta = 1"),
        ("rejection rate (%) at theta = 1", _percent(rejected), ""),
    ]
    for name, machine in list(machines.items())[:1]:
        rows.append((f"theta_max of {name[:24]}", f"{theta_max(machine, rejected):.2f}", "theta_max"))
        if FEWER in paper:
            fewer = machine.rejection_at_error(ERROR) - linked.rejection_at_error(ERROR)
            rows.append((f"{FEWER} (%)", _percent(fewer), FEWER))
    if "error at 20 % rejection" in paper:
        at_20 = float(band(linked.curves, [0.2], what="risk").mean[0])
        rows.append(("error (%) at 20 % rejection", _percent(at_20), "error at 20 % rejection"))
    for what, ours, key in rows:
        theirs = f"   paper {paper[key]}" if key in paper else ""
        yield f"  {what:<37}{ours:>7}{theirs}"


def _table(
    volumes: Mapping[str, ThresholdCurve], machines: Mapping[str, ThresholdCurve], paper: Mapping[str, str]
) -> Iterator[str]:
    """Yield the numbers of many runs as a table of a line for each."""
    (name, machine), *_ = machines.items()
    yield f"{'at theta = 1 (%)':<30}{'error':>10}{'rejected':>10}{'theta_max':>10}{'fewer':>10}"
    for label, linked in volumes.items():
        rejected = linked.rejected(1.0)
        difference = machine.rejection_at_error(ERROR) - linked.rejection_at_error(ERROR)
        fewer = "" if np.isnan(difference) else _percent(difference)
        numbers = (
            _percent(_error_at_one(linked)),
            _percent(rejected),
            f"{theta_max(machine, rejected):.2f}",
            fewer,
        )
        yield f"{label[:29]:<30}" + "".join(f"{text:>10}" for text in numbers)
    stated = [paper.get(key, "") for key in ("error at theta = 1", "", "theta_max", FEWER)]
    if any(stated):
        yield f"{'paper':<30}" + "".join(f"{text:>10}" for text in stated)
    yield f"theta_max: of {name[:24]}; fewer: {FEWER} (%)"


def _error_at_one(linked: ThresholdCurve) -> float:
    errors = linked.at(1.0)[1]
    return float("nan") if np.isnan(errors).all() else float(np.nanmean(errors))


def _has_chords(subject: Subject) -> bool:
    return any(variant.params.get("sampler") == "chord" for variant in subject.variants.values())


def _stated(dataset: str) -> dict[str, str]:
    """Return the paper's numbers by quantity."""
    rows = known_tables()["transduction-figure2"].rows()
    return {row["what"]: row["stated"] for row in rows if row["dataset"] == dataset}


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


FIGURE = Figure(
    name="rejection-by-threshold",
    about="error of the accepted against rejection rate over thresholds: Bayesian transduction and SVM",
    draw=draw,
    caption="Error of the accepted test examples against the rejection rate over common thresholds, means "
    "over the splits; bars: ± 1 standard error of both means. Right: numbers of the curves and of the"
    " paper.",
)
