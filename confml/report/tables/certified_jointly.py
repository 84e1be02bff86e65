"""Thresholds certified together over all methods and views of a data set: ``certified-jointly.csv``.

The halves of each test part are those of ``certified.csv``. The thresholds of each path and their order are
computed without the labels of the half that certifies (`confml.measures.certified_paths`).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from confml.measures.certified import minimum_accepted, threshold_grid
from confml.measures.certified_paths import Path, certify_paths, most_accepting
from confml.methods import BASELINE
from confml.report.numbers.summaries import mean_and_sd
from confml.report.report import Report
from confml.report.run.results import Variant
from confml.report.tables.certified import (
    DELTA,
    accepted_shares,
    group_columns,
    halves,
    has_halves,
    has_thresholds,
)
from confml.report.tables.table import Row, Table

ALL = "all"
"""Scope of the guarantee: the accepted rows of all classes together."""
LIMITS = (0.2, 0.1, 0.05, 0.02, 0.01)
"""Limits on the risk, from loose to strict."""
GUARANTEE = (
    f"With probability at least {1 - DELTA:g} over calibration halves, no threshold that is certified for a"
    " limit and one of the {candidates} views of a split accepts new rows with a risk above the limit, so the"
    " smallest certified limit holds for the chosen threshold."
)
NO_GUARANTEE = "None: the rows of a group are not independent (groups: {column})."


class Candidate(NamedTuple):
    """A view on one split whose thresholds can be certified.

    view: method, packed parameters and name of the view. certainty: (n,) values by which predictions are
    ordered. correct: (n,) bool.
    """

    dataset: str
    split: str
    view: tuple[str, str, str]
    certainty: np.ndarray
    correct: np.ndarray


def candidates_of(variant: Variant) -> list[Candidate]:
    """Return the candidates of a variant on all splits; none of the baseline."""
    dataset, method, params = variant.key
    return [
        Candidate(dataset, result.cell.split, (method, params, view), case.certainty, case.correct)
        for view, splits in variant.views.items()
        for result, case in splits
        if has_halves(case) and method != BASELINE
    ]


class Chosen(NamedTuple):
    """The certified threshold of a split that accepts most rows of the calibration half; None without one.

    view: of the threshold. coverage, risk: share and error rate of the accepted rows of the other half.
    """

    threshold: float | None
    view: tuple[str, str, str]
    coverage: float
    risk: float


NONE = Chosen(None, ("", "", ""), 0.0, float("nan"))


def limits_of(rows: int, candidates: int) -> tuple[float, ...]:
    """Return the limits that are certified together: those that the rows of a calibration half may certify.

    Each has an equal part of the probability of an error, which therefore does not depend on labels.
    """
    counts = [
        count
        for count in range(1, len(LIMITS) + 1)
        if minimum_accepted(LIMITS[count - 1], DELTA / (candidates * count)) <= rows
    ]
    return LIMITS[: max(counts, default=1)]


def chosen_threshold(candidates: Sequence[Candidate], risk: float, delta: float = DELTA) -> Chosen:
    """Certify the thresholds of the candidates of a split together, and choose one."""
    half, rest = halves(candidates[0].dataset, candidates[0].split, len(candidates[0].correct))
    paths = []
    for candidate in candidates:
        grid = threshold_grid(candidate.certainty[rest], len(half), risk, delta / len(candidates))
        paths.append(Path.of_errors(candidate.certainty[half], candidate.correct[half], grid, risk))
    best = most_accepting(paths, certify_paths(paths, delta))
    if best is None:
        return NONE
    number, index = best
    threshold, chosen = paths[number].thresholds[index].item(), candidates[number]
    shares = accepted_shares(chosen.certainty[rest], chosen.correct[rest], threshold)
    return Chosen(threshold, chosen.view, *shares)


def rows(report: Report) -> Iterator[Row]:
    """Certify the best threshold of all methods and views together.

    The thresholds of all views of all method variants of a data set are tested together on the calibration
    half of each test part. The guarantee therefore holds for the chosen method, view and threshold. Each
    threshold of ``certified.csv`` is certified by itself, so the best of them has no guarantee.

    The file has one row per limit on the risk of the accepted rows (scope ``all``: of all classes together).
    Only limits that the calibration rows of every split may certify are tested. They are tested together
    (Bonferroni), so the smallest certified limit may be chosen when the results are known.

    The chosen threshold is the certified one that accepts most calibration rows. candidates: number of views
    certified together, the smallest of a split. certified: number of splits with a certified threshold.
    method, params, view: the candidate chosen most often, and chosen: on how many splits. coverage: mean
    accepted share of the other half, 0 for splits without a certificate. observed: mean risk of the accepted
    rows of the other half over certified splits. broken: number of certified splits where it is above the
    limit (half of a test part is a small sample, so this does not refute the certificate). needed: number of
    accepted calibration rows without an error that the first certificate of a path needs. guarantee: the
    guarantee in one sentence, for rows drawn independently of the distribution of the test part. Not for
    ``protocol: online``, where each row is predicted by another classifier. For a data set with ``groups``
    there is no guarantee, because the rows of a group are not independent.
    """
    splits: dict[str, dict[str, list[Candidate]]] = {}
    for candidate in (candidate for options in report.run.collected(candidates_of) for candidate in options):
        splits.setdefault(candidate.dataset, {}).setdefault(candidate.split, []).append(candidate)
    columns = group_columns(report.run)
    for dataset, by_split in splits.items():
        count = min(map(len, by_split.values()))
        rows = min(-(-len(candidates[0].correct) // 2) for candidates in by_split.values())
        limits = limits_of(rows, max(map(len, by_split.values())))
        for limit in LIMITS:
            # The limits that the rows can certify spend the probability of an error; needed of the others is
            # that of a test of all limits.
            delta = DELTA / len(limits if limit in limits else LIMITS)
            chosen = [
                chosen_threshold(candidates, limit, delta) if limit in limits else NONE
                for candidates in by_split.values()
            ]
            certified = [choice for choice in chosen if choice.threshold is not None]
            views = [choice.view for choice in certified]
            best = max(dict.fromkeys(views), key=views.count, default=("", "", ""))
            guarantee = GUARANTEE.format(candidates=count)
            needed = max(minimum_accepted(limit, delta / len(candidates)) for candidates in by_split.values())
            yield (
                *(dataset, ALL, limit, DELTA, count, len(chosen), len(certified), *best, views.count(best)),
                mean_and_sd([choice.coverage for choice in chosen])[0],
                mean_and_sd([choice.risk for choice in certified])[0],
                sum(choice.risk > limit for choice in certified),
                *(needed, rows),
                NO_GUARANTEE.format(column=columns[dataset]) if dataset in columns else guarantee,
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
    collects=lambda run: (candidates_of,),
)
