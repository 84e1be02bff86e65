"""Thresholds certified together over all methods and views of a data set: ``certified-jointly.csv``.

The halves of each test part are those of ``certified.csv``. The thresholds of each path and their order are
computed without the labels of the half that certifies (`confml.measures.certified_paths`).
"""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from confml.measures.certified import minimum_accepted, threshold_grid
from confml.measures.certified_paths import CostTable, Path, certify_paths, least_loss, most_accepting
from confml.report.numbers.certificates import (
    ALL,
    DELTA,
    RISKS,
    TRUE,
    Candidate,
    SplitPaths,
    halves,
    has_halves,
    joint_paths,
)
from confml.report.numbers.summaries import mean_and_sd
from confml.report.report import Report
from confml.report.run.results import Variant
from confml.report.tables.certified import group_columns, no_guarantee
from confml.report.tables.matched import has_thresholds
from confml.report.tables.table import Row, Table

PREDICTED, COST = "predicted class", "cost"
COST_SHARES = (0.75, 0.5, 0.25)  # bounds on the expected cost, as shares of the price of abstaining
_COST_THRESHOLDS = 20
_ORDERING = 0.25  # share of the calibration half that orders the thresholds of a cost path
GUARANTEES = {
    ALL: "With probability at least {sure:g} over calibration halves, none of the thresholds certified for"
    " the {candidates} views of this split accepts new rows with a risk above {limit:g}, so the chosen"
    " one does not either.",
    PREDICTED: "With probability at least {sure:g} over calibration halves, for none of the thresholds"
    " certified for the {candidates} views and their predicted classes the accepted new rows with this"
    " prediction have a risk above {limit:g}.",
    TRUE: "With probability at least {sure:g} over calibration halves, for none of the thresholds certified"
    " for the {candidates} views the accepted new rows of any class of the training part have a risk above"
    " {limit:g}, also if the frequencies of the classes change.",
    COST: "With probability at least {sure:g} over calibration halves, for none of the thresholds certified"
    " for the {candidates} views the expected cost of a new row, with the price of abstaining, is above"
    " {limit:g}.",
}


class JointSplit(NamedTuple):
    """The chosen threshold of one split, or of one predicted class, with its counts.

    limit: largest risk of the accepted rows, or for scope cost the largest expected cost per row. candidates:
    number of views that are certified together. certified_points: number of certified thresholds of all
    paths. class: the predicted class, empty for other scopes. threshold: None if nothing is certified.
    accepted, p_value: of the calibration half. loss: number of errors among these, for scope cost the mean
    cost per row. other_rows, other_accepted, other_loss: the same of the other half.
    """

    dataset: str
    split: str
    scope: str
    limit: float
    delta: float
    candidates: int
    certified_points: int
    method: str
    params: str
    view: str
    label: Any
    threshold: float | None
    calibration_rows: int
    accepted: int
    loss: float
    p_value: float | None
    needed: int
    other_rows: int
    other_accepted: int
    other_loss: float


class SplitCandidates(NamedTuple):
    """The views of one variant on one split that thresholds are certified for, and the halves of its rows."""

    dataset: str
    split: str
    halves: tuple[np.ndarray, np.ndarray]
    candidates: list[Candidate]


def candidates_of(variant: Variant) -> list[SplitCandidates]:
    """Return the candidates of each split of a variant."""
    found = []
    for result in variant.splits:
        counts = result.train_class_counts
        smallest = min(counts.values()) / max(sum(counts.values()), 1) if counts else 0.0
        candidates = [
            Candidate(
                *(result.cell.method, result.cell.variant, view, case.certainty),
                *(case.predicted_columns, case.true_columns, case.prediction.classes, smallest),
            )
            for view, case in variant.of_split(result)
            if has_halves(case)
        ]
        if candidates:
            found.append(SplitCandidates(variant.dataset, result.cell.split, halves(result), candidates))
    return found


