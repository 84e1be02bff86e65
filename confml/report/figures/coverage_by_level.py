"""Error of region predictions against significance level: valid regions stay below the diagonal."""

from __future__ import annotations

import numpy as np

from confml._parameters import Number
from confml.measures import Case
from confml.report.figures import Figure, NotApplicable, Subject, Variant
from confml.report.figures.style import BLACK, COLUMN, GREY, legend_below, legend_beside, lines_of, new_figure

STEPS = 200
MOST = 20  # lines that can be told apart


def region_errors(subject: Subject, variant: Variant, levels: np.ndarray) -> tuple[np.ndarray, int] | None:
    """(share of regions without the true label at each level, number of different test rows).

    The share is the mean over the splits. None for margins, and without test examples.
    """
    errors, rows = [], []
    for prediction, truth, numbers in subject.predictions(variant):
        if prediction.has_regions and len(prediction):
            case = Case(prediction, truth)
            known = case.true_columns >= 0
            scores = prediction.scores[np.arange(len(truth)), case.true_columns]
            if prediction.kind == "p-value":
                true_p = np.sort(np.where(known, scores, -1.0))
                errors.append(np.searchsorted(true_p, levels, side="right") / len(truth))
            else:
                regions = (prediction.region(level) for level in levels)
                covered = [known & region[np.arange(len(truth)), case.true_columns] for region in regions]
                errors.append(np.array([1 - inside.mean() for inside in covered]))
            rows.append(numbers)
    return (np.mean(errors, axis=0), len(np.unique(np.concatenate(rows)))) if errors else None


def draw(subject: Subject):
    from scipy.stats import binom

    top = float(subject.option("max_level", 1.0))
    levels = np.linspace(0, top, STEPS + 1)
    found = {label: region_errors(subject, variant, levels) for label, variant in subject.variants.items()}
    curves, title = subject.some_of({label: one for label, one in found.items() if one is not None}, MOST)
    if not curves:
        raise NotApplicable("no method has region predictions")
    figure = new_figure(COLUMN, 3.1)
    axes = figure.add_subplot()
    n = max(rows for _, rows in curves.values())
    low, high = (binom.ppf(quantile, n, levels) / n for quantile in (0.025, 0.975))
    band = axes.fill_between(100 * levels, 100 * low, 100 * high, color=GREY, alpha=0.3, linewidth=0)
    (diagonal,) = axes.plot([0, 100 * top], [0, 100 * top], color=BLACK, linewidth=0.6)
    handles, labels = [diagonal, band], ["exact validity", f"95 % binomial band, n = {n}"]
    for (label, (errors, _)), line in zip(curves.items(), lines_of(len(curves)), strict=True):
        handles += axes.plot(100 * levels, 100 * errors, **(line | {"marker": ""}))
        labels.append(label)
    axes.set_xlim(0, 100 * top)
    axes.set_ylim(0, 100 * top)
    axes.set_xlabel("significance level (%)")
    axes.set_ylabel("regions without the true label (%)")
    axes.set_title(title, loc="left")
    (legend_below if len(labels) <= 12 else legend_beside)(figure, handles, labels)
    return figure


FIGURE = Figure(
    name="coverage-by-level",
    about="empirical error of regions against significance level, with the diagonal and a 95 % binomial band",
    draw=draw,
    options={"max_level": Number("the largest significance level shown", low=0, high=1, low_open=True)},
)
