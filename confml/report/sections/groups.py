"""Errors and sizes of regions in the groups of ``by``: ``groups.csv``."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from confml.data.text_table import counted, number_text
from confml.measures.conditional import GroupCoverage
from confml.measures.metric import LEVEL, LOWER, SHARE, Metric
from confml.plugins.by import BY_KEYS
from confml.report.items import Item, Note, PrintedTable, TableKind
from confml.report.numbers.groups import UNSEEN, GroupErrors
from confml.report.run.results import RunResults
from confml.report.sections.base import Section
from confml.runner.results import CellResult

GROUPS = TableKind(
    "groups.csv",
    "dataset by group method label view level guaranteed calibration_rows rows error low high mean_size",
)
ERROR = Metric(
    "fraction of the regions without the label in one group",
    LOWER,
    "1/n_g #{i in group g: y_i not in G_i}",
    "Vovk, Gammerman and Shafer (2005), section 4.5, for the guarantee",
    unit=SHARE,
    per=LEVEL,
)


def are_in(rows: int) -> str:
    return f"{counted(rows, 'test row')} {'is' if rows == 1 else 'are'} in"


class Groups(Section):
    """``groups.csv``: error and mean size of the regions in each group of ``by``, for every method.

    ``guaranteed``: 1 if the method has the groups in its ``by``. Its error rate in each of them is then at
    most the level, on average over training sets and new rows. ``calibration_rows``: smallest number over the
    splits of calibration rows in the group. ``rows``: each test row counts once; of several splits that test
    it, the first one. ``low``, ``high``: Clopper-Pearson interval of the error at 95 %, for one group.
    ``mean_size``: mean number of labels of a region. Rows of a group without calibration rows have all labels
    in their regions.
    """

    name = "groups"
    place = 64
    needs = "a method with by"
    files = {
        "groups.csv": "error with interval and size of the regions in each group of by, for every method"
    }
    metrics = {GROUPS.path: {"error": ERROR}}

    def __init__(self, results: RunResults, folder: Path):
        super().__init__(results, folder)
        self._found = GroupErrors(tuple(map(float, results.config.levels)))
        self._dataset = ""
        self._rows: list[tuple] = []

    @classmethod
    def applies(cls, results: RunResults) -> bool:
        return any(cell.params.get(key) is not None for cell in results.cells for key in BY_KEYS)

    def add(self, result: CellResult) -> Iterator[Item]:
        self._dataset = result.cell.dataset
        self._found.add(result, self.results.label(result.cell))
        yield from ()

    def finish_dataset(self) -> None:
        for by, group, (method, label, view), *numbers in self._found.lines():
            self._rows.append((self._dataset, by, group, method, label, view, *numbers))
        self._found = GroupErrors(self._found.levels)

    def items(self) -> Iterator[Item]:
        if self._rows:
            yield GROUPS.of(self._rows)
        for row in self._rows:
            if row[2] == UNSEEN and row[7] and row[6] == min(map(float, self.results.config.levels)):
                yield Note(
                    f"{row[0]}, {row[4]}: {are_in(row[9])} a group of {row[1]} without calibration "
                    "rows: all p-values there are 1"
                )

    def printed(self) -> Iterator[PrintedTable]:
        """Yield the worst group of each method and division, at each level.

        Its interval is simultaneous for all groups of the division (Bonferroni), because the group is chosen.
        """
        worst: dict[tuple, dict[str, str]] = {}
        groups: Counter[tuple] = Counter()
        for row in self.written(GROUPS):
            key = row["dataset"], row["by"], row["label"], row["view"], number_text(float(row["level"]))
            if row["group"] == UNSEEN:
                continue
            groups[key] += 1
            if key not in worst or float(row["error"]) > float(worst[key]["error"]):
                worst[key] = row
        if worst:
            headings = [
                "data set",
                "by",
                "method",
                "view",
                "level",
                "group",
                "rows",
                "error (%)",
                "95 %, all groups",
                "size",
            ]
            rows = []
            for key, row in worst.items():
                error, size, n = (float(row[name] or "nan") for name in ("error", "mean_size", "rows"))
                found = GroupCoverage.of(int(n), round(error * n), groups[key])
                ends = f"{ERROR.text(found.low)} to {ERROR.text(found.high)}"
                rows.append((*key, row["group"], row["rows"], ERROR.text(error), ends, f"{size:.2f}"))
            yield PrintedTable("group of by with the highest error", headings, rows, right=6)
