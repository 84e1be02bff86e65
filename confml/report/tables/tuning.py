"""``tuning.csv``: the grid points of inner selection with their scores."""

from collections.abc import Iterator

from confml.plugins.parameters import parameters_text
from confml.report.files import field
from confml.report.run.results import Variant
from confml.report.tables.table import Row, Table

COLUMNS = "dataset method params split select_by candidate chosen mean sd folds fold_scores"


def rows(variant: Variant) -> Iterator[Row]:
    """One row per grid point, with its inner scores, and whether it was chosen.

    mean, sd: of the scores of the inner folds; ``fold_scores`` lists these, separated by ``;``. Empty if the
    point failed on a fold.
    """
    for result in variant.splits:
        tuning = result.tuning or {"scores": ()}
        for point in tuning["scores"]:
            folds = point["folds"]
            yield (
                *(*variant.key, result.cell.split, tuning["select_by"], parameters_text(point["params"])),
                dict(point["params"]) == dict(tuning["chosen"]),
                *(point["mean"], point["sd"], len(folds), ";".join(map(field, folds))),
            )


TABLE = Table(
    "tuning.csv",
    "scores of inner cross-validation, and the chosen parameters",
    COLUMNS,
    rows,
    needs="a method with tune:",
)
