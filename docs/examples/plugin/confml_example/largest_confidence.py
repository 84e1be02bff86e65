"""Section of the report with the largest confidence of each cell."""

from typing import ClassVar

from confml.report.items import TableKind
from confml.report.sections.base import Section

LARGEST = TableKind("largest-confidence.csv", ("dataset", "view", "confidence"))


class LargestConfidence(Section):
    """Write the largest confidence of each cell to ``largest-confidence.csv``."""

    name: ClassVar = "largest-confidence"
    place: ClassVar = 125  # order in the report
    files: ClassVar = {"largest-confidence.csv": "largest confidence of the test examples of a cell"}

    def start(self):
        self._rows = []

    def add(self, result):
        for view, prediction in result.views.items():
            self._rows.append((result.cell.dataset, view, f"{prediction.confidence.max():g}"))

    def items(self):
        yield LARGEST.of(self._rows)
