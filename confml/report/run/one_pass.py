"""One pass over stored cells: `ViewBlock`, cells computed together, and `Collector`, which gets each cell.

A report reads each stored cell once. Sections and collectors get it with `add` and keep counts and sums, so
that the memory of a report hardly depends on the number of cells."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from confml.measures import Case
from confml.measures.block import Block, blocks_of
from confml.report.run.cells import RunCells
from confml.runner.results import CellResult

TableColumns = tuple[list[str], list]
"""Header, and columns of finished CSV fields."""
MOST_ROWS = 20_000
"""Largest number of rows of a table that are in memory as text."""
MOST_CELLS, MOST_VALUES = 200, 1 << 18
"""Largest number of cells, and of scores of all their views, that are read before the first is processed."""


class ViewBlock(NamedTuple):
    """A block of cases, and the cells of its cases in the same order."""

    view: str
    results: list[CellResult]
    block: Block

    def keep_table(self, key: str, table: Callable[[Case, np.ndarray], TableColumns]) -> None:
        """Give each case an iterable of parts of its table, under a key.

        table: of a case and the numbers (n,) of its rows. Several cases are computed together. Parts of a
        case alone are computed when they are written, because the table may be large.
        """
        rows, whole = np.concatenate([result.rows for result in self.results]), self.block.whole
        if len(self.block) == 1:
            places = (slice(start, start + MOST_ROWS) for start in range(0, max(len(rows), 1), MOST_ROWS))
            self.block.cases[0].kept[key] = (table(whole.take(place), rows[place]) for place in places)
            return
        header, columns = table(whole, rows)
        lines = list(map(",".join, zip(*columns, strict=True)))
        for case, own in zip(self.block.cases, self.block.parts(lines), strict=True):
            case.kept[key] = [(header, [own])]  # its lines are one column

    def pairs(self) -> Iterator[tuple[CellResult, Case]]:
        """Yield each cell and its case."""
        yield from zip(self.results, self.block.cases, strict=True)


def batches(results: Iterable[CellResult]) -> Iterator[list[CellResult]]:
    """Yield consecutive cells of one variant on one data set in lists; large cells are alone."""
    batch: list[CellResult] = []
    last, values = None, 0
    for result in results:
        cell = result.cell
        here = cell.dataset, cell.method, cell.variant
        own = sum(view.scores.size for view in result.views.values())
        if batch and (here != last or values + own > MOST_VALUES or len(batch) == MOST_CELLS):
            yield batch
            batch, values = [], 0
        batch.append(result)
        last, values = here, values + own
    if batch:
        yield batch


def view_blocks(
    results: Sequence[CellResult], levels: Sequence[float], thresholds: Sequence[float]
) -> list[ViewBlock]:
    """Return the blocks of the cells, after giving their cases the arrays of the blocks."""
    cases: dict[str, list[Case]] = {}
    owners: dict[int, CellResult] = {}
    for result in results:
        for view, case in result.cases.items():
            cases.setdefault(view, []).append(case)
            owners[id(case)] = result
    found = []
    for view, own in cases.items():
        for block in blocks_of(own, levels, thresholds):
            block.fill()
            found.append(ViewBlock(view, [owners[id(case)] for case in block.cases], block))
    return found


class Collector(ABC):
    """Numbers of all finished cells of a run; `RunResults.collected` returns the one of a class.

    `add` is called once with each finished cell, in the order of the CSV files: the splits of a method
    variant on a data set follow each other. `finish` is called after the last cell.
    """

    def __init__(self, results: RunCells):
        self.results = results

    def prepare(self, blocks: Sequence[ViewBlock]) -> None:
        """Compute numbers of cells together before `add` is called with each; every case is in a block."""
        return None

    @abstractmethod
    def add(self, result: CellResult) -> None:
        """Process one finished cell."""

    def finish(self) -> None:
        """Complete the numbers after the last cell."""
        return None
