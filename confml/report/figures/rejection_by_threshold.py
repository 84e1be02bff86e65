"""Generalisation error against rejection rate over common thresholds: Bayesian transduction, figure 2.

Graepel, Herbrich and Obermayer, "Bayesian transduction", NIPS 12. A threshold theta on the confidence, which
is 2 max(p) - 1 of Bayesian transduction (equation 7) and |f| of a support vector machine, rejects the
examples below it. Each theta gives one point: mean rejection rate and mean error of the accepted, over the
splits, with bars of the standard errors of both means.
"""

from confml.report.figures import Figure, NotApplicable, Subject
from confml.report.figures.style import COLUMN, add_legend, new_figure
from confml.report.numbers.threshold_curves import MACHINES, VOLUMES, ThresholdCurve, limit_machines


def threshold_curves(
    subject: Subject,
) -> tuple[dict[str, ThresholdCurve], dict[str, ThresholdCurve]]:
    """Return the curves of Bayesian transduction, and of SVMs up to their theta_max, by label."""
    volumes, machines = {}, {}
    for label, curve in subject.numbers(ThresholdCurve).items():
        variant = subject.variants[label]
        if (variant.method, variant.view) == (VOLUMES, "probability"):
            volumes[label.removesuffix(" (probability)")] = curve
        elif (variant.method, variant.view) == (MACHINES, "margin"):
            machines[label] = curve
    limit_machines(volumes, machines)
    return volumes, machines


def draw(subject: Subject):
    volumes, machines = threshold_curves(subject)
    if not volumes or not machines:
        raise NotApplicable("it needs bayes-transduction and kernel-svm on the same splits")
    everything = {**machines, **volumes}
    figure = new_figure(COLUMN * 1.2, 2.8)
    axes = figure.add_subplot()
    handles = []
    for name, curve in everything.items():
        x, y, x_error, y_error = 100 * curve.points.T
        bars = {"elinewidth": 0.6, "capsize": 1.0, "linewidth": 0.9, "markersize": 2}
        handles.append(axes.errorbar(x, y, xerr=x_error, yerr=y_error, **subject.look(name), **bars))
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("rejection rate (%)")
    axes.set_ylabel("selective risk (%)")
    axes.set_title(subject.dataset, loc="left")
    add_legend(figure, handles, list(everything))
    return figure


FIGURE = Figure(
    name="rejection-by-threshold",
    about="error of the accepted against rejection rate over thresholds: Bayesian transduction and SVM",
    draw=draw,
    numbers=(ThresholdCurve,),
    caption="Error of the accepted test examples against the rejection rate over common thresholds, means "
    "over the splits; bars: ± 1 standard error of both means. threshold-curves.csv has the numbers. A run of "
    "1000 chords has the effective sample size of a few independent draws, so that too many examples have "
    "confidence 1 and its curve ends early.",
)