def split_rows(report: Report) -> Iterator[Row]:
    """Yield the chosen thresholds of each split of each data set."""
    parts: dict[tuple[str, str], _Part] = {}
    for found in report.run.collected(candidates_of):
        for dataset, split, (half, rest), candidates in found:
            part = parts.setdefault((dataset, split), _Part((dataset, split), [], half, rest))
            part.candidates.extend(candidates)
    for _, of_dataset in groupby(parts.values(), key=lambda part: part.key[0]):
        splits = list(of_dataset)
        for part, paths in zip(splits, joint_paths(splits), strict=True):
            yield from part.splits(report.run.config.costs, paths)


def rows(report: Report) -> Iterator[Row]:
    """Certify the best threshold of all methods and views together.

    The thresholds of all views of all method variants of a data set are tested together on the calibration
    half of each test part. The guarantee therefore holds for the chosen method, view and threshold. (The
    thresholds of ``certified.csv`` are certified each by itself, and the best of them has no guarantee.) One
    row per scope and limit:

    ``all``: risk of the accepted rows. ``predicted class``: a threshold for each predicted class, for the
    risk of the accepted rows with this prediction; rows of classes without a certificate are not accepted.
    ``true class``: one threshold, for the risk of the accepted rows of every class. ``cost``: one threshold,
    for the expected cost per row; only with ``costs`` in the config and a price of abstaining, of which the
    limits are 75, 50 and 25 %.

    The chosen threshold is the certified one that accepts most calibration rows, for ``cost`` the one with
    the smallest mean cost. limit: largest risk or cost. candidates: number of views certified together, the
    smallest of a split. certified: number of splits with a certified threshold. method, params, view: the
    candidate chosen most often, and chosen: on how many splits. coverage: mean accepted share of the other
    half, 0 for splits without a certificate. observed: mean risk or cost of the other half over certified
    splits, of the accepted rows of all classes together in every scope. broken: number of certified splits
    where it is above the limit (half of a test part is a small sample, so this does not refute the
    certificate). needed: number of accepted calibration rows without an error that the first certificate of a
    path needs, of each class for scope ``true class``, with its prediction for ``predicted class``.
    guarantee: the guarantee in one sentence, for rows drawn independently of the distribution of the test
    part. Not for ``protocol: online``, where each row is predicted by another classifier. For a data set with
    ``groups`` there is no guarantee, because the rows of a group are not independent. Each row of the file
    has a separate guarantee: scope and limit must be chosen before the results are known.
    """
    splits: dict[tuple, list[JointSplit]] = {}
    for split in map(JointSplit._make, report.rows[SPLITS.path]):
        splits.setdefault((split.dataset, split.scope, split.limit), []).append(split)
    groups = group_columns(report.run)
    for key, found in splits.items():
        *numbers, guarantee = _over_splits(key, found)
        yield *numbers, no_guarantee(groups[key[0]]) if key[0] in groups else guarantee


def notes(report: Report) -> Iterator[str]:
    found = report.rows[TABLE.path]
    if found and report.run.config.costs and not any(row[1] == COST for row in found):
        yield (
            "no expected cost is certified in certified-jointly.csv: costs needs a price of abstaining above "
            "the smallest cost, and the cost of every prediction for the classes of a data set"
        )


