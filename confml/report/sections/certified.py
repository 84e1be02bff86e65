"""Operating points with a certified risk, and their risk on new examples: ``certified.csv``.

Each test part is divided into random halves: one is the calibration part, the other represents new examples.
The grid of thresholds is computed from the confidences of the other half, without its labels, so it does not
depend on the calibration part (`confml.measures.certified`).

``certified-splits.csv`` keeps the counts of each split that ``certified.csv`` is computed from, and
``certified-halves.csv`` the half of each test example.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from confml.measures import Case
from confml.measures.certified import OperatingPoint, certify_all
from confml.report.items import Item, Note, Table, TableKind
from confml.report.numbers.certificates import DELTA, RISKS, halves, has_halves
from confml.report.numbers.summaries import mean_and_sd
from confml.report.run.one_pass import ViewBlock
from confml.report.run.results import RunResults
from confml.report.sections.base import Section
from confml.runner.results import CellResult

CERTIFIED = TableKind(
    "certified.csv",
    "dataset method params view risk delta splits certified threshold coverage observed_risk broken "
    "needed calibration_rows",
    read=True,
)


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


class Certified(Section):
    """``certified.csv``, one row per view and risk, and the files it is computed from.

    certified: number of splits with a certified threshold. threshold: its mean over these splits. coverage:
    mean accepted share of the other half, 0 for splits without a threshold. observed_risk: mean error of the
    accepted rows. broken: number of certified splits whose observed risk is above ``risk``. Half of a test
    part is a small sample, so this does not refute the certificate. needed: as in `CertifiedSplit`.
    calibration_rows: smallest number of a split. The bounds need independent rows: for a data set with
    ``groups`` a note says that they do not hold. Each view and risk is certified by itself: the best of
    several has no guarantee (``certified-jointly.csv`` has one for all views). Not for ``protocol: online``,
    where each row is predicted by another classifier.
    """

    name = "certified"
    place = 90
    needs = "thresholds in the config"
    setting = "thresholds"
    files = {
        "certified.csv": "thresholds whose risk is certified for new examples",
        "certified-splits.csv": "their counts on each split",
        "certified-halves.csv": "the half of each test example",
    }

    def start(self) -> None:
        self._splits: list[CertifiedSplit] = []
        self._halves: dict[tuple[str, str], list[tuple[int, str]]] = {}

    def prepare(self, blocks: Sequence[ViewBlock]) -> None:
        keep_certified_splits(blocks)

    def add(self, result: CellResult) -> None:
        cell = result.cell
        for case in result.cases.values():
            if has_halves(case):
                self._splits += case.kept["certified splits"]
                if (cell.dataset, cell.split) not in self._halves:
                    self._halves[cell.dataset, cell.split] = list(_half_rows(result))

    def items(self) -> Iterator[Item]:
        found: dict[tuple, list[CertifiedSplit]] = {}
        for one in self._splits:
            found.setdefault((one.dataset, one.method, one.params, one.view, one.risk), []).append(one)
        if found:
            yield CERTIFIED.of([_over_splits(key, own) for key, own in found.items()])
            yield Table("certified-splits.csv", CertifiedSplit._fields, self._splits)
            rows = ((*key, *row) for key, half_rows in self._halves.items() for row in half_rows)
            yield Table("certified-halves.csv", ("dataset", "split", "row", "half"), rows)
            for dataset, column in group_columns(self.results).items():
                if any(key[0] == dataset for key in found):
                    yield Note(
                        f"{dataset}: the thresholds of certified.csv and certified-jointly.csv have no"
                        f" guarantee, because the rows of a group are not independent (groups: {column})"
                    )


def _over_splits(key: tuple, own: list[CertifiedSplit]) -> tuple:
    """Return one row of ``certified.csv``."""
    kept = [one.threshold for one in own if one.threshold is not None]
    broken = sum(one.observed_risk > one.risk for one in own)
    threshold = float(np.mean(kept)) if kept else float("nan")  # it may be infinite: an sd of 0
    shares = ([one.coverage for one in own], [one.observed_risk for one in own])
    means = (threshold, *(mean_and_sd(values)[0] for values in shares))
    size = min(one.calibration_rows for one in own)
    return (*key, DELTA, len(own), len(kept), *means, broken, own[0].needed, size)


def group_columns(results: RunResults) -> dict[str, str]:
    """Return the column of groups of each data set that has one."""
    return {spec.name: spec.groups for spec in results.config.datasets if spec.groups}


def no_guarantee(column: str) -> str:
    """Return the text in place of a guarantee for a data set with groups."""
    return f"None: the rows of a group are not independent (groups: {column})."


def _half_rows(result: CellResult) -> Iterator[tuple[int, str]]:
    """Yield (row, half) of each test example in its order."""
    names = np.full(len(result.truth), "calibration", dtype=object)
    names[halves(result)[1]] = "other"
    yield from zip(np.asarray(result.rows).tolist(), names.tolist(), strict=True)


def keep_certified_splits(blocks: Sequence[ViewBlock]) -> None:
    """Give each case its operating points, one for each of `RISKS`, under the key "certified splits"."""
    for one, own, (half, correct, rest, correct_rest) in certifiable_halves(blocks):
        points = [certify_all(half, correct, rest, risk, DELTA) for risk in RISKS]
        counts = [accepted_and_wrong(rest, ~correct_rest, [at.threshold for at in some]) for some in points]
        by_case = zip(own, zip(*points, strict=True), zip(*counts, strict=True), strict=True)
        for (result, case), found, counted in by_case:
            case.kept["certified splits"] = [
                _split(result, one.view, *pair) for pair in zip(found, counted, strict=True)
            ]


def accepted_and_wrong(
    certainty: np.ndarray, wrong: np.ndarray, thresholds: Sequence[float | None]
) -> list[tuple[int, int]]:
    """Return for each of s test parts the number of accepted rows, and of errors among them.

    certainty, wrong: (s, m). thresholds: (s,); a row is accepted if its certainty is at least the threshold,
    and no row is where it is None.
    """
    taken = certainty >= np.array(thresholds, dtype=np.float64)[:, None]  # None becomes NaN
    return list(zip(taken.sum(axis=1).tolist(), (taken & wrong).sum(axis=1).tolist(), strict=True))


def certifiable_halves(blocks: Sequence[ViewBlock]) -> Iterator[tuple[ViewBlock, list, list[np.ndarray]]]:
    """Yield the cells and cases of each block that have halves and the same number of rows.

    With the certainties (s, h) and correctness of the calibration halves, and those of the other halves.
    """
    for one in blocks:
        found: dict[int, list[tuple[CellResult, Case]]] = {}
        for result, case in one.pairs():
            if has_halves(case):
                found.setdefault(len(case.truth), []).append((result, case))
        for own in found.values():
            rows = [np.stack(part) for part in zip(*(halves(result) for result, _ in own), strict=True)]
            both = [np.stack(part) for part in zip(*((c.certainty, c.correct) for _, c in own), strict=True)]
            yield one, own, [np.take_along_axis(values, at, axis=1) for at in rows for values in both]


def _split(result: CellResult, view: str, point: OperatingPoint, counted: tuple[int, int]) -> CertifiedSplit:
    """Return an operating point with the accepted rows and errors of the other half."""
    cell, (half, rest) = result.cell, halves(result)
    return CertifiedSplit(
        *(cell.dataset, cell.method, cell.variant, cell.split, view, point.risk, DELTA, point.threshold),
        *(len(half), point.accepted, point.errors, point.p_value, point.minimum),
        *(len(rest), *counted),
    )
