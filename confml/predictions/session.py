"""`Session`: the answers about the rows of one table, and all that is counted and tested of them."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from confml.data.text_table import TextTable
from confml.predictions.batch import Batch, Output, predict_tables
from confml.predictions.exchangeability import FurtherTests
from confml.predictions.model import Model
from confml.predictions.summary import Summary


class Session:
    """Answers of a model about new rows.

    drift: test of the new rows without labels, or None.

    notes: on the data of the fit, the model, and columns that are not used.
    """

    def __init__(self, model: Model, output: Output, drift: FurtherTests | None = None):
        self.model, self.output = model, output
        self.notes = [*model.facts.notes, *model.notes]
        self.summary = Summary(model, output.levels, drift)

    def answers(self, tables: Iterator[TextTable], say: Callable[[str], None]) -> Iterator[Batch]:
        """Iterate over the answers about chunks of new rows, after checking their columns. say: of notes."""
        first = next(tables)
        for note in self.model.coder.check_columns(first):
            self.notes.append(note)
            say(f"note: {note}")
        for batch in predict_tables(self.model, itertools.chain([first], tables), self.output):
            self.summary.add(batch)
            yield batch

    def facts(self) -> dict[str, Any]:
        """Return everything about the new rows together, as plain values."""
        return self.summary.facts(self.notes)
