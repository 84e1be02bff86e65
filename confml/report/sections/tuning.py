"""The choices of inner cross-validation: ``tuning.csv``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from confml.plugins.parameters import parameters_text
from confml.report.files import field
from confml.report.items import Item, Table
from confml.report.sections.base import Section

if TYPE_CHECKING:
    from confml.report.results import RunResults
    from confml.runner.results import CellResult


class Tuning(Section):
    """``tuning.csv``: one row per grid point, with its inner scores, and whether it was chosen.

    mean, sd: of the scores of the inner folds; ``fold_scores`` lists these, separated by ``;``. Empty if the
    point failed on a fold.
    """

    name = "tuning"
    place = 30
    needs = "a method with tune:"
    files = {"tuning.csv": "scores of inner cross-validation, and the chosen parameters"}

    def __init__(self, results: RunResults, folder: Path):
        super().__init__(results, folder)
        self._rows: list[tuple] = []

    def add(self, result: CellResult) -> Iterator[Item]:
        if result.tuning:
            cell, chosen = result.cell, result.tuning["chosen"]
            for point in result.tuning["scores"]:
                self._rows.append(
                    (
                        *(cell.dataset, cell.method, cell.variant, cell.split, result.tuning["select_by"]),
                        parameters_text(point["params"]),
                        dict(point["params"]) == dict(chosen),
                        *(point["mean"], point["sd"], len(point["folds"])),
                        ";".join(map(field, point["folds"])),
                    )
                )
        yield from ()

    def items(self) -> Iterator[Item]:
        header = ("dataset", "method", "params", "split", "select_by", "candidate", "chosen")
        yield Table("tuning.csv", (*header, "mean", "sd", "folds", "fold_scores"), self._rows)
