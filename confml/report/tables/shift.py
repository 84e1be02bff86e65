"""``shift.csv`` and ``shift-classes.csv``: weights of p-values under shift, and what they can repair."""

import math
from collections.abc import Iterator, Sequence

from confml.measures import Case
from confml.methods.conformal.conformal import CLASS_SHIFT
from confml.report.numbers.summaries import mean_and_sd
from confml.report.report import Report
from confml.report.run.results import Split, Variant
from confml.report.tables.table import KEY, Row, Table, by_view

OVERLAP = 0.95  # area under the ROC curve above which the parts hardly overlap
METRICS = ("shift_auc", "shift_effective_rows", "shift_weighted_rows", "shift_largest_share", "shift_clipped")
COLUMNS = (
    *(*KEY, "level", "splits", "auc", "effective_rows", "weighted_rows", "largest_share", "clipped"),
    *("singular_value", "needed", "all_labels", "coverage", "mean_size", "advice"),
)


def is_weighted(case: Case) -> bool:
    return "own_share" in case.prediction.extra


def rows(splits: Sequence[Split], variant: Variant) -> Iterator[Row]:
    """Weights of p-values for a test part of another distribution, means over the splits.

    auc: how well a classifier tells test from training examples (0.5: no shift; above 0.95 they hardly
    overlap). effective_rows: effective sample size (sum w)^2 / sum w^2 of the weighted_rows examples that
    p-values are computed from. needed: 5 / level; regions at this level are unreliable with fewer effective
    rows. largest_share: largest weight as a fraction of all. clipped: fraction of examples whose weight is
    clipped. singular_value: smallest singular value of the confusion matrix (label shift); below 1 / sqrt(n)
    the class weights are hardly determined. all_labels: fraction of test examples whose own weight exceeds
    the level, so that their regions have every label (unless p-values are smoothed). coverage, mean_size: of
    the regions. advice: conclusions from these numbers, empty if there are none. Coverage is never used for
    it: new examples have no labels.
    """

    def mean(metric: str) -> float:
        return mean_and_sd([result.views.fit_metrics.get(metric, math.nan) for result, _ in splits])[0]

    means, singular = list(map(mean, METRICS)), mean("shift_singular_value")
    for level in variant.run.config.levels:
        regions = [case.regions(level) for _, case in splits]
        shares = [(case.prediction.extra["own_share"].min(axis=1) > level).mean() for _, case in splits]
        all_labels = mean_and_sd([float(share) for share in shares])[0]
        coverage = mean_and_sd([float(region.covered.mean()) for region in regions])[0]
        size = mean_and_sd([float(region.sizes.mean()) for region in regions])[0]
        needed = math.ceil(5 / level - 1e-9) if level else 0
        advice = advice_of(means[0], means[1], means[2], singular, level, needed, all_labels)
        yield level, len(splits), *means, singular, needed, all_labels, coverage, size, advice


def advice_of(
    auc: float, effective: float, rows: float, singular: float, level: float, needed: int, all_labels: float
) -> str:
    """Return one sentence per problem of the weights, or an empty text."""
    problems = []
    if effective < needed:
        problems.append(
            f"the effective sample size is {effective:.0f} of {rows:.0f} examples, and level {level:g} needs"
            f" {needed}: use a larger level, or label examples drawn from the distribution of the test part"
        )
    if auc > OVERLAP:
        problems.append(
            f"test and training part hardly overlap (AUC {auc:.3f}), and weights cannot repair the coverage:"
            " label examples drawn from the distribution of the test part"
        )
    if all_labels > 0.1:
        problems.append(
            f"the regions of {all_labels:.0%} of the test examples contain every label, because these"
            " examples are far from the training part"
        )
    if singular == singular and rows and singular < 1 / math.sqrt(rows):
        problems.append(
            "the confusion matrix hardly determines the class weights (smallest singular value"
            f" {singular:.2g}, below {1 / math.sqrt(rows):.2g}): use mondrian: true, or a better classifier"
        )
    return "; ".join(problems)


def notes(report: Report) -> Iterator[str]:
    for dataset, method, params, _, level, *_, advice in report.rows[TABLE.path]:
        if advice:
            yield f"{dataset}, {' '.join(filter(None, (method, params)))}, level {level:g}: {advice}"


TABLE = Table(
    "shift.csv",
    "weights of p-values under shift, and what they can repair",
    COLUMNS,
    by_view(rows, is_weighted),
    needs="a method with shift",
    notes=notes,
)


def class_rows(variant: Variant) -> Iterator[Row]:
    """For label shift: frequency of each class in the training part, estimated frequency
    in the test part with its 95 % interval, and observed frequency in the test part. The intervals account
    for the sampling of calibration and test examples. They are from predicted classes (BBSE) and contain the
    frequency in 89 to 99 % of simulated test parts (89 to 94 % with 100 calibration examples). With
    ``groups`` there is no interval, because the rows of a group are dependent.
    """
    for result in variant.splits:
        for label, *numbers in result.views.fit_details.other.get(CLASS_SHIFT, ()):
            if variant.run.has_groups(variant.dataset):
                numbers[2:] = math.nan, math.nan
            yield *variant.key, result.cell.split, label, *numbers, float((result.truth == label).mean())


OF_CLASSES = Table(
    "shift-classes.csv",
    "estimated class frequencies of the test part under label shift",
    "dataset method params split class training estimate low high observed",
    class_rows,
    needs="a method with shift",
)
