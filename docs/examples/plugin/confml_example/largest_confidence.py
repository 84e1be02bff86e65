"""Section of the report with the largest confidence of each cell."""

from typing import ClassVar

from confml.report.items import Table
from confml.report.sections.base import Section


class LargestConfidence(Section):
    """Write the largest confidence of each cell to ``largest-confidence.csv``."""

    name: ClassVar = "largest-confidence"
    place: ClassVar = 125  # order in the report
    files: ClassVar = {"largest-confidence.csv": "largest confidence of the test examples of a cell"}

    def __init__(self, results, folder):
        super().__init__(results, folder)
        self._rows = []

    def add(self, result):
        for view, prediction in result.views.items():
            self._rows.append((result.cell.dataset, view, f"{prediction.confidence.max():g}"))
        return iter(())

    def items(self):
        yield Table("largest-confidence.csv", ("dataset", "view", "confidence"), self._rows)
