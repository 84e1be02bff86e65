"""``groups.csv``: errors and sizes of regions in the groups of ``by``."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from confml.data.text_table import counted, number_text
from confml.measures.conditional import GroupCoverage
from confml.measures.metric import LEVEL, LOWER, SHARE, Metric
from confml.plugins.by import BY_KEYS
from confml.report.numbers.groups import UNSEEN, RegionsByGroup, error_lines
from confml.report.report import Report
from confml.report.run.results import RunResults
from confml.report.shown_table import ShownTable
from confml.report.tables.table import Row, Table

COLUMNS = "dataset by group method label view level guaranteed calibration_rows rows error low high mean_size"
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


def has_groups(run: RunResults) -> bool:
    return any(cell.params.get(key) is not None for cell in run.cells for key in BY_KEYS)


def rows(report: Report) -> Iterator[Row]:
    """Error and mean size of the regions in each group of ``by``, for every method.

    ``guaranteed``: 1 if the method has the groups in its ``by``. Its error rate in each of them is then at
    most the level, on average over training sets and new rows. ``calibration_rows``: smallest number over the
    splits of calibration rows in the group. ``rows``: each test row counts once; of several splits that test
    it, the first one. ``low``, ``high``: Clopper-Pearson interval of the error at 95 %, for one group.
    ``mean_size``: mean number of labels of a region. Rows of a group without calibration rows have all labels
    in their regions.
    """
    levels = tuple(map(float, report.run.config.levels))
    for dataset, lines in error_lines(report.run, levels).items():
        for by, group, (method, label, view), *numbers in lines:
            yield dataset, by, group, method, label, view, *numbers


def notes(report: Report) -> Iterator[str]:
    for row in report.rows[TABLE.path]:
        if row[2] == UNSEEN and row[7] and row[6] == min(map(float, report.run.config.levels)):
            yield (
                f"{row[0]}, {row[4]}: {are_in(row[9])} a group of {row[1]} without calibration rows: all "
                "p-values there are 1"
            )


def shown(run: RunResults, folder: Path) -> Iterator[ShownTable]:
    """Yield the worst group of each method and division, at each level.

    Its interval is simultaneous for all groups of the division (Bonferroni), because the group is chosen.
    """
    worst: dict[tuple, dict[str, str]] = {}
    groups: Counter[tuple] = Counter()
    for row in TABLE.read(folder):
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
        frame = pd.DataFrame(rows, columns=headings)
        yield ShownTable("group of by with the highest error", frame, keys=6)


TABLE = Table(
    "groups.csv",
    "error with interval and size of the regions in each group of by, for every method",
    COLUMNS,
    rows,
    needs="a method with by",
    applies=has_groups,
    metrics={"error": ERROR},
    of_run=True,
    collects=lambda run: (RegionsByGroup(tuple(map(float, run.config.levels))),),
    notes=notes,
    shown=shown,
)
