"""`Session`: the answers about the rows of one table, and all that is counted and tested of them."""

import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from confml.data.text_table import TextTable
from confml.predictions.batch import Batch, Output, predict_tables
from confml.predictions.guarantee import Remedies
from confml.predictions.model import Model
from confml.predictions.summary import Summary

if TYPE_CHECKING:  # it takes long to import, and few sessions have it
    from confml.predictions.two_samples import Drift


class Session:
    """Answers of a model about new rows.

    batch_rows: size of the batches of labelled rows that are tested; None for
    no tests. drift: test of the new rows without labels, or None.

    notes: on the data of the fit, the model, and columns that are not used.
    """

    def __init__(
        self,
        model: Model,
        output: Output,
        remedies: Remedies | None = None,
        *,
        batch_rows: int | None = None,
        drift: "Drift | None" = None,
    ):
        self.model, self.output, self.drift = model, output, drift
        self.notes = [*model.facts.notes, *model.notes]
        self.summary = Summary(model, output.levels, remedies or Remedies())
        self.monitor = None
        if batch_rows is not None:
            from confml.predictions.monitoring import BatchMonitor

            self.monitor = BatchMonitor(model, batch_rows)
        self.summary.check.others += [test for test in (drift, self.monitor) if test is not None]

    def answers(self, tables: Iterator[TextTable], say: Callable[[str], None]) -> Iterator[Batch]:
        """Iterate over the answers about chunks of new rows, after checking their columns. say: of notes."""
        first = next(tables)
        for note in self.model.coder.check_columns(first):
            self.notes.append(note)
            say(f"note: {note}")
        for batch in predict_tables(self.model, itertools.chain([first], tables), self.output):
            for collector in (self.summary, self.monitor, self.drift):
                if collector is not None:
                    collector.add(batch)
            yield batch

    def facts(self) -> dict[str, Any]:
        """Return everything about the new rows together, as plain values."""
        return self.summary.facts(self.notes, self.monitor)
