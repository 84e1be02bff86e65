"""Details of single methods: confusion matrix, coverage of classes, test examples and their regions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from confml.report.page.material import Material
from confml.report.page.view_numbers import Example, ViewData
from confml.report.sections.confusion import CONFUSION
from confml.report.sections.coverage import OF_CLASSES, OF_GROUPS
from confml.report.tables.page_table import Cell, PageTable, fixed

LABELS = 26  # classes of a confusion matrix
GROUPS = {
    "least": "Least trusted",
    "wrong": "Wrong predictions with the most confidence",
    "most": "Most trusted",
}


@dataclass(frozen=True)
class Panel:
    """The details of one view. examples: by group; pictures: data URIs by row number."""

    id: str
    label: str
    confusion: PageTable | None
    coverage: PageTable
    groups: PageTable
    examples: dict[str, list[Example]]
    split: str
    rows: dict[str, Any] | None


@dataclass(frozen=True)
class Details:
    """The panels of one data set, and a sentence on the views without one."""

    panels: list[Panel]
    pictures: dict[int, str]
    image: tuple[int, int] | None
    left_out: str


def details(material: Material, dataset: str, id: str, best: Sequence[str], limit: int) -> Details | None:
    """Return the details of at most ``limit`` views of a data set, the best ones first."""
    views = material.of_dataset(dataset)
    if not views:
        return None
    rank = {label: place for place, label in enumerate(best)}
    kept = sorted(views, key=lambda one: rank.get(one.label, len(rank)))[:limit]
    left_out = ""
    if len(views) > limit:
        left_out = f"{limit} of {len(views)} methods and views have details here, those with the smallest "
        left_out += "error or AUGRC; the others are in class-coverage.csv and in the folder regions."
    panels = [_panel(material, view, f"{id}.view-{place}") for place, view in enumerate(kept)]
    images = material.images.get(dataset)
    rows = [one.row for panel in panels for group in panel.examples.values() for one in group]
    pictures = {} if images is None else images.pictures(rows)
    return Details(panels, pictures, None if images is None else images.size, left_out)


def _panel(material: Material, view: ViewData, id: str) -> Panel:
    groups: dict[str, list[Example]] = {}
    for one in view.examples:
        groups.setdefault(GROUPS[one.group], []).append(one)
    return Panel(
        id,
        view.label,
        confusion(material, view, f"{id}.confusion"),
        class_coverage(material, view, f"{id}.coverage"),
        column_coverage(material, view, f"{id}.groups"),
        groups,
        view.split,
        view.rows,
    )


def confusion(material: Material, view: ViewData, id: str) -> PageTable | None:
    """Return the confusion matrix of a view over all splits; its largest errors if it has many classes."""
    counts = {(row["label"], row["prediction"]): row["count"] for row in material.rows_of(CONFUSION, view)}
    if not counts:
        return None
    labels = sorted({label for pair in counts for label in pair})
    total = sum(counts.values())
    if len(labels) > LABELS:
        table = PageTable(
            id,
            f"Most frequent errors of {view.label} on {view.dataset} ({total} predictions of all splits).",
            ["true label", "predicted label", "predictions"],
            heads=2,
        )
        errors = {pair: n for pair, n in counts.items() if pair[0] != pair[1]}
        for (true, label), n in sorted(errors.items(), key=lambda item: -item[1])[:40]:
            table.add(str(true), str(label), n)
        return table
    table = PageTable(
        id,
        f"Confusion matrix of {view.label} on {view.dataset} ({total} predictions of all splits): rows are "
        "true labels, columns predicted labels.",
        ["true label", *map(str, labels), "recall (%)"],
        sortable=False,
        kind="confusion",
    )
    columns = dict.fromkeys(labels, 0)
    for true in labels:
        of_row = [counts.get((true, label), 0) for label in labels]
        row_total = sum(of_row)
        cells: list[Any] = [str(true)]
        for label, n in zip(labels, of_row, strict=True):
            columns[label] += n
            share = n / row_total if row_total else 0.0
            right = "right" if label == true else ""
            cells.append(
                Cell(
                    str(n) if n else "\N{MIDDLE DOT}",
                    flag=right,
                    shade=sum(share > limit for limit in (0, 0.05, 0.2, 0.5)),
                )
            )
        recall = counts.get((true, true), 0) / row_total if row_total else math.nan
        table.add(*cells, recall)
    precision = [
        counts.get((label, label), 0) / columns[label] if columns[label] else math.nan for label in labels
    ]
    table.add("precision (%)", *(fixed(value, 1, 100) for value in precision), "")
    return table


def column_coverage(material: Material, view: ViewData, id: str) -> PageTable:
    """Return the coverage of the groups of the columns of ``coverage-by``."""
    rows = [row for row in material.rows_of(OF_GROUPS, view) if row["by"] not in ("class", "size")]
    table = PageTable(
        id,
        f"Coverage of the groups of columns by the regions of {view.label} on {view.dataset} (%), with 95 % "
        "intervals for all groups of a column together, and the 95 % band of valid p-values.",
        ["column", "group", "level", "test examples", "coverage", "interval", "band"],
        note="Below: under the 95 % band of the group; up to one valid group in 40 is under it by chance. No "
        "p-values are guaranteed to be valid in groups that a column defines.",
        heads=2,
        most=100,
        file=OF_GROUPS.path,
    )
    for row in rows:
        low, high = row["band_low"], row["band_high"]
        has_band = low is not None and not math.isnan(low)
        below = "below" if has_band and row["coverage"] < low - 1e-12 else ""
        interval = f"{fixed(row['low'], 2, 100)} to {fixed(row['high'], 2, 100)}"
        band = f"{fixed(low, 2, 100)} to {fixed(high, 2, 100)}" if has_band else ""
        share = Cell(row["coverage"], flag=below)
        table.add(row["by"], str(row["group"]), row["level"], row["rows"], share, interval, band)
    return table


def class_coverage(material: Material, view: ViewData, id: str) -> PageTable:
    """Return the coverage of each class at the levels of the config, for views with p-values."""
    rows = material.rows_of(OF_CLASSES, view)
    levels = list(dict.fromkeys(row["level"] for row in rows))
    by_class: dict[Any, dict[float, dict]] = {}
    for row in rows:
        by_class.setdefault(row["class"], {})[row["level"]] = dict(row)
    banded = not all(math.isnan(row["band_low"]) for row in rows)  # none of dependent or weighted rows
    about = (
        ", with the 95 % band of valid p-values in brackets, as if all different test rows were one test part"
    )
    below = "Below: under the 95 % band; at each level up to one valid class in 40 is under it by chance. "
    table = PageTable(
        id,
        f"Coverage of each class by the regions of {view.label} on {view.dataset} (%){about * banded}.",
        ["class", "test examples", *(f"level {level!r}" for level in map(float, levels))],
        note=f"{below * banded}Only label-conditional p-values are guaranteed to be valid for each class.",
        most=100,
        file=OF_CLASSES.path,
    )
    for label, found in by_class.items():
        cells = []
        for level in levels:
            row = found[level]
            text = fixed(row["coverage"], 1, 100)
            band = (row["band_low"], row["band_high"])
            flag = ""
            if not any(map(math.isnan, band)):
                text += f" (band {fixed(band[0], 1, 100)} to {fixed(band[1], 1, 100)})"
                flag = "below" if row["coverage"] < band[0] - 1e-12 else ""
            cells.append(Cell(text, flag=flag))
        table.add(str(label), found[levels[0]]["rows"], *cells)
    return table
