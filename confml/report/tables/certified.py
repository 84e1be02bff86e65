"""``certified.csv``, ``certified-splits.csv`` and ``certified-halves.csv``: thresholds with a certified risk.

Each test part is divided into random halves: one is the calibration part, the other represents new examples.
The grid of thresholds is computed from the confidences of the other half, without its labels, so it does not
depend on the calibration part (`confml.measures.certified`).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from confml.measures.certified import OperatingPoint, certify_all
from confml.report.numbers.certificates import DELTA, RISKS, halves, has_halves
from confml.report.numbers.summaries import mean_and_sd
from confml.report.report import Report
from confml.report.run.results import RunResults, Variant
from confml.report.tables.matched import has_thresholds
from confml.report.tables.table import Row, Table


class CertifiedSplit(NamedTuple):
    """The operating point of one view on one split, with its counts.

    threshold: accept confidences at least as large (for a posterior the multiple of its sd), None if no
    threshold is certified. calibration_rows: rows of the calibration half; calibration_accepted,
    calibration_errors: number that the threshold (the strictest one tested if none is certified) accepts,
    and the number of errors among these; p_value: probability of at most as many errors at a risk of
    ``risk``. needed: number of accepted calibration examples without an error that any certificate needs.
    other_rows, other_accepted, other_errors: the same counts of the other half; 0 accepted if no threshold is
    certified.
    """

    dataset: str
    method: str
    params: str
    split: str
    view: str
    risk: float
    delta: float
    threshold: float | None
    calibration_rows: int
    calibration_accepted: int
    calibration_errors: int
    p_value: float
    needed: int
    other_rows: int
    other_accepted: int
    other_errors: int

    @property
    def coverage(self) -> float:
        """Accepted share of the other half."""
        return self.other_accepted / self.other_rows

    @property
    def observed_risk(self) -> float:
        """Error rate of the accepted examples of the other half; NaN if none is accepted."""
        return self.other_errors / self.other_accepted if self.other_accepted else float("nan")


def certified_splits(variant: Variant) -> list[CertifiedSplit]:
    """Return the operating points of each view on each split, one for each of `RISKS`."""
    points: dict[tuple[str, str], list[CertifiedSplit]] = {}  # by split and view
    for view, splits in variant.views.items():
        by_size: dict[int, list] = {}
        for result, case in splits:
            if has_halves(case):
                by_size.setdefault(len(case.truth), []).append((result.cell, halves(result), case))
        for alike in by_size.values():  # the same number of rows: computed together
            for (cell, (half, rest), _), found in zip(alike, _operating_points(alike), strict=True):
                points[cell.split, view] = [
                    CertifiedSplit(
                        *(*variant.key, cell.split, view, point.risk, DELTA, point.threshold),
                        *(len(half), point.accepted, point.errors, point.p_value, point.minimum),
                        *(len(rest), accepted, errors),
                    )
                    for point, accepted, errors in found
                ]
    order = [(result.cell.split, view) for result in variant.splits for view in result.views]
    return [point for key in order for point in points.get(key, ())]


def _operating_points(splits: Sequence[tuple]) -> list[list[tuple[OperatingPoint, int, int]]]:
    """Return for each split its operating points, with the accepted rows and errors of the other half."""
    halves_of, cases = [half for _, half, _ in splits], [case for *_, case in splits]
    certainty = np.stack([case.certainty for case in cases])
    correct = np.stack([case.correct for case in cases])
    (half, half_correct), (rest, rest_correct) = (
        [np.take_along_axis(values, np.stack(rows), axis=1) for values in (certainty, correct)]
        for rows in zip(*halves_of, strict=True)
    )
    found: list[list[tuple[OperatingPoint, int, int]]] = [[] for _ in splits]
    for risk in RISKS:
        points = certify_all(half, half_correct, rest, risk, DELTA)
        thresholds = np.array([point.threshold for point in points], dtype=np.float64)  # None becomes NaN
        accepted = rest >= thresholds[:, None]
        errors = (accepted & ~rest_correct).sum(axis=1).tolist()
        for number, counts in enumerate(zip(points, accepted.sum(axis=1).tolist(), errors, strict=True)):
            found[number].append(counts)
    return found


def splits_rows(variant: Variant) -> Iterator[Row]:
    yield from certified_splits(variant)


def rows(report: Report) -> Iterator[Row]:
    """One row per view and risk.

    certified: number of splits with a certified threshold. threshold: its mean over these splits. coverage:
    mean accepted share of the other half, 0 for splits without a threshold. observed_risk: mean error of the
    accepted rows. broken: number of certified splits whose observed risk is above ``risk``. Half of a test
    part is a small sample, so this does not refute the certificate. needed: as in `CertifiedSplit`.
    calibration_rows: smallest number of a split. The bounds need independent rows: for a data set with
    ``groups`` a note says that they do not hold. Each view and risk is certified by itself: the best of
    several has no guarantee (``certified-jointly.csv`` has one for all views). Not for ``protocol: online``,
    where each row is predicted by another classifier.
    """
    splits: dict[tuple, list[CertifiedSplit]] = {}
    for split in map(CertifiedSplit._make, report.rows[SPLITS.path]):
        key = split.dataset, split.method, split.params, split.view, split.risk
        splits.setdefault(key, []).append(split)
    for key, found in splits.items():
        thresholds = [split.threshold for split in found if split.threshold is not None]
        threshold = float(np.mean(thresholds)) if thresholds else float("nan")  # infinite for an sd of 0
        yield (
            *(*key, DELTA, len(found), len(thresholds), threshold),
            mean_and_sd([split.coverage for split in found])[0],
            mean_and_sd([split.observed_risk for split in found])[0],
            sum(split.observed_risk > split.risk for split in found),
            *(found[0].needed, min(split.calibration_rows for split in found)),
        )


def split_rows_and_sizes(variant: Variant) -> list[tuple[str, str, np.ndarray, tuple]]:
    """Return data set, split, row numbers and halves of each split of which a view has halves."""
    return [
        (variant.dataset, result.cell.split, np.asarray(result.rows), halves(result))
        for result in variant.splits
        if any(has_halves(case) for _, case in variant.of_split(result))
    ]


def halves_rows(report: Report) -> Iterator[Row]:
    seen = set()
    for dataset, split, rows, (_, rest) in (
        one for found in report.run.collected(split_rows_and_sizes) for one in found
    ):
        if (dataset, split) not in seen:
            seen.add((dataset, split))
            names = np.full(len(rows), "calibration", dtype=object)
            names[rest] = "other"
            yield from zip(
                [dataset] * len(rows), [split] * len(rows), rows.tolist(), names.tolist(), strict=True
            )


def group_columns(run: RunResults) -> dict[str, str]:
    """Return the column of groups of each data set that has one."""
    return {spec.name: spec.groups for spec in run.config.datasets if spec.groups}


def no_guarantee(column: str) -> str:
    """Return the text in place of a guarantee for a data set with groups."""
    return f"None: the rows of a group are not independent (groups: {column})."


def notes(report: Report) -> Iterator[str]:
    certified = {row[0] for row in report.rows[TABLE.path]}
    for dataset, column in group_columns(report.run).items():
        if dataset in certified:
            yield (
                f"{dataset}: the thresholds of certified.csv and certified-jointly.csv have no guarantee, "
                f"because the rows of a group are not independent (groups: {column})"
            )


SPLITS = Table(
    "certified-splits.csv",
    "counts of the certified thresholds on each split",
    CertifiedSplit._fields,
    splits_rows,
    needs="thresholds in the config",
    applies=has_thresholds,
)
TABLE = Table(
    "certified.csv",
    "thresholds whose risk is certified for new examples",
    "dataset method params view risk delta splits certified threshold coverage observed_risk broken needed "
    "calibration_rows",
    rows,
    needs="thresholds in the config",
    applies=has_thresholds,
    of_run=True,
    notes=notes,
)
HALVES = Table(
    "certified-halves.csv",
    "the half of each test example",
    "dataset split row half",
    halves_rows,
    needs="thresholds in the config",
    applies=has_thresholds,
    of_run=True,
    collects=lambda run: (split_rows_and_sizes,),
)