class _Part(NamedTuple):
    """The candidates of one split, and the positions of the calibration half and of the other half."""

    key: tuple[str, str]
    candidates: list[Candidate]
    half: np.ndarray
    rest: np.ndarray

    def start(self, scope: str, limit: float, certified: Sequence[int]) -> tuple:
        """Return the columns before those of the chosen threshold."""
        return (*self.key, scope, limit, DELTA, len(self.candidates), sum(certified))

    def nothing(self, start: tuple, needed: int, rows: int, loss: float = 0.0) -> JointSplit:
        """Return the row of a split on which nothing is certified. rows: of the calibration half."""
        of_half = "", "", "", "", None, rows, 0, loss, None
        return JointSplit._make((*start, *of_half, needed, len(self.rest), 0, math.nan))

    def chosen(
        self,
        start: tuple,
        needed: int,
        best: tuple[Candidate, Path, int],
        code: int | None = None,
        costs: tuple[int, float, float] | None = None,
    ) -> JointSplit:
        """Return the row of a certified threshold: the candidate, its path, and the place in it.

        code: of the predicted class that the threshold is for. costs: number of the rows that test it, and
        the mean costs of these and of the other half.
        """
        one, path, place = best
        threshold = float(path.thresholds[place])
        taken = one.certainty[self.rest] >= threshold
        if code is not None:
            taken &= one.predicted[self.rest] == code
        wrong = float((taken & ~one.correct[self.rest]).sum())
        rows, loss, other = costs or (len(self.half), float(path.loss[place]), wrong)
        return JointSplit._make(
            (
                *(*start, one.method, one.params, one.view),
                *("" if code is None else one.classes[code].item(), threshold, rows),
                *(int(path.accepted[place]), loss, float(path.p_values[place]), needed),
                *(len(self.rest), int(taken.sum()), other),
            )
        )

    def splits(self, costs, paths: SplitPaths) -> Iterator[JointSplit]:
        """Yield the chosen thresholds for all scopes and limits."""
        for risk in RISKS:
            for scope in (ALL, TRUE):
                yield self._of_errors(scope, risk, paths[scope, risk])
            yield from self._by_predicted_class(risk)
        table = CostTable.of_config(costs, self.candidates[0].classes) if costs else None
        if table is not None:
            for share in COST_SHARES:
                if table.scaled(share * table.abstain) > 0.0:  # else no expected cost is below it
                    yield self._of_costs(table, share * table.abstain)

    def _of_errors(self, scope: str, risk: float, paths: Sequence[Path]) -> JointSplit:
        """Return the threshold of one path per candidate that accepts most rows."""
        certified = certify_paths(paths, DELTA)
        best = most_accepting(paths, certified)
        start = self.start(scope, risk, certified)
        needed = minimum_accepted(risk, DELTA / len(self.candidates))
        if best is None:
            return self.nothing(start, needed, len(self.half))
        return self.chosen(start, needed, (self.candidates[best[0]], paths[best[0]], best[1]))

    def _by_predicted_class(self, risk: float) -> Iterator[JointSplit]:
        """Yield the thresholds of the predicted classes of one candidate: the one that accepts most rows.

        Classes that are too rare for a certificate, by the predictions of the other half, have no path.
        """
        half, rest = self.half, self.rest
        expected = {}
        least = minimum_accepted(risk, DELTA)
        for number, one in enumerate(self.candidates if len(half) >= least else ()):
            share = np.bincount(one.predicted[rest], minlength=len(one.classes)) / max(len(rest), 1)
            for code in np.flatnonzero(share * len(half) >= least).tolist():
                expected[number, code] = int(share[code] * len(half))
        delta = DELTA / max(len(expected), 1)
        paths = []
        for (number, code), rows in expected.items():
            one = self.candidates[number]
            of_rest, of_half = rest[one.predicted[rest] == code], half[one.predicted[half] == code]
            grid = threshold_grid(one.certainty[of_rest], rows, risk, delta)
            paths.append(Path.of_errors(None, one.certainty[of_half], one.correct[of_half], grid, risk))
        certified = certify_paths(paths, DELTA)
        found = [
            (number, code, path, int(np.argmax(path.accepted[:count])))
            for (number, code), path, count in zip(expected, paths, certified, strict=True)
            if count
        ]
        accepted = np.zeros(len(self.candidates), dtype=np.int64)
        for number, _, path, place in found:
            accepted[number] += path.accepted[place]
        best = int(np.argmax(accepted))
        start, needed = self.start(PREDICTED, risk, certified), minimum_accepted(risk, delta)
        chosen = [one for one in found if one[0] == best]
        if not chosen:
            yield self.nothing(start, needed, len(half))
        for _, code, path, place in chosen:
            yield self.chosen(start, needed, (self.candidates[best], path, place), code)

    def _of_costs(self, table: CostTable, bound: float) -> JointSplit:
        """Return the threshold with the smallest mean cost that is certified for ``bound``.

        The first part of the calibration half orders the thresholds by their mean cost, and the others test
        them.
        """
        first, rest = int(_ORDERING * len(self.half)), self.rest
        ordering, testing = self.half[:first], self.half[first:]
        abstain, limit = table.scaled(table.abstain), float(table.scaled(bound))
        delta = DELTA / len(self.candidates)
        paths, rows_cost = [], []
        for one in self.candidates:
            cost = table.of_rows(one.true, one.predicted)
            scaled = table.scaled(cost)
            places = np.linspace(0, len(rest) - 1, _COST_THRESHOLDS).astype(int)
            grid = np.unique(np.sort(one.certainty[rest])[places])[::-1]
            taken = one.certainty[ordering][:, None] >= grid
            means = np.where(taken, scaled[ordering][:, None], abstain).sum(axis=0)
            grid = grid[np.argsort(means, kind="stable")]
            of_test = one.certainty[testing], scaled[testing]
            paths.append(Path.of_costs(None, *of_test, grid, abstain, limit, delta))
            rows_cost.append(cost)
        certified = certify_paths(paths, DELTA)
        best = least_loss(paths, certified)
        start = self.start(COST, bound, certified)
        if best is None:
            return self.nothing(start, 0, len(testing), math.nan)
        one, path, cost = self.candidates[best[0]], paths[best[0]], rows_cost[best[0]]
        means = [
            float(np.where(one.certainty[rows] >= path.thresholds[best[1]], cost[rows], table.abstain).mean())
            for rows in (testing, rest)
        ]
        return self.chosen(start, 0, (one, path, best[1]), costs=(len(testing), means[0], means[1]))


