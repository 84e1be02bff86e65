"""``certified.csv``, ``certified-splits.csv`` and ``certified-halves.csv``: thresholds with a certified risk.

Each test part is divided into random halves: one is the calibration part, the other represents new examples.
The grid of thresholds is computed from the confidences of the other half, without its labels, so it does not
depend on the calibration part (`confml.measures.certified`).
"""

import functools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from confml._seeds import stable_generator
from confml.measures import Case
from confml.measures.certified import certify_all
from confml.report.numbers.summaries import mean_and_sd
from confml.report.report import Report
from confml.report.run.results import RunResults, Variant
from confml.report.tables.table import Row, Table

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
    alike: dict[
        tuple[str, int], list[tuple[str, Case]]
    ] = {}  # the splits with the same number of rows are computed together
    for view, splits in variant.views.items():
        for result, case in splits:
            if has_halves(case):
                alike.setdefault((view, len(case.truth)), []).append((result.cell.split, case))
    points: dict[tuple[str, str], list[CertifiedSplit]] = {}  # by split and view
    for (view, rows), cases in alike.items():
        names = [name for name, _ in cases]
        parts = [halves(variant.dataset, name, rows) for name in names]
        certainty, others = _halved([case.certainty for _, case in cases], parts)
        correct, others_correct = _halved([case.correct for _, case in cases], parts)
        for risk in RISKS:
            found = certify_all(certainty, correct, others, risk, DELTA)
            thresholds = np.array([point.threshold for point in found], dtype=np.float64)  # None becomes NaN
            accepted = others >= thresholds[:, None]
            counts = accepted.sum(axis=1).tolist(), (accepted & ~others_correct).sum(axis=1).tolist()
            for name, point, *of_rest in zip(names, found, *counts, strict=True):
                key = (*variant.key, name, view, risk, DELTA, point.threshold, certainty.shape[1])
                of_half = point.accepted, point.errors, point.p_value, point.minimum
                row = CertifiedSplit(*key, *of_half, others.shape[1], *of_rest)
                points.setdefault((name, view), []).append(row)
    order = [(result.cell.split, view) for result in variant.splits for view in result.views]
    return [point for key in order for point in points.get(key, ())]


def _halved(values: list[np.ndarray], parts: list[tuple[np.ndarray, np.ndarray]]) -> list[np.ndarray]:
    """Return values (n,) of s splits as (s, n/2) of the calibration halves and of the other halves."""
    return [
        np.take_along_axis(np.stack(values), np.stack(positions), axis=1)
        for positions in zip(*parts, strict=True)
    ]


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
    variants: dict[tuple, list[CertifiedSplit]] = {}
    for split in map(CertifiedSplit._make, report.rows[SPLITS.path]):
        key = split.dataset, split.method, split.params, split.view, split.risk
        variants.setdefault(key, []).append(split)
    for key, splits in variants.items():
        thresholds = [split.threshold for split in splits if split.threshold is not None]
        threshold = float(np.mean(thresholds)) if thresholds else float("nan")  # infinite for an sd of 0
        yield (
            *(*key, DELTA, len(splits), len(thresholds), threshold),
            mean_and_sd([split.coverage for split in splits])[0],
            mean_and_sd([split.observed_risk for split in splits])[0],
            sum(split.observed_risk > split.risk for split in splits),
            *(splits[0].needed, min(split.calibration_rows for split in splits)),
        )


class Candidate(NamedTuple):
    """A view on one split whose thresholds can be certified.

    rows: (n,) row numbers. certainty: (n,) values by which predictions are ordered. correct: (n,) bool.
    """

    dataset: str
    split: str
    method: str
    params: str
    view: str
    rows: np.ndarray
    certainty: np.ndarray
    correct: np.ndarray


def candidates_of(variant: Variant) -> list[Candidate]:
    """Return the candidates of a variant on all splits."""
    return [
        Candidate(
            *(variant.dataset, result.cell.split, result.cell.method, result.cell.variant, view),
            *(np.asarray(result.rows), case.certainty, case.correct),
        )
        for view, splits in variant.views.items()
        for result, case in splits
        if has_halves(case)
    ]


def candidates_of_splits(run: RunResults) -> dict[tuple[str, str], list[Candidate]]:
    """Return the candidates of all methods by data set and split."""
    splits: dict[tuple[str, str], list[Candidate]] = {}
    for candidates in run.collected(candidates_of):
        for candidate in candidates:
            splits.setdefault((candidate.dataset, candidate.split), []).append(candidate)
    return splits


def halves_rows(report: Report) -> Iterator[Row]:
    for (dataset, split), candidates in candidates_of_splits(report.run).items():
        numbers = candidates[0].rows.tolist()
        names = np.full(len(numbers), "calibration", dtype=object)
        names[halves(dataset, split, len(numbers))[1]] = "other"
        yield from ((dataset, split, *row) for row in zip(numbers, names.tolist(), strict=True))


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


SPLITS = Table(
    "certified-splits.csv",
    "counts of the certified thresholds on each split",
    CertifiedSplit._fields,
    certified_splits,
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
    collects=lambda run: (candidates_of,),
)
