"""Summary tables of every run: ``tables/results`` and ``tables/acceptance``."""

from __future__ import annotations

import json
from collections.abc import Iterator

from confml.report.answers.evidence import Evidence
from confml.report.files import safe_name
from confml.report.items import Document, Item, Table
from confml.report.sections.base import Section
from confml.report.summary_tables import summary_tables
from confml.report.table_formats import CSV_HEADER, csv_rows, document, latex, markdown


class SummaryTables(Section):
    """Tables of all methods as CSV, Markdown, LaTeX and JSON, with the best and marks of significance.

    ``tables/results``: error and regions at each level. ``tables/acceptance``: sure correct, unsure and sure
    incorrect at each threshold; they depend on each other, so no method is the best by one of them. The CSV
    and JSON files have one row per number: ``best`` is true for the lowest error of a data set, and for the
    smallest set size at a level among the methods whose coverage is not shown to be too low (empty regions
    count as one label). ``p_value`` is that of the comparison with the best, corrected by Holm over all
    pairs, and ``worse`` is true for a mean that is shown to be worse.
    """

    name = "summary-tables"
    place = 45
    files = {
        "tables/results.csv": "error and regions of all methods, best and significance; also md, tex, json",
        "tables/acceptance.csv": "accepted predictions at each threshold; also md, tex, json",
    }
    collectors = (Evidence,)

    def items(self) -> Iterator[Item]:
        for table in summary_tables(self.results):
            stem = f"tables/{table.name}"
            label = safe_name(f"{self.results.config.name}-{table.name}")
            yield Table(f"{stem}.csv", CSV_HEADER, dict.fromkeys(csv_rows(table)))
            yield Document(f"{stem}.md", markdown(table))
            yield Document(f"{stem}.tex", latex(table, label))
            text = json.dumps(document(table), indent=1, ensure_ascii=False, allow_nan=False)
            yield Document(f"{stem}.json", text + "\n")
