"""``groups.csv``: errors and sizes of regions in the groups of ``by``."""

import functools
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
import pandas as pd

from confml.data.text_table import counted
from confml.measures import Case
from confml.measures.distributions import clopper_pearson
from confml.measures.metric import LEVEL, LOWER, SHARE, Metric
from confml.methods.divisions import DIVISIONS, GROUP, UNKNOWN
from confml.plugins.by import BY_KEYS
from confml.report.report import Report
from confml.report.run.results import RunResults, Variant
from confml.report.tables.table import Row, Table
from confml.runner.results import CellResult

COLUMNS = "dataset by group method label view level guaranteed calibration_rows rows error low high mean_size"
ERROR = Metric(
    "fraction of the regions without the label in one group",
    LOWER,
    "1/n_g #{i in group g: y_i not in G_i}",
    "Vovk, Gammerman and Shafer (2005), section 4.5, for the guarantee",
    unit=SHARE,
    per=LEVEL,
)
UNSEEN = "no calibration row"
NO_GROUPS = pd.DataFrame(columns=["by", "split", "row", "group"])
NO_CALIBRATION = pd.DataFrame(columns=["by", "group", "rows"])


def levels_of(run: RunResults) -> list[float]:
    return list(map(float, run.config.levels))


def are_in(rows: int) -> str:
    return f"{counted(rows, 'test row')} {'is' if rows == 1 else 'are'} in"


def has_groups(run: RunResults) -> bool:
    return any(cell.params.get(key) is not None for cell in run.cells for key in BY_KEYS)


class Regions(NamedTuple):
    """Regions of one view of a method on a data set, as frames.

    key: data set, method, label and view. tests: split and row of each test example, and for each level
    whether its region misses the label, and its size. groups: by, split, row and group for each division of
    ``by``. calibration: by, group and number of calibration rows.
    """

    key: tuple[str, str, str, str]
    tests: pd.DataFrame
    groups: pd.DataFrame
    calibration: pd.DataFrame


def regions_of(variant: Variant) -> list[Regions]:
    """Return the regions of each view that has some."""
    views = []
    for view, splits in variant.views.items():
        tests, groups, calibration = [], [NO_GROUPS], [NO_CALIBRATION]
        for result, case in splits:
            if case.prediction.has_regions:
                key = {"split": result.cell.split, "row": result.rows}
                regions = {level: case.regions(level) for level in levels_of(variant.run)}
                columns = {("missed", level): ~region.covered for level, region in regions.items()}
                columns |= {("size", level): region.sizes for level, region in regions.items()}
                tests.append(pd.DataFrame(key | columns))
                for by, names, counts in _divisions(result, case):
                    groups.append(pd.DataFrame({"by": by, **key, "group": names}))
                    calibration.append(pd.DataFrame({"by": by, **counts}))
        if tests:
            view_key = (variant.dataset, splits[0].result.cell.method, variant.label, view)
            views.append(Regions(view_key, *(pd.concat(frames) for frames in (tests, groups, calibration))))
    return views


def _divisions(result: CellResult, case: Case) -> Iterator[tuple[str, np.ndarray, dict[str, list]]]:
    """Yield for each division of ``by`` its name, the group (n,) of each row, and the rows calibrated on."""
    if GROUP not in case.prediction.extra:
        return
    for division, details in enumerate(result.views.fit_details.other[DIVISIONS]):
        codes, columns = case.prediction.extra[GROUP][:, division], case.true_columns
        if details["label"]:
            unknown = (codes == UNKNOWN) | (columns < 0)
            codes = np.where(unknown, UNKNOWN, codes * len(case.prediction.classes) + columns)
        names = np.array([*details["groups"], UNSEEN])[codes]
        yield details["name"], names, {"group": details["groups"], "rows": details["rows"]}


@functools.lru_cache(maxsize=1)  # the table and the figures of all data sets
def errors_of_groups(run: RunResults) -> list[Row]:
    """Return the rows of ``groups.csv``."""
    rows: list[Row] = []
    views = [view for of_variant in run.collected(regions_of) for view in of_variant]
    for _, of_dataset in groupby(views, key=lambda view: view.key[0]):
        rows += _of_dataset(list(of_dataset), levels_of(run))
    return rows


def _of_dataset(views: Sequence[Regions], levels: Sequence[float]) -> Iterator[Row]:
    every = pd.concat([view.groups for view in views])  # those of the first view count for others
    calibration = pd.concat([view.calibration for view in views]).groupby(["by", "group"])["rows"].min()
    for by in every["by"].unique():
        for view in views:
            of_view = view.groups[view.groups["by"] == by]
            named = pd.concat([of_view, every[every["by"] == by]]).drop_duplicates(["split", "row"])
            tests = view.tests[view.tests["split"].isin(named["split"])]
            # Of several splits that test a row, the first one counts.
            tests = tests.merge(named, how="left", on=["split", "row"]).drop_duplicates("row")
            names = tests["group"].fillna(UNSEEN)
            for group in sorted(names.unique(), key=lambda name: (name == UNSEEN, name)):
                mine = tests[names == group]
                n, rows = len(mine), int(calibration.get((by, group), 0))
                for level in levels:
                    wrong = int(mine["missed", level].sum())
                    key = view.key[0], by, group, *view.key[1:], level, int(len(of_view) > 0)
                    size = float(mine["size", level].mean())
                    yield *key, rows, n, wrong / n, *clopper_pearson(wrong, n), size


def rows(report: Report) -> Iterator[Row]:
    """Error and mean size of the regions in each group of ``by``, for every method.

    ``guaranteed``: 1 if the method has the groups in its ``by``. Its error rate in each of them is then at
    most the level, on average over training sets and new rows. ``calibration_rows``: smallest number over the
    splits of calibration rows in the group. ``rows``: each test row counts once; of several splits that test
    it, the first one. ``low``, ``high``: Clopper-Pearson interval of the error at 95 %, for one group.
    ``mean_size``: mean number of labels of a region. Rows of a group without calibration rows have all labels
    in their regions.
    """
    yield from errors_of_groups(report.run)


def notes(report: Report) -> Iterator[str]:
    for row in report.rows[TABLE.path]:
        if row[2] == UNSEEN and row[7] and row[6] == min(levels_of(report.run)):
            yield (
                f"{row[0]}, {row[4]}: {are_in(row[9])} a group of {row[1]} without calibration rows: all "
                "p-values there are 1"
            )


TABLE = Table(
    "groups.csv",
    "error with interval and size of the regions in each group of by, for every method",
    COLUMNS,
    rows,
    needs="a method with by",
    applies=has_groups,
    metrics={"error": ERROR},
    of_run=True,
    collects=lambda run: (regions_of,),
    notes=notes,
)
