"""Inner selection: choose the point of a grid with the best mean score over the inner folds."""

from collections.abc import Mapping, Sequence
from typing import Any

from confml.errors import ConfmlError
from confml.measures.selection import best_point
from confml.runner.store import Store


def choose(
    store: Store, inner: Sequence[str], grid: Sequence[Mapping[str, Any]], select_by: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the selected point and the record of the selection (``CellResult.tuning``).

    The best mean score wins, in the direction that the metric ``select_by`` declares; ties go to the first
    point of the grid. A point that failed on a fold is excluded. Raises ConfmlError if all are.
    """
    records = []
    for key in inner:
        record = store.read("inner", key)
        if record is None:
            raise ConfmlError(f"the inner fold {key} is missing", hint="run again to compute it")
        records.append(record[0])
    folds = [[record["scores"][number] for record in records] for number in range(len(grid))]
    best, scores = best_point(grid, folds, select_by)
    if best is None:
        reasons = sorted({error for record in records for error in record["errors"]})
        raise ConfmlError(f"no point of the tune grid could be evaluated: {'; '.join(reasons[:3])}")
    seconds = sum(record["seconds"] for record in records)
    chosen = dict(grid[best])
    return chosen, {"chosen": chosen, "select_by": select_by, "scores": scores, "seconds": seconds}
