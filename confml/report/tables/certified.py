"""``certified.csv``: thresholds with a certified risk.

Each test part is divided into random halves: one is the calibration part, the other represents new examples.
The grid of thresholds is computed from the confidences of the other half, without its labels, so it does not
depend on the calibration part (`confml.measures.certified`).
"""

import functools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from confml._seeds import stable_generator
from confml.measures import Case
from confml.measures.certified import OperatingPoint, certify, threshold_grid
from confml.report.numbers.summaries import mean_and_sd
from confml.report.report import Report
from confml.report.run.results import RunResults, Split, Variant
from confml.report.tables.table import KEY, Row, Table, by_view

RISKS, DELTA = (0.1, 0.05, 0.01), 0.05


def has_thresholds(run: RunResults) -> bool:
    return bool(run.config.thresholds)


def has_halves(case: Case) -> bool:
    """Return whether a view has rows with confidences for both halves, all predicted by one classifier."""
    prediction = case.prediction
    return len(prediction) >= 2 and "learnt" not in prediction.extra and not np.isnan(case.certainty).any()


@functools.lru_cache(maxsize=256)  # of the splits of one data set, which all methods have
def halves(dataset: str, split: str, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of the calibration half and of the other half, equal for all methods."""
    half, rest = np.array_split(stable_generator("certified", dataset, split).permutation(rows), 2)
    return half, rest


class CertifiedSplit(NamedTuple):
    """The operating point of one view on one split.

    point: of the calibration half, which has ``rows`` rows. coverage: accepted share of the other half, 0 if
    no threshold is certified. risk: error rate of the accepted, NaN if none is accepted.
    """

    point: OperatingPoint
    rows: int
    coverage: float
    risk: float


def certified_splits(splits: Sequence[Split]) -> dict[float, list[CertifiedSplit]]:
    """Return the operating points of the splits of a view, all of which `has_halves`, for each of `RISKS`."""
    points: dict[float, list[CertifiedSplit]] = {risk: [] for risk in RISKS}
    for result, case in splits:
        half, rest = halves(result.cell.dataset, result.cell.split, len(case.truth))
        certainty, correct = case.certainty, case.correct
        for risk in RISKS:
            grid = threshold_grid(certainty[rest], len(half), risk, DELTA)
            point = certify(certainty[half], correct[half], grid, risk, DELTA)
            shares = accepted_shares(certainty[rest], correct[rest], point.threshold)
            points[risk].append(CertifiedSplit(point, len(half), *shares))
    return points


def accepted_shares(
    certainty: np.ndarray, correct: np.ndarray, threshold: float | None
) -> tuple[float, float]:
    """Return the accepted share of rows, and the error rate of the accepted: 0 and NaN without any."""
    accepted = correct[certainty >= threshold] if threshold is not None else correct[:0]
    n, errors = len(accepted), int(np.count_nonzero(~accepted))
    return n / len(correct), errors / n if n else float("nan")


def rows(splits: Sequence[Split], variant: Variant) -> Iterator[Row]:
    """One row per view and risk.

    certified: number of splits with a certified threshold. threshold: its mean over these splits. coverage:
    mean accepted share of the other half, 0 for splits without a threshold. observed_risk: mean error of the
    accepted rows. broken: number of certified splits whose observed risk is above ``risk``. Half of a test
    part is a small sample, so this does not refute the certificate. needed: number of accepted calibration
    rows without an error that any certificate needs. calibration_rows: smallest number of a split. The bounds
    need independent rows: for a data set with ``groups`` a note says that they do not hold. Each view and
    risk is certified by itself: the best of several has no guarantee (``certified-jointly.csv`` has one for
    all views). Not for ``protocol: online``, where each row is predicted by another classifier.
    """
    for risk, points in certified_splits(splits).items():
        thresholds = [split.point.threshold for split in points if split.point.threshold is not None]
        threshold = float(np.mean(thresholds)) if thresholds else float("nan")  # infinite for an sd of 0
        yield (
            *(risk, DELTA, len(points), len(thresholds), threshold),
            mean_and_sd([split.coverage for split in points])[0],
            mean_and_sd([split.risk for split in points])[0],
            sum(split.risk > risk for split in points),
            *(points[0].point.minimum, min(split.rows for split in points)),
        )


def group_columns(run: RunResults) -> dict[str, str]:
    """Return the column of groups of each data set that has one."""
    return {spec.name: spec.groups for spec in run.config.datasets if spec.groups}


def notes(report: Report) -> Iterator[str]:
    certified = {row[0] for row in report.rows[TABLE.path]}
    for dataset, column in group_columns(report.run).items():
        if dataset in certified:
            yield (
                f"{dataset}: the thresholds of certified.csv and certified-jointly.csv have no guarantee, "
                f"because the rows of a group are not independent (groups: {column})"
            )


TABLE = Table(
    "certified.csv",
    "thresholds whose risk is certified for new examples",
    (
        *(*KEY, "risk", "delta", "splits", "certified", "threshold", "coverage", "observed_risk", "broken"),
        *("needed", "calibration_rows"),
    ),
    by_view(rows, has_halves),
    needs="thresholds in the config",
    applies=has_thresholds,
    notes=notes,
)
