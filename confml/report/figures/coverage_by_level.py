"""Error of prediction regions against significance level: valid regions are below the diagonal.

Alternatively coverage against confidence level, as in papers: valid regions are above the diagonal.
"""

import numpy as np

from confml._seeds import stable_generator
from confml.measures import Case
from confml.measures.coverage_band import coverage_band
from confml.plugins.parameters import Flag, Integer, Number
from confml.report.figures import Figure, NotApplicable, Subject, Variant
from confml.report.figures.style import BLACK, COLUMN, GREY, legend_below, legend_beside, lines_of, new_figure
from confml.report.numbers.calibration_parts import CalibrationParts, case_of

STEPS = 200
COLOURS = 7  # of `lines_of`
DASHED = {True: ("-", "--", (0, (5, 1, 1, 1))), False: (":", "-.", (0, (1, 3)))}
MOST = 20  # lines that are distinguishable


def region_errors(subject: Subject, variant: Variant, levels: np.ndarray) -> tuple[np.ndarray, int] | None:
    """Return (share of regions without the true label at each level, number of different test rows).

    The share is the mean over the splits. None for margins, and without test examples. The option
    ``instances`` limits the test examples of each split, to the same ones for every method.
    """
    errors, rows = [], []
    instances = subject.option("instances", None)
    for prediction, truth, numbers in subject.predictions(variant):
        if instances is not None and instances < len(numbers):
            some = _some(numbers, instances, subject)
            prediction, truth, numbers = prediction.take(some), truth[some], numbers[some]
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


def fewest_counted(subject: Subject, variants: list[Variant]) -> int | None:
    """Return the smallest number of examples that p-values are counted among.

    None without p-values and for an online pass; 0, for which there is no band, if all are weighted.
    """
    found, weighted = [], False
    for variant in variants:
        parts = CalibrationParts()
        for cell in variant.cells:
            result = subject.results.results[cell.key]
            if result.views[variant.view].kind == "p-value":
                parts.add(case_of(result, result.views[variant.view]), result.rows)
        sizes = [counted for _, counted in parts.all_classes()]
        weighted = weighted or bool(parts.classes() and not sizes)
        counts = [size for size in sizes if size is not None]
        if sizes and len(counts) == len(sizes):
            found.append(sum(counts))  # label-conditional classes add up to about one sample of all of them
    return min(found, default=0 if weighted else None)


def _some(numbers: np.ndarray, instances: int, subject: Subject) -> np.ndarray:
    """Return positions of random test examples from those with these row numbers, by the run's seed."""
    rng = stable_generator(
        "instances", subject.results.config.seed, subject.dataset, sorted(numbers.tolist())
    )
    drawn = rng.choice(np.sort(numbers), instances, replace=False)
    return np.flatnonzero(np.isin(numbers, drawn))


def draw(subject: Subject):
    top = float(subject.option("max_level", 1.0))
    levels = np.linspace(0, top, STEPS + 1)
    found = {label: region_errors(subject, variant, levels) for label, variant in subject.variants.items()}
    curves, title = subject.some_of({label: one for label, one in found.items() if one is not None}, MOST)
    if not curves:
        raise NotApplicable("no method has prediction regions")
    figure = new_figure(COLUMN, 3.1)
    axes = figure.add_subplot()
    n = max(rows for _, rows in curves.values())
    counted = fewest_counted(subject, [subject.variants[label] for label in curves])
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
    drawn = {True: 0, False: 0}
    for label, (errors, _) in curves.items():
        variant = subject.variants[label]
        conformal = all(prediction.kind == "p-value" for prediction, _, _ in subject.predictions(variant))
        place = drawn[conformal]  # colours begin anew: solid and dotted lines are different
        drawn[conformal] += 1
        dashes = DASHED[conformal][place // COLOURS % len(DASHED[conformal])]
        look = {"marker": "", "linestyle": dashes, "linewidth": 1.2 if conformal else 1.0}
        handles += axes.plot(x, turned(errors), **(lines_of(COLOURS)[place % COLOURS] | look))
        labels.append(label if conformal else f"{label} (no p-values)")
    axes.set_xlim(x.min(), x.max())
    axes.set_ylim(x.min(), x.max())
    axes.set_xlabel("confidence level (%)" if right else "significance level (%)")
    axes.set_ylabel("regions with the true label (%)" if right else "regions without the true label (%)")
    if subject.option("instances", None) is not None:
        title = f"{title}, {n} random instances"
    axes.set_title(title, loc="left")
    (legend_below if len(labels) <= 12 else legend_beside)(figure, handles, labels)
    return figure


def band_text(n: int, counted: int | None) -> str:
    """Return the caption of the band."""
    if counted is None:
        return f"95 % binomial band, n = {n}"
    return f"95 % band of valid p-values, n = {n} different rows among {counted - 1}"


FIGURE = Figure(
    name="coverage-by-level",
    about="empirical error of regions against significance level, with the diagonal and the 95 % band of "
    "valid p-values on one split (test part, smallest training or calibration part shown; binomial where "
    "no method has p-values; exact for split conformal prediction, while TCM-NN with k = 1 leaves it in 6 "
    "to 11 % of the splits)",
    draw=draw,
    caption="Fraction of regions without (or with) the true label against the level, mean over the splits. "
    "Solid and dashed lines: views with p-values, which are valid if the examples are exchangeable; dotted "
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