# ---- over the splits


def _over_splits(key: tuple, own: list[JointSplit]) -> tuple:
    """Return one row of ``certified-jointly.csv``."""
    _, scope, limit = key
    splits: dict[str, list[JointSplit]] = {}
    for one in own:
        splits.setdefault(one.split, []).append(one)
    coverage, observed, chosen = [], [], []
    for parts in splits.values():
        held = [one for one in parts if one.threshold is not None]
        accepted = sum(one.other_accepted for one in held)
        coverage.append(accepted / parts[0].other_rows if parts[0].other_rows else 0.0)
        if held:
            chosen.append((held[0].method, held[0].params, held[0].view))
            loss = sum(one.other_loss for one in held)
            observed.append(loss if scope == COST else loss / accepted if accepted else float("nan"))
    best = max(dict.fromkeys(chosen), key=chosen.count, default=("", "", ""))
    candidates = min(one.candidates for one in own)
    guarantee = GUARANTEES[scope].format(sure=1 - DELTA, candidates=candidates, limit=limit)
    return (
        *key, DELTA, candidates, len(splits), len(chosen), *best, chosen.count(best),
        mean_and_sd(coverage)[0], mean_and_sd(observed)[0], sum(value > limit for value in observed),
        max(one.needed for one in own), min(one.calibration_rows for one in own), guarantee,
    )  # fmt: skip


SPLITS = Table(
    "certified-jointly-splits.csv",
    "the chosen thresholds of each split",
    ["class" if name == "label" else name for name in JointSplit._fields],
    split_rows,
    needs="thresholds in the config",
    applies=has_thresholds,
    of_run=True,
    collects=lambda run: (candidates_of,),
)
TABLE = Table(
    "certified-jointly.csv",
    "thresholds certified together for all methods and views",
    "dataset scope limit delta candidates splits certified method params view chosen coverage observed "
    "broken needed calibration_rows guarantee",
    rows,
    needs="thresholds in the config",
    applies=has_thresholds,
    of_run=True,
    notes=notes,
)
