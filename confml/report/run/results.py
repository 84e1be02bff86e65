"""`RunResults`: the input of a report."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar, cast

from confml.report.numbers.metric_rows import MetricRows, Metrics
from confml.report.numbers.summaries import SummaryRow, summarise
from confml.report.run.cells import RunCells
from confml.report.run.one_pass import Collector, ViewBlock, batches, view_blocks
from confml.runner.results import CellResult

CollectorClass = TypeVar("CollectorClass", bound=Collector)
Make = Callable[["RunResults"], CollectorClass]
"""Makes the collector of a run: its class, or another key with which it is found again."""


@dataclass(eq=False)
class RunResults(RunCells):
    """The cells of a run with the numbers of its collectors.

    status: called with a phrase on what a report does at the moment.
    """

    status: Callable[[str], None] = field(default_factory=lambda: lambda text: None, init=False, repr=False)
    _collected: dict[Make, Collector] = field(default_factory=dict, init=False, repr=False)

    def read(
        self,
        *kinds: Make,
        prepare: Callable[[Sequence[ViewBlock]], None] = lambda blocks: None,
    ) -> Iterator[CellResult]:
        """Yield finished cells as `finished` does, and fill collectors of these kinds with them.

        prepare: called with the blocks of some cells before the first of these is yielded.
        """
        kinds = tuple(kind for kind in dict.fromkeys(kinds) if kind not in self._collected)
        new = [kind(self) for kind in kinds]
        number = 0
        for batch in batches(self.finished()):
            number += len(batch)
            self.status(f"reading cell {number} of {len(self.results)}")
            blocks = view_blocks(batch, self.config.levels, self.config.thresholds)
            for collector in new:
                collector.prepare(blocks)
            prepare(blocks)
            del blocks
            for result in batch:
                for collector in new:
                    collector.add(result)
                yield result
                result.forget_cases()
        for kind, collector in zip(kinds, new, strict=True):
            collector.finish()
            self._collected[kind] = collector

    def collected(self, kind: Make[CollectorClass]) -> CollectorClass:
        """Return the collector of a kind; the cells are read if no pass has filled it."""
        if kind not in self._collected:
            for _ in self.read(kind):
                pass
        return cast(CollectorClass, self._collected[kind])

    @cached_property
    def metrics(self) -> MetricRows:
        """Every metric of every finished cell, in the order of ``metrics.csv``."""
        return self.collected(Metrics).rows

    @cached_property
    def summary(self) -> list[SummaryRow]:
        """`metrics` over the splits."""
        return summarise(self.metrics)
