"""`CsvWriter` and `JsonWriter`: predictions of new rows, written chunk by chunk."""

from collections.abc import Mapping
from typing import Any, BinaryIO

from confml._json import to_json
from confml.predictions.batch import Batch
from confml.predictions.rounding import ALL_DIGITS
from confml.report.files import field

JSON_START = '{"answers": ['


class CsvWriter:
    """A header and one line per new row. digits: significant digits of numbers (`with_digits`)."""

    def __init__(self, file: BinaryIO, digits: int = ALL_DIGITS):
        self._file, self._begun, self._digits = file, False, digits

    def add(self, batch: Batch) -> None:
        """Write the rows of a chunk."""
        header, columns = batch.csv(self._digits)
        if not self._begun:
            self._file.write(f"{','.join(map(field, header))}\n".encode())
            self._begun = True
        lines = "\n".join(map(",".join, zip(*columns, strict=True)))
        self._file.write(f"{lines}\n".encode() if lines else b"")

    def end(self, facts: Mapping[str, Any]) -> None:
        """Write nothing: the facts are messages."""


class JsonWriter:
    """One document: ``answers``, an object per new row, one per line, and the facts of the whole batch."""

    def __init__(self, file: BinaryIO):
        self._file, self._rows = file, 0
        file.write(JSON_START.encode())

    def add(self, batch: Batch) -> None:
        """Write the rows of a chunk."""
        from confml.predictions.answers import json_rows

        for row in json_rows(batch.frame(), batch.prediction.classes.tolist()):
            self._file.write((",\n" if self._rows else "\n").encode() + row.encode())
            self._rows += 1

    def end(self, facts: Mapping[str, Any]) -> None:
        """Write the guarantee, the warnings and the tests."""
        rest = to_json(facts, indent=1)
        self._file.write(f"],\n{rest.removeprefix('{').lstrip()}\n".encode())
