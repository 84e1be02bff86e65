"""What steps took out of the training sets: ``dropped/<data set>/<method variant>/<split>.csv``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from confml.report.files import write_csv
from confml.report.regions import region_paths

if TYPE_CHECKING:
    from confml.report.results import RunResults


def write_dropped(results: RunResults, folder: Path) -> Iterator[Path]:
    """Write a file for every finished cell whose steps took something out; how much is in ``metrics.csv``.

    ``what,name``: ``row`` and its number, counted as in the region tables, or ``attribute`` and its name.
    """
    paths = region_paths(results)
    for result in results.finished():
        rows = [("row", str(row)) for row in result.dropped_rows.tolist()]
        rows += [("attribute", name) for name in result.dropped_attributes]
        if rows:
            path = folder / "dropped" / paths[result.cell.key]
            yield write_csv(path.with_name(f"{path.name}.csv"), ("what", "name"), rows)
