"""Predictions of new rows as the lines of a CSV file and of a JSON document."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from confml._json import to_json
from confml.predictions.batch import Batch
from confml.report.files import field

JSON_START = '{"answers": ['


def csv_lines(batches: Iterable[Batch], digits: int) -> Iterator[bytes]:
    """Iterate over the CSV file of predictions: a header and one line per new row.

    digits: significant digits of numbers (`with_digits`).
    """
    for number, batch in enumerate(batches):
        header, columns = batch.csv(digits)
        if number == 0:
            yield f"{','.join(map(field, header))}\n".encode()
        for row in zip(*columns, strict=True):
            yield f"{','.join(row)}\n".encode()


def json_lines(batches: Iterable[Batch], facts: Callable[[], Mapping[str, Any]]) -> Iterator[bytes]:
    """Iterate over one document: ``answers``, an object per new row, and the facts of all rows.

    facts: returns them after the last batch.
    """
    from confml.predictions.answers import json_rows

    yield JSON_START.encode()
    separator = "\n"
    for batch in batches:
        for row in json_rows(batch.frame(), batch.prediction.classes.tolist()):
            yield f"{separator}{row}".encode()
            separator = ",\n"
    yield f"],\n{to_json(facts(), indent=1).removeprefix('{').lstrip()}\n".encode()
