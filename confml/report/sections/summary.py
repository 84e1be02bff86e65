"""Means over the splits: ``summary.csv`` and ``summary.json``."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from confml.report.items import Document, Item, PrintedTable, Table
from confml.report.result_tables import result_table, sureness_table
from confml.report.sections.base import Section
from confml.report.sections.notes import notes_of
from confml.report.summaries import DATA_METRICS

if TYPE_CHECKING:
    from confml.report.results import RunResults


class Summary(Section):
    """``summary.csv`` and ``summary.json``: mean, sd and number of splits of every metric."""

    name = "summary"
    place = 40
    files = {"summary.csv": "means over the splits"}
    metrics = {"summary.json": DATA_METRICS}

    def items(self) -> Iterator[Item]:
        header = ("dataset", "method", "params", "view", "metric", "level", "mean", "sd", "n")
        rows = [(row.dataset, row.method, *row[3:]) for row in self.results.summary]
        text = json.dumps(summary_document(self.results), indent=1, ensure_ascii=False, allow_nan=False)
        yield Table("summary.csv", header, rows)
        yield Document("summary.json", text + "\n")

    def printed(self) -> Iterator[PrintedTable]:
        headings, rows = result_table(self.results)
        if rows:
            over_splits = any(row.n > 1 for row in self.results.summary)
            title = "Results (%, mean ± sd over splits)" if over_splits else "Results (%)"
            yield PrintedTable(title, headings, rows, right=3, keys=3 + ("level" in headings))
        headings, rows = sureness_table(self.results)
        if rows:
            yield PrintedTable("Accepted and rejected predictions (%)", headings, rows, right=3, keys=4)


def summary_document(results: RunResults) -> dict[str, Any]:
    """Return the summary as plain data for JSON; numbers that are not finite are null."""
    return {
        "name": results.config.name,
        "cells": {
            "planned": len(results.cells),
            "done": sum(cell.key in results.results for cell in results.cells),
            "failed": len(results.failures),
        },
        "datasets": [
            {
                "name": info.name,
                "rows": info.rows,
                "attributes": info.attributes,
                "classes": info.classes,
                "smallest_class": info.smallest_class,
                "largest_class": info.largest_class,
                "train_rows": info.train_rows,
                "test_rows": info.test_rows,
                "checksum": info.checksum,
            }
            for _, info in sorted(results.datasets.items())
        ],
        "notes": notes_of(results),
        "summary": [
            {
                "dataset": row.dataset,
                "method": row.method,
                "params": dict(row.params),
                "view": row.view,
                "metric": row.metric,
                "level": row.level,
                "mean": _finite(row.mean),
                "sd": _finite(row.sd),
                "n": row.n,
            }
            for row in results.summary
        ],
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
