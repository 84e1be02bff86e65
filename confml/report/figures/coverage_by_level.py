"""Error of prediction regions against significance level: valid regions are below the diagonal.

Alternatively coverage against confidence level, as in papers: valid regions are above the diagonal.
"""

import numpy as np

from confml.measures.coverage_band import coverage_band
from confml.plugins.parameters import Flag, Integer, Number
from confml.report.figures import Figure, NotApplicable, Subject
from confml.report.figures.style import BLACK, COLUMN, GREY, add_legend, new_figure
from confml.report.numbers.region_levels import RegionErrors

MOST = 20  # lines that are distinguishable


def draw(subject: Subject):
    curves, title = subject.some_of(subject.numbers(RegionErrors), MOST)
    if not curves:
        raise NotApplicable("no method has prediction regions")
    figure = new_figure(COLUMN, 3.1)
    axes = figure.add_subplot()
    levels = next(iter(curves.values())).levels
    n = max(one.rows for one in curves.values())
    sizes = [one.counted for one in curves.values() if one.counted is not None]
    weighted = 0 in sizes
    counted = min((size for size in sizes if size), default=0 if weighted else None)
    if subject.results.has_groups(subject.dataset):
        counted = 0  # the rows are not independent
    ends = [coverage_band([(n, counted)], level) for level in levels.tolist()]
    high, low = 1 - np.array(ends).T
    right = bool(subject.option("confidence", False))
    turned = (lambda share: 100 - 100 * share) if right else (lambda share: 100 * share)
    x = turned(levels)
    band = axes.fill_between(x, turned(low), turned(high), color=GREY, alpha=0.3, linewidth=0)
    (diagonal,) = axes.plot(x[[0, -1]], x[[0, -1]], color=BLACK, linewidth=0.6)
    handles, labels = [diagonal], ["exact validity"]
    if counted != 0:
        handles, labels = [diagonal, band], [*labels, band_text(n, counted)]
    for label, one in curves.items():
        look = {"marker": ""} if one.conformal else {"marker": "", "linestyle": ":", "linewidth": 1.0}
        handles += axes.plot(x, turned(one.errors), **(subject.look(label) | look))
        labels.append(label if one.conformal else f"{label} (no p-values)")
    axes.set_xlim(x.min(), x.max())
    axes.set_ylim(x.min(), x.max())
    axes.set_xlabel("confidence level (%)" if right else "significance level (%)")
    axes.set_ylabel("regions with the true label (%)" if right else "regions without the true label (%)")
    if subject.option("instances", None) is not None:
        title = f"{title}, {n} random instances"
    axes.set_title(title, loc="left")
    add_legend(figure, handles, labels)
    return figure


def band_text(n: int, counted: int | None) -> str:
    """Return the caption of the band."""
    if counted is None:
        return f"95 % binomial band, n = {n}"
    return f"95 % band of valid p-values, {n} rows"


FIGURE = Figure(
    name="coverage-by-level",
    about="empirical error of regions against significance level, with the diagonal and the 95 % band of "
    "valid p-values on one split. The band is exact for split conformal prediction; TCM-NN with k = 1 "
    "leaves it in 6 to 11 % of the splits. It is binomial where no method has p-values",
    draw=draw,
    numbers=(RegionErrors,),
    caption="Share of regions without (or with) the true label against the level, mean over the splits. "
    "Other lines: views with p-values, which are valid if the examples are exchangeable; dotted "
    "lines: other views, without a guarantee. Grey band: pointwise 95 % range of valid p-values, as if all "
    "different test rows were one test part; a line is a mean over the splits.",
    options={
        "max_level": Number("largest significance level shown", low=0, high=1, low_open=True),
        "confidence": Flag(
            "draw coverage against confidence level instead of error against significance level"
        ),
        "instances": Integer(
            "number of test examples per split, drawn by the run's seed; all by default", low=1
        ),
    },
)
