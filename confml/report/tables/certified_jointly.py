"""Thresholds certified together over all methods and views of a data set: ``certified-jointly.csv``.

The halves of each test part are those of ``certified.csv``. The thresholds of each path and their order are
computed without the labels of the half that certifies (`confml.measures.certified_paths`).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from confml.measures.certified import minimum_accepted, threshold_grids
from confml.measures.certified_paths import Path, certify_paths, most_accepting
from confml.methods import BASELINE
from confml.report.numbers.summaries import mean_and_sd
from confml.report.report import Report
from confml.report.tables.certified import (
    DELTA,
    RISKS,
    candidates_of,
    candidates_of_splits,
    group_columns,
    halves,
    has_thresholds,
)
from confml.report.tables.table import Row, Table

ALL = "all"
"""Scope of the guarantee: the accepted rows of all classes together."""
GUARANTEE = (
    f"With probability at least {1 - DELTA:g} over calibration halves, none of the thresholds certified for"
    " the {candidates} views of this split accepts new rows with a risk above {limit:g}, so the chosen"
    " one does not either."
)
NO_GUARANTEE = "None: the rows of a group are not independent (groups: {column})."


def split_rows(report: Report) -> Iterator[Row]:
    """Choose the certified threshold of each split that accepts most rows, among all views but the baseline.

    limit: largest risk of the accepted rows. candidates: number of views that are certified together.
    certified_points: number of certified thresholds of all paths. threshold: None if nothing is certified.
    accepted, loss, p_value: accepted rows of the calibration half, errors among these, and the p-value.
    other_rows, other_accepted, other_loss: the same of the other half.
    """
    for (dataset, split), candidates in candidates_of_splits(report.run).items():
        candidates = [candidate for candidate in candidates if candidate.method != BASELINE]
        if not candidates:
            continue
        half, rest = halves(dataset, split, len(candidates[0].rows))
        certainty = np.stack([candidate.certainty for candidate in candidates])
        correct = np.stack([candidate.correct for candidate in candidates])
        delta = DELTA / len(candidates)
        for risk in RISKS:
            grids = threshold_grids(certainty[:, rest], len(half), risk, delta)
            paths = Path.of_parts(certainty[:, half], correct[:, half], grids, risk)
            certified = certify_paths(paths, DELTA)
            best = most_accepting(paths, certified)
            key = dataset, split, ALL, risk, DELTA, len(candidates), sum(certified)
            needed = minimum_accepted(risk, delta)
            if best is None:
                of_half = None, len(half), 0, 0.0, None
                yield *key, "", "", "", *of_half, needed, len(rest), 0, float("nan")
                continue
            number, place = best
            chosen, path = candidates[number], paths[number]
            accepted = certainty[number, rest] >= path.thresholds[place]
            errors = float(np.count_nonzero(accepted & ~correct[number, rest]))
            point = (column[place].item() for column in (path.accepted, path.errors, path.p_values))
            yield (
                *(*key, chosen.method, chosen.params, chosen.view, path.thresholds[place].item(), len(half)),
                *(*point, needed, len(rest), int(accepted.sum()), errors),
            )


def rows(report: Report) -> Iterator[Row]:
    """Certify the best threshold of all methods and views together.

    The thresholds of all views of all method variants of a data set are tested together on the calibration
    half of each test part. The guarantee therefore holds for the chosen method, view and threshold. (The
    thresholds of ``certified.csv`` are certified each by itself, and the best of them has no guarantee.) One
    row per limit on the risk of the accepted rows (scope ``all``: of all classes together).

    The chosen threshold is the certified one that accepts most calibration rows. candidates: number of views
    certified together, the smallest of a split. certified: number of splits with a certified threshold.
    method, params, view: the candidate chosen most often, and chosen: on how many splits. coverage: mean
    accepted share of the other half, 0 for splits without a certificate. observed: mean risk of the accepted
    rows of the other half over certified splits. broken: number of certified splits where it is above the
    limit (half of a test part is a small sample, so this does not refute the certificate). needed: number of
    accepted calibration rows without an error that the first certificate of a path needs. guarantee: the
    guarantee in one sentence, for rows drawn independently of the distribution of the test part. Not for
    ``protocol: online``, where each row is predicted by another classifier. For a data set with ``groups``
    there is no guarantee, because the rows of a group are not independent. Each row of the file has a
    separate guarantee: the limit must be chosen before the results are known.
    """
    limits: dict[tuple, list] = {}
    for split in report.dicts(SPLITS.path):
        limits.setdefault((split["dataset"], split["scope"], split["limit"]), []).append(split)
    columns = group_columns(report.run)
    for (dataset, scope, limit), splits in limits.items():
        certified = [split for split in splits if split["threshold"] is not None]
        chosen = [(split["method"], split["params"], split["view"]) for split in certified]
        best: tuple[Any, ...] = max(dict.fromkeys(chosen), key=chosen.count, default=("", "", ""))
        observed = [
            split["other_loss"] / split["other_accepted"] if split["other_accepted"] else float("nan")
            for split in certified
        ]
        candidates = min(split["candidates"] for split in splits)
        guarantee = GUARANTEE.format(candidates=candidates, limit=limit)
        yield (
            *(dataset, scope, limit, DELTA, candidates, len(splits), len(certified), *best),
            chosen.count(best),
            mean_and_sd([split["other_accepted"] / split["other_rows"] for split in splits])[0],
            mean_and_sd(observed)[0],
            sum(risk > limit for risk in observed),
            max(split["needed"] for split in splits),
            min(split["calibration_rows"] for split in splits),
            NO_GUARANTEE.format(column=columns[dataset]) if dataset in columns else guarantee,
        )


SPLITS = Table(
    "certified-jointly-splits.csv",
    "the chosen threshold of each split",
    "dataset split scope limit delta candidates certified_points method params view threshold "
    "calibration_rows accepted loss p_value needed other_rows other_accepted other_loss",
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
)
