"""`Collector`: numbers of the finished cells of a run that several parts of its report use.

A report reads each stored cell once. Sections and collectors get it with `add` and keep counts and sums, so
that the memory of a report hardly depends on the number of cells. A part that needs numbers of all cells
names a collector, and all collectors that the sections name are filled in one pass.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from confml.report.blocks import ViewBlock
    from confml.report.run_cells import RunCells
    from confml.runner.results import CellResult


class Collector(ABC):
    """Numbers of all finished cells of a run; `RunResults.collected` returns the one of a class.

    `add` is called once with each finished cell, in the order of the CSV files: the splits of a method
    variant on a data set follow each other. `finish` is called after the last cell.
    """

    def __init__(self, results: RunCells):
        self.results = results

    def prepare(self, blocks: Sequence[ViewBlock]) -> None:
        """Compute numbers of cells together before `add` is called with each; small cells are in blocks."""
        return None

    @abstractmethod
    def add(self, result: CellResult) -> None:
        """Process one finished cell."""

    def finish(self) -> None:
        """Complete the numbers after the last cell."""
        return None
