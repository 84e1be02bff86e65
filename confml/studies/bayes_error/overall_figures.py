"""Figures of the estimates for all classes: k-NN by k and by number of rows, and the noise series."""

from confml.report.figures.style import (
    BLACK,
    BLUE,
    COLUMN,
    GREEN,
    GREY,
    PAGE,
    VERMILION,
    legend_below,
    lines_of,
    new_figure,
    rate_band,
)
from confml.studies.bayes_error.overall import noise_score_rows
from confml.studies.bayes_error.study import Study


def neighbours(study: Study):
    """Draw error, vote risk and estimate of k-NN by k, and by number of rows with the fitted curve."""
    near, limit = study.assessment.errors.neighbours, study.assessment.errors.limit
    assert near is not None  # drawn only with k-NN estimates
    figure = new_figure(COLUMN if limit is None else PAGE, 2.4)
    axes = figure.add_subplot(1, 1 if limit is None else 2, 1)
    handles = [
        *axes.plot(near.k, 100 * near.error, "-", color=VERMILION),
        *axes.plot(near.k, 100 * near.vote_risk, "-", color=GREEN),
        *axes.plot(near.k, 100 * near.estimate, "-", color=BLUE),
        *axes.plot(near.k, 100 * near.lower, ":", color=GREY),
    ]
    labels = ["leave-one-out error", "vote risk", "estimate", "lower bound from the error"]
    labels.append("estimate of all k")
    handles.append(axes.axhline(100 * near.bounds[0], color=BLUE, linewidth=0.7, linestyle="-."))
    axes.set_xlabel("k")
    axes.set_ylabel("Bayes error of all classes (%)")
    letter = "" if limit is None else "(a) "
    axes.set_title(f"{letter}{study.name}: {study.rows.sum()} rows", loc="left")
    panels = [axes]
    if limit is not None:
        other = figure.add_subplot(1, 2, 2, sharey=axes)
        other.plot(limit.sizes, 100 * limit.error, "o", color=VERMILION)
        other.plot(limit.sizes, 100 * limit.vote_risk, "o", color=GREEN)
        handles += other.plot(limit.sizes, 100 * limit.curve, "--", color=BLUE)
        handles.append(other.axhline(100 * limit.estimate, color=BLUE, linewidth=0.7))
        handles.append(other.axhspan(100 * limit.low, 100 * limit.high, color=BLUE, alpha=0.12, linewidth=0))
        labels += ["fitted curve", "limit for infinitely many rows", f"its {limit.level:.0%} interval"]
        other.set_xscale("log")
        other.minorticks_off()
        other.set_xticks(limit.sizes[::2], [str(size) for size in limit.sizes[::2]])
        other.set_xlabel("rows of a subsample")
        other.set_title(f"(b) {limit.k}-NN by number of rows", loc="left")
        panels.append(other)
    if study.true_error is not None:
        for panel in panels:
            line = panel.axhline(100 * study.true_error, color=BLACK, linewidth=0.8, linestyle="--")
        handles.append(line)
        labels.append("true Bayes error")
    axes.set_ylim(bottom=0)
    legend_below(figure, handles, labels)
    return figure


def noise(study: Study):
    """Draw the estimates by noise rate against the range in which the Bayes error must be."""
    series = study.noise
    assert series is not None  # drawn only with a noise series
    figure = new_figure(COLUMN, 2.8)
    axes = figure.add_subplot()
    rates = 100 * series.rates
    handles, labels = [], []
    if series.true_error is None:
        handles.append(
            axes.fill_between(
                rates, 100 * series.known_low, 100 * series.known_high, color="0.88", linewidth=0
            )
        )
        labels.append(f"possible, if the best classifier has {100 * series.best_error:.1f} % errors")
    else:
        handles += axes.plot(rates, 100 * series.known_low, "--", color=BLACK)
        labels.append("true Bayes error")
    rows = noise_score_rows(study)
    for row, line in zip(rows, lines_of(len(rows)), strict=True):
        found = 100 * series.estimate[row["estimator"]]
        mean, deviation = found.mean(axis=1), found.std(axis=1)
        handles += axes.plot(rates, mean, **line)
        axes.fill_between(rates, *rate_band(mean, deviation), color=line["color"], alpha=0.15, linewidth=0)
        labels.append(f"{row['estimator']} (area {100 * row['area']:.2f} %)")
    axes.set_xlabel("label noise (%)")
    axes.set_ylabel("Bayes error of all classes (%)")
    axes.set_ylim(bottom=0)
    axes.set_title(f"{study.name}: mean ± sd over {study.request.repeats} draws", loc="left")
    legend_below(figure, handles, labels)
    return figure
