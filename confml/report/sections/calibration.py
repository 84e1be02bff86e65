"""Calibration of probabilities, ``calibration.csv``, and bounds of Venn predictors, ``venn-bounds.csv``."""

import math
from collections.abc import Iterator
from statistics import fmean, median

import numpy as np

from confml.measures.prediction import SHARES, per_class_extra
from confml.measures.recalibration import SMALLEST_STEP, Sample, split_values
from confml.report.items import TableKind
from confml.report.sections.base import ViewSection

MOST_SPLITS = 20
MOST_ROWS = 1000  # of a split that is computed with others
CALIBRATION = TableKind(
    "calibration.csv",
    "dataset method params view splits rows ece ece_null ece_null_95 above slope_splits slope intercept "
    "intercept_large clipped",
)


class Calibration(ViewSection):
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

    name = "calibration"
    place = 57
    needs = "probabilities or vote shares"
    files = {CALIBRATION.path: "calibration error and its value by chance, calibration slope and intercept"}

    tables = (CALIBRATION,)

    def takes(self, case):
        return case.prediction.kind in SHARES and len(case.truth) > 0

    def add_view(self, found, result, view, case):
        if len(found) < MOST_SPLITS:
            sample = Sample.of(case)
            found.append(
                sample if len(case.truth) <= MOST_ROWS else (len(case.truth), *split_values([sample]))
            )

    def rows_of(self, key, found):
        samples = [one for one in found if isinstance(one, Sample)]
        found = [one for one in found if not isinstance(one, Sample)]
        found += zip((len(one.correct) for one in samples), split_values(samples), strict=True)
        nothing = dict.fromkeys(
            ("ece_null", "ece_null_95") if self.results.has_groups(key[0]) else (), math.nan
        )
        return ([(*key, *_means([{"rows": rows, **own, **nothing} for rows, own in found]))],)


def _means(found: list[dict[str, float]]) -> Iterator[float]:
    """Yield the columns from ``splits`` on."""
    yield len(found)
    yield sum(int(one["rows"]) for one in found)
    for name in ("ece", "ece_null", "ece_null_95"):
        yield fmean(one[name] for one in found)
    known = any(not math.isnan(one["ece_null_95"]) for one in found)
    yield sum(one["ece"] > one["ece_null_95"] for one in found) if known else math.nan
    fits = [one for one in found if not math.isnan(one["slope"])]
    yield len(fits)
    for name in ("slope", "intercept"):
        yield _six_digits([one[name] for one in fits])
    yield _six_digits([one["intercept_large"] for one in found if not math.isnan(one["intercept_large"])])
    yield fmean(one["clipped"] for one in found)


def _six_digits(values: list[float]) -> float:
    """Return the median to six digits, all that iterative fits have on every machine; NaN without values.

    It is 0 where it is smaller than the last step of a fit.
    """
    if not values:
        return math.nan
    return float(f"{median(values):.6g}") if abs(median(values)) > SMALLEST_STEP else 0.0


VENN = TableKind("venn-bounds.csv", "dataset method params view class rows lower frequency upper")


class VennBounds(ViewSection):
    """Mean lower and upper probability of each class, and its frequency, over all splits.

    ``rows``: number of predictions, of all classes. ``lower`` and ``upper``: means of the bounds over them.
    ``frequency``: share of them whose true label is the class. In expectation the frequency lies between
    ``lower`` and ``upper`` for ``venn: inductive``, if calibration and test rows are exchangeable; ``venn:
    cross`` has no such guarantee. On one test part the frequency varies by chance.
    """

    name = "venn-bounds"
    place = 58
    needs = "Venn predictors"
    files = {VENN.path: "mean lower and upper probability of each class, and its frequency"}

    tables = (VENN,)
    kept = dict

    def takes(self, case):
        return per_class_extra(case.prediction) == ["lower", "upper"] and len(case.truth) > 0

    def add_view(self, found, result, view, case):
        prediction = case.prediction
        lower, upper = (prediction.extra[name].sum(axis=0) for name in ("lower", "upper"))
        for j, label in enumerate(prediction.classes.tolist()):
            own = np.count_nonzero(result.truth == label)
            found[label] = found.get(label, 0.0) + np.array([len(prediction), lower[j], own, upper[j]])

    def rows_of(self, key, found):
        rows = [
            (*key, label, int(n), lower / n, own / n, upper / n)
            for label, (n, lower, own, upper) in sorted(found.items())
        ]
        return (rows,)
