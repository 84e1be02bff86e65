"""``calibration.csv``: calibration of probabilities."""

import math
from collections.abc import Iterator, Sequence
from statistics import fmean, median

from confml.measures import Case
from confml.measures.prediction import SHARES
from confml.measures.recalibration import SMALLEST_STEP, Sample, split_values
from confml.report.run.results import Split, Variant
from confml.report.tables.table import KEY, Row, Table, by_view

MOST_SPLITS = 20
COLUMNS = (
    *KEY,
    *("splits", "rows", "ece", "ece_null", "ece_null_95", "above"),
    *("slope_splits", "slope", "intercept", "intercept_large", "clipped"),
)


def has_shares(case: Case) -> bool:
    return case.prediction.kind in SHARES and len(case.truth) > 0


def rows(splits: Sequence[Split], variant: Variant) -> Iterator[Row]:
    """Calibration of each view with probabilities or vote shares, as means over its first 20 splits.

    ``rows``: test rows of these splits. ``ece``: expected calibration error of the largest probability.
    ``ece_null`` and ``ece_null_95``: its mean and 95 % quantile if the probabilities were calibrated, from
    200 draws of outcomes with these probabilities (random seed 0). An ``ece`` near ``ece_null`` is no sign of
    miscalibration; ``above`` counts the splits whose error exceeds the quantile (5 % of the splits do so by
    chance). With ``groups`` the three are empty, because the rows of a group are dependent.

    ``slope``, ``intercept``: logistic regression of the outcome on the logit of the probability, of the
    second of two classes, and with more classes of a correct prediction. A slope below 1 means
    overconfidence. ``intercept_large``: intercept with slope 1, above 0 if events are more frequent than
    predicted. They are medians over ``slope_splits`` splits: outcomes that are all equal, or separated by the
    probabilities, have no slope. ``clipped``: number of probabilities per split moved to 1/(2n) or 1 -
    1/(2n) for the logit.
    """
    samples = [Sample.of(case) for _, case in splits[:MOST_SPLITS]]
    values = split_values(samples)
    if variant.run.has_groups(variant.dataset):
        values = [stat | dict.fromkeys(("ece_null", "ece_null_95"), math.nan) for stat in values]
    fits = [stat for stat in values if not math.isnan(stat["slope"])]
    has_null = any(not math.isnan(stat["ece_null_95"]) for stat in values)
    yield (
        *(len(values), sum(len(sample.correct) for sample in samples)),
        *(fmean(stat[name] for stat in values) for name in ("ece", "ece_null", "ece_null_95")),
        sum(stat["ece"] > stat["ece_null_95"] for stat in values) if has_null else math.nan,
        len(fits),
        *(_six_digits([stat[name] for stat in fits]) for name in ("slope", "intercept")),
        _six_digits([stat["intercept_large"] for stat in values if not math.isnan(stat["intercept_large"])]),
        fmean(stat["clipped"] for stat in values),
    )


def _six_digits(values: list[float]) -> float:
    """Return the median to six digits, all that iterative fits have on every machine; NaN without values.

    It is 0 where it is smaller than the last step of a fit.
    """
    if not values:
        return math.nan
    return float(f"{median(values):.6g}") if abs(median(values)) > SMALLEST_STEP else 0.0


TABLE = Table(
    "calibration.csv",
    "calibration error and its value by chance, calibration slope and intercept",
    COLUMNS,
    by_view(rows, has_shares),
    needs="probabilities or vote shares",
)
