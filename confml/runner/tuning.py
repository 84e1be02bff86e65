"""Inner selection: the point of a grid with the best mean score over the inner folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from confml.errors import ConfmlError
from confml.measures import known_metrics
from confml.measures.grid_choice import best_point, fold_score
from confml.measures.prediction import Prediction
from confml.runner.store import Store


def inner_score(prediction: Prediction, truth: np.ndarray, select_by: str) -> float:
    """What inner selection goes by: ``accuracy``, ``error`` or ``ari`` of the validation rows."""
    return fold_score(prediction, truth, select_by)


def is_whole_inner(store: Store, key: str) -> bool:
    """Whether the record of an inner fold is there with all that `choose` needs."""
    record = store.read("inner", key)
    if record is None:
        return False
    scores, errors, seconds = (record[0].get(name) for name in ("scores", "errors", "seconds"))
    return (
        isinstance(scores, list)
        and all(score is None or _is_number(score) for score in scores)
        and isinstance(errors, list)
        and _is_number(seconds)
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def choose(
    store: Store, inner: Sequence[str], grid: Sequence[Mapping[str, Any]], select_by: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The chosen point, and what is kept of the choice (``CellResult.tuning``).

    The best mean score wins, in the direction that the metric ``select_by`` declares; ties go to the first
    point of the grid. A point that failed on any fold is out. Raises ConfmlError where none is left.
    """
    records = []
    for key in inner:
        record = store.read("inner", key)
        if record is None:
            raise ConfmlError(f"the inner fold {key} is missing", hint="run again to compute it")
        records.append(record[0])
    folds = [[record["scores"][number] for record in records] for number in range(len(grid))]
    best, scores = best_point(grid, folds, known_metrics()[select_by].sign)
    if best is None:
        reasons = sorted({error for record in records for error in record["errors"]})
        raise ConfmlError(f"no point of the tune grid could be evaluated: {'; '.join(reasons[:3])}")
    seconds = sum(record["seconds"] for record in records)
    chosen = dict(grid[best])
    return chosen, {"chosen": chosen, "select_by": select_by, "scores": scores, "seconds": seconds}
